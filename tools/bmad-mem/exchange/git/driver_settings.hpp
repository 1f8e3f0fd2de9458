// driver_settings.hpp - what stands in a clone's own configuration, so that git calls us.
//
// git takes no program from a repository: each clone has to be told. A section that has a name and
// no driver makes every merge end in a fatal error, so the driver is written first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

struct GitSetting {
  std::string key;
  std::string value;
};

/// The sections that are ours, and nobody else's.
inline constexpr std::string_view kGitSections[] = {"merge.bmadmem", "diff.bmadmem"};

/// The settings, in the order in which they are to be written. `program` is our path, or our name
/// where the PATH leads to us. Both commands do without us when we are gone: git then merges and
/// shows text, and says why.
std::vector<GitSetting> driver_settings(std::string_view program);

/// `text` as one word of sh.
std::string shell_quoted(std::string_view text);

}  // namespace bmad_mem::cli
