#include <utility>

#include "bmad_mem/utf8.hpp"
#include "query_scanner.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kQuotedCharactersMax = 40;

/// C0, DEL, C1, the line separators, and U+202A..U+202E, U+2066..U+2069, which reorder a line.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) {
    return byte(0) < 0x20 || byte(0) == 0x7F;
  }
  if (character.size() == 2) {
    return byte(0) == 0xC2 && byte(1) < 0xA0;
  }
  return character.size() == 3 && byte(0) == 0xE2 &&
         ((byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||
          (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9));
}

}  // namespace

Error query_error(std::size_t offset, std::string message) {
  return Error{.code = ErrorCode::E_INVALID_QUERY,
               .message = std::move(message),
               .column = offset + 1,
               .field = "text"};
}

std::string printable_text(std::string_view text) {
  const std::string valid = utf8_repaired(text);
  std::string printable;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view character = rest.substr(0, utf8_character_size(rest));
    printable += is_control(character) ? " " : character;
    rest.remove_prefix(character.size());
  }
  return printable;
}

std::string quoted_part(std::string_view text) {
  // A few bytes more than it can show, so that what is cut is never the end of what is shown.
  std::string printable = printable_text(text.substr(0, 4 * kQuotedCharactersMax + 4));
  std::string_view rest = printable;
  for (std::size_t count = 0; !rest.empty(); ++count) {
    if (count == kQuotedCharactersMax) {
      return printable.substr(0, printable.size() - rest.size()) + "…";
    }
    rest.remove_prefix(utf8_character_size(rest));
  }
  return printable;
}

}  // namespace bmad_mem
