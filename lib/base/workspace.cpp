#include "base/workspace.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, to_lower, to_lower);
}

bool starts_with_word(std::string_view text, std::string_view word) {
  return equal_but_for_case(text.substr(0, word.size()), word);
}

/// A path taken apart.
struct Place {
  std::string volume;  ///< "/", a drive such as "c:", "\\" for other Windows roots; else empty.
  std::vector<std::string> names;
};

/// Goes from `place` along the names of `path`.
void walk(std::string_view path, std::string_view separators, Place& place) {
  while (!path.empty()) {
    const std::size_t size = std::min(path.find_first_of(separators), path.size());
    const std::string_view name = path.substr(0, size);
    path.remove_prefix(std::min(size + 1, path.size()));
    if (name == "..") {
      if (!place.names.empty()) {
        place.names.pop_back();
      }
    } else if (!name.empty() && name != ".") {
      place.names.emplace_back(name);
    }
  }
}

constexpr std::string_view kAllSlashes = "/\\";

/// Where `path` leads for one who stands at `base`.
Place place_of(std::string_view path, Place base) {
  Place place;
  if (path.starts_with('/')) {
    place.volume = "/";
    walk(path, "/", place);
  } else if (path.size() > 1 && is_letter(path[0]) && path[1] == ':') {
    // c:x, without a slash, counts from a folder that nobody knows here: not from the workspace.
    place.volume = {to_lower(path[0]), ':'};
    walk(path.substr(2), kAllSlashes, place);
  } else if (path.starts_with('\\')) {
    place.volume = "\\";
    walk(path, kAllSlashes, place);
  } else {
    place = std::move(base);
    walk(path, kAllSlashes, place);
  }
  return place;
}

bool is_below(const Place& folder, const Place& place) {
  const bool by_case = folder.volume == "/";
  return folder.volume == place.volume && folder.names.size() <= place.names.size() &&
         std::equal(folder.names.begin(), folder.names.end(), place.names.begin(),
                    [&](const std::string& a, const std::string& b) {
                      return by_case ? a == b : equal_but_for_case(a, b);
                    });
}

/// The name of a scheme in front of "://"; empty when there is none. One letter is a drive.
std::string_view url_scheme(std::string_view text) {
  const std::string_view scheme = text.substr(0, std::min(text.find("://"), text.size()));
  const bool is_one =
      scheme.size() > 1 && scheme.size() < text.size() && is_letter(scheme[0]) &&
      std::ranges::all_of(
          scheme,
          [](char c) { return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; });
  return is_one ? scheme : std::string_view();
}

constexpr std::string_view kFileScheme = "file:";

/// The path in a file URL (RFC 8089); nothing when it is another host's.
std::optional<std::string> file_url_path(std::string_view url) {
  std::string_view rest = url.substr(kFileScheme.size());
  rest = rest.substr(0, rest.find_first_of("?#"));
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (!host.empty() && !equal_but_for_case(host, "localhost")) {
      return std::nullopt;
    }
    rest.remove_prefix(host.size());
  }
  std::string path = percent_decoded(rest);
  if (path.size() > 2 && path[0] == '/' && is_letter(path[1]) && path[2] == ':') {
    path.erase(0, 1);  // /C:/x
  }
  return path;
}

/// `path` with the home in place of ~; nothing when it is somebody else's or unknown. A ~ that
/// begins a name of another kind (~$report.docx) stays.
std::optional<std::string> without_tilde(const std::string& path, const std::string& home) {
  if (!path.starts_with('~')) {
    return path;
  }
  const std::string_view user =
      std::string_view(path).substr(1, std::min(path.find_first_of(kAllSlashes), path.size()) - 1);
  if (user.empty()) {
    return home.empty() ? std::nullopt : std::optional(home + path.substr(1));
  }
  const bool is_user = std::ranges::all_of(
      user, [](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
  return is_user ? std::nullopt : std::optional(path);
}

}  // namespace

bool is_outside_workspace(const Workspace& workspace, std::string_view path) {
  path = trimmed(path);
  const std::string_view scheme = url_scheme(path);
  if (equal_but_for_case(scheme, "http") || equal_but_for_case(scheme, "https")) {
    return false;
  }
  std::optional<std::string> local(path);
  if (starts_with_word(path, kFileScheme)) {
    local = file_url_path(path);
  } else if (!scheme.empty()) {
    return true;
  } else {
    local = without_tilde(*local, workspace.home);
  }
  if (!local) {
    return true;
  }
  const auto is_in = [&](std::string_view folder) {
    const Place base = place_of(folder, {});
    return !base.volume.empty() && is_below(base, place_of(*local, base));
  };
  return !is_in(workspace.folder) && !is_in(workspace.resolved) &&
         std::ranges::none_of(workspace.worktrees, is_in);
}

}  // namespace bmad_mem
