#include "exchange/git/driver_settings.hpp"

#include <fmt/format.h>

namespace bmad_mem::cli {
namespace {

/// git replaces %O and its like in the driver.
std::string percent_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c;
    out += c == '%' ? "%" : "";
  }
  return out;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += R"('\'')";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::vector<GitSetting> driver_settings(std::string_view program) {
  const std::string word = shell_quoted(program);
  const std::string driver_word = percent_escaped(word);
  return {
      {.key = "merge.bmadmem.driver",
       .value = fmt::format(
           // git quotes %P for sh, which holds outside of double quotes only.
           "if command -v {0} >/dev/null; then {0} merge-driver %O %A %B %P %L; else echo "
           "\"bmad-mem was not found; install it, then run: bmad-mem git install. Merged as plain "
           "text:\" %P >&2; git merge-file -q --marker-size=%L -L ours -L base -L theirs %A %O %B; "
           "fi",
           driver_word)},
      {.key = "merge.bmadmem.name", .value = "bmad-mem merge of memory logs"},
      {.key = "diff.bmadmem.textconv",
       .value = fmt::format("f() {{ if command -v {0} >/dev/null; then {0} textconv \"$1\"; else "
                            "cat \"$1\"; fi; }}; f",
                            word)},
  };
}

}  // namespace bmad_mem::cli
