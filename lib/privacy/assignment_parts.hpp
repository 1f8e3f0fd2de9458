// assignment_parts.hpp - the name before an operator, and the value after it.
//
//   const apiKey: string = \"…\"         os.environ["API_KEY"] = '…'        "api_key": "…"
//         name ◄─┘       └► value                   name ◄──┘ └► value        name ◄─┘ └► value
//
// Each looks at a bounded number of bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "assignment_judge.hpp"
#include "secret_names.hpp"

namespace bmad_mem {

/// Bytes [begin, end) of the text.
struct NamePart {
  std::size_t begin = 0;
  std::size_t end = 0;
  LetterSet letters = 0;
  bool is_quoted = false;

  [[nodiscard]] std::string_view of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

struct ValuePart {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool is_quoted = false;

  [[nodiscard]] std::string_view of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

/// The name that ends before `end`, whatever of quotes, brackets, types and blanks is between.
/// Empty when there is none.
NamePart name_before(std::string_view text, std::size_t end);

/// The value in quotes that begins at `at`, which may have backslashes or a prefix as in r"…"
/// before. Nothing when there is none on this line.
std::optional<ValuePart> quoted_at(std::string_view text, std::size_t at);

/// How far a value without quotes goes.
enum class BareEnd : std::uint8_t {
  kLine,  ///< To a blank: the value has the rest of the line.
  kCode,  ///< To a blank or what ends an expression.
  kQuery  ///< And to '&' and '#'.
};

/// The value without quotes that begins at `at`; may be empty.
ValuePart bare_at(std::string_view text, std::size_t at, BareEnd end);

/// The first byte from `at` on that isn't a blank.
std::size_t skip_blanks(std::string_view text, std::size_t at);

}  // namespace bmad_mem
