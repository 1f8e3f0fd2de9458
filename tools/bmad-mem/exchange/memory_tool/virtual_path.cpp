#include "exchange/memory_tool/virtual_path.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kRoot = "/memories";

/// Whether the path leads up, or ends early, for any reader: one that decodes it, or one to whom a
/// backslash separates names.
bool is_treacherous(std::string_view path) {
  std::string text(path);
  for (std::string decoded = percent_decoded(text); decoded != text;
       decoded = percent_decoded(text)) {
    if (decoded.find("..") != std::string::npos) {
      return true;
    }
    text = std::move(decoded);
  }
  if (text.find('\0') != std::string::npos) {
    return true;
  }
  std::ranges::replace(text, '\\', '/');
  return fmt::format("{}/", text).find("/../") != std::string::npos;
}

}  // namespace

Result<VirtualPath> parse_virtual_path(std::string_view given) {
  const auto refused = [&](std::string message) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT, .message = std::move(message)};
  };
  const std::string_view rest = given.substr(std::min(kRoot.size(), given.size()));
  if (!given.starts_with(kRoot) || !(rest.empty() || rest.starts_with('/'))) {
    return refused(fmt::format("Path must start with /memories, got: {}", given));
  }
  if (is_treacherous(given)) {
    return refused(fmt::format("Path {} would escape /memories directory", given));
  }
  VirtualPath path{.given = std::string(given), .names = {}};
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t end = std::min(rest.find('/', at), rest.size());
    const std::string_view name = rest.substr(at, end - at);
    at = end + 1;
    if (!name.empty() && name != ".") {
      path.names.emplace_back(name);
    }
  }
  return path;
}

bool is_within(const VirtualPath& inner, const VirtualPath& outer) {
  return inner.names.size() >= outer.names.size() &&
         std::equal(outer.names.begin(), outer.names.end(), inner.names.begin());
}

}  // namespace bmad_mem::cli
