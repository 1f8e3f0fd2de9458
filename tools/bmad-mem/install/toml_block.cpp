#include "install/toml_block.hpp"

#include <utility>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "install/client_files.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kBegin =
    "# bmad-mem begin (`bmad-mem uninstall codex` removes this block)\n";
constexpr std::string_view kEnd = "# bmad-mem end\n";

/// Whether our server is in this file. Errors: it is no TOML.
Result<bool> has_server(std::string_view text) {
  try {
    const toml::table file = toml::parse(text);
    return file["mcp_servers"][kServerName].is_table();
  } catch (const toml::parse_error& error) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = fmt::format("the file is no TOML: {}", error.description()),
                 .line = error.source().begin.line,
                 .column = error.source().begin.column};
  }
}

/// The text without our block, if there is one.
std::string cut_block(const std::string& text) {
  const std::size_t begin = text.find(kBegin);
  const std::size_t end = begin == std::string::npos ? begin : text.find(kEnd, begin);
  if (end == std::string::npos) {
    return text;
  }
  const std::size_t newline = begin > 0 && text[begin - 1] == '\n' ? 1 : 0;
  return text.substr(0, begin - newline) + text.substr(end + kEnd.size());
}

}  // namespace

Result<std::optional<std::string>> with_toml_block(const std::optional<std::string>& text,
                                                   const std::string& table) {
  const std::string block = fmt::format("{}{}{}", kBegin, table, kEnd);
  if (text && text->contains(block)) {
    BMAD_TRY(has_server(*text));
    return text;
  }
  const std::string before = text ? cut_block(*text) : std::string();
  BMAD_TRY_ASSIGN(const bool is_taken, has_server(before));
  if (is_taken) {
    return Error{.code = ErrorCode::E_CONCURRENT_MOD,
                 .message = fmt::format("the file has a table mcp_servers.{} already, which is not "
                                        "of our making; remove or rename it first",
                                        kServerName),
                 .field = "mcp_servers"};
  }
  std::string after = before + (text ? "\n" : "") + block;
  BMAD_TRY_ASSIGN(const bool is_there, has_server(after));
  if (!is_there) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "a table added at the end of this file would not be read as one",
                 .field = "mcp_servers"};
  }
  return std::optional(std::move(after));
}

Result<std::optional<std::string>> without_toml_block(const std::string& text) {
  BMAD_TRY(has_server(text));
  std::string without = cut_block(text);
  return without.empty() && text.starts_with(kBegin) ? std::nullopt
                                                     : std::optional(std::move(without));
}

}  // namespace bmad_mem::cli
