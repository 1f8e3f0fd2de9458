// checkpoint_text.hpp - the lines of index.json, see checkpoint_format.hpp: keys with lists, keys
// with blocks. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bmad_mem {

/// `text` without the quotes that json_quoted() puts around it: how keys stand in the file.
std::string escaped_key(std::string_view text);

/// Whether escaped_key() would change `text`.
bool has_escapes(std::string_view text);

/// Lines of the form `"key": value,`.
struct KeyLine {
  std::string_view key;
  std::string_view value;
  bool good = false;
};

/// A line of an index, `"key": [list],`.
KeyLine split_list_line(std::string_view line);
/// A line of a directory, `"key": "block",`.
KeyLine split_block_line(std::string_view line);

/// The lines of a section, without their newlines.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next(std::string_view& line) {
    if (rest_.empty()) {
      return false;
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return true;
  }

 private:
  std::string_view rest_;
};

/// One block of an index: where it starts in its section, and the hash of its bytes.
struct Block {
  std::uint64_t offset = 0;
  std::uint64_t hash = 0;
};

/// What the value of a directory's line says, quotes included.
std::optional<Block> parse_block(std::string_view value);

/// The line of `text` that begins at `begin`.
std::string_view line_at(std::string_view text, std::size_t begin);

/// Where the last line of a directory begins whose key is not above `key`: the block that `key` is
/// in if it is anywhere. The first line when all keys are above.
std::size_t find_directory_line(std::string_view directory, std::string_view key);

}  // namespace bmad_mem
