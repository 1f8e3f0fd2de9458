#include "exchange/git/attributes.hpp"

#include <cstddef>
#include <utility>

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kBegin = "# bmad-mem: begin";
constexpr std::string_view kEnd = "# bmad-mem: end\n";

// docs/decisions/0033 says why which file is merged how. Without a driver in a clone's own
// configuration `merge=bmadmem` is what it is without attributes: git's merge of text.
constexpr std::string_view kBlock =
    "# bmad-mem: begin (`bmad-mem git install` writes these lines, docs/git.md explains them)\n"
    "/sessions/*/*.jsonl merge=bmadmem diff=bmadmem text eol=lf\n"
    "/sessions/*/manifest.json merge=bmadmem text eol=lf\n"
    "/shared/kept/*.jsonl merge=bmadmem diff=bmadmem text eol=lf\n"
    "/archive/*.gz binary\n"
    "/archive/*.evicted.jsonl.gz merge=bmadmem\n"
    "# bmad-mem: end\n";

/// Where our lines begin and end; both text.size() without any.
std::pair<std::size_t, std::size_t> find_block(std::string_view text) {
  const std::size_t end = text.find(kEnd);
  std::size_t begin = end == std::string_view::npos ? end : text.rfind(kBegin, end);
  while (begin != std::string_view::npos && begin != 0 && text[begin - 1] != '\n') {
    begin = text.rfind(kBegin, begin - 1);
  }
  return begin == std::string_view::npos ? std::pair(text.size(), text.size())
                                         : std::pair(begin, end + kEnd.size());
}

}  // namespace

std::string with_attributes(std::string_view text) {
  const auto [begin, end] = find_block(text);
  std::string out(text.substr(0, begin));
  if (!out.empty() && !out.ends_with('\n')) {
    out += '\n';
  }
  out += kBlock;
  out += text.substr(end);
  return out;
}

std::string without_attributes(std::string_view text) {
  const auto [begin, end] = find_block(text);
  std::string out(text.substr(0, begin));
  out += text.substr(end);
  return out;
}

}  // namespace bmad_mem::cli
