#include "checkpoint_text.hpp"

#include "bmad_mem/json_writer.hpp"
#include "checkpoint_format.hpp"
#include "digits.hpp"
#include "index/checkpoint_reader.hpp"

namespace bmad_mem {
namespace {

/// Where the string ends that begins with the quote at the begin of `line`; npos when it doesn't. A
/// list can be as long as there are entries, so this is not looked for from its end.
std::size_t closing_quote(std::string_view line) {
  for (std::size_t at = line.find('"', 1); at != std::string_view::npos;
       at = line.find('"', at + 1)) {
    std::size_t before = at;
    while (before > 1 && line[before - 1] == '\\') {
      --before;
    }
    if ((at - before) % 2 == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

KeyLine split_line(std::string_view line, std::string_view value_start) {
  KeyLine split;
  const std::size_t joint = line.starts_with('"') ? closing_quote(line) : std::string_view::npos;
  if (joint == std::string_view::npos || !line.substr(joint).starts_with(value_start)) {
    return split;
  }
  split.key = line.substr(1, joint - 1);
  split.value = line.substr(joint + 3);  // Behind `": `.
  if (split.value.ends_with(',')) {
    split.value.remove_suffix(1);
  }
  split.good = true;
  return split;
}

bool is_escaped(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }

/// Where the line that holds byte `at` begins.
std::size_t line_begin(std::string_view text, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

}  // namespace

std::string escaped_key(std::string_view text) {
  const std::string quoted = json_quoted(text);
  return quoted.substr(1, quoted.size() - 2);
}

bool has_escapes(std::string_view text) { return std::ranges::any_of(text, is_escaped); }

KeyLine split_list_line(std::string_view line) { return split_line(line, "\": ["); }
KeyLine split_block_line(std::string_view line) { return split_line(line, "\": \""); }

std::optional<Block> parse_block(std::string_view value) {
  constexpr std::size_t kSize = kBlockOffsetDigits + kBlockHashDigits;
  if (value.size() != kSize + 2) {
    return std::nullopt;
  }
  std::uint32_t bad = 0;
  const char* digits = value.data() + 1;
  const Block block{.offset = read_digits<kBlockOffsetDigits>(digits, bad),
                    .hash = read_digits<kBlockHashDigits>(digits + kBlockOffsetDigits, bad)};
  return bad > 63 ? std::nullopt : std::optional(block);
}

std::string_view line_at(std::string_view text, std::size_t begin) {
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

std::size_t find_directory_line(std::string_view directory, std::string_view key) {
  std::size_t low = 0;                  // Begin of a line: not above, or the first.
  std::size_t high = directory.size();  // Begin of a line that is above, or the end.
  while (true) {
    // The line in the middle, or the one behind it if that is still `low`.
    std::size_t middle = line_begin(directory, low + (high - low) / 2);
    if (middle <= low) {
      middle = low + line_at(directory, low).size() + 1;
    }
    if (middle >= high) {
      return low;
    }
    if (split_block_line(line_at(directory, middle)).key <= key) {
      low = middle;
    } else {
      high = middle;
    }
  }
}

bool precedes_in_file(std::string_view key, std::string_view other) {
  const auto [in_key, in_other] = std::ranges::mismatch(key, other);
  if (in_key == key.end() || in_other == other.end()) {
    return key.size() < other.size();
  }
  return is_escaped(*in_key) || is_escaped(*in_other) ? escaped_key(key) < escaped_key(other)
                                                      : key < other;
}

}  // namespace bmad_mem
