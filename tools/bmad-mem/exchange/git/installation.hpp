// installation.hpp - what `git install` and `git uninstall` do to a repository, as a plan first.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/result.hpp"
#include "exchange/git/driver_settings.hpp"

namespace bmad_mem::cli {

/// What stands in the way of the wish, or is as it should be already, is no step.
struct GitPlan {
  std::string repository;       ///< Its top folder.
  std::string attributes_path;  ///< The memory's .gitattributes.
  /// What it will hold; nothing when it stays as it is. Empty text: it goes.
  std::optional<std::string> attributes;
  std::vector<GitSetting> settings;   ///< To be written, in this order.
  std::vector<std::string> sections;  ///< To be removed.
  bool is_ignored = false;            ///< git ignores the memory, so none of this has an effect.

  [[nodiscard]] bool is_empty() const {
    return !attributes && settings.empty() && sections.empty();
  }
};

/// How the memory at `root` gets its driver. Errors: E_STORAGE_IO without git or a repository.
Result<GitPlan> plan_install(const std::string& root);
/// How it loses it. With `keep_attributes` .gitattributes stays as it is.
Result<GitPlan> plan_uninstall(const std::string& root, bool keep_attributes);

/// Does it, the settings first: attributes name nothing that is not there. Errors: E_STORAGE_IO.
Status carry_out(const GitPlan& plan);

/// Our name when the PATH leads to the running program by it, else its path.
std::string own_program();

}  // namespace bmad_mem::cli
