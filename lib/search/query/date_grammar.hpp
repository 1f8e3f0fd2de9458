// date_grammar.hpp - a line of dates.txt, taken apart: words of a class, forms of dates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "date_forms.hpp"

namespace bmad_mem {

/// What forms name besides classes of words.
enum class DateBuiltIn : std::uint8_t {
  kDay,
  kOrdinal,
  kDayNumber,
  kMonthNumber,
  kCount,
  kYear,
  kYearBehind,
  kFourDigits,
  kShortYear,
  kDayAndTime,
  kCapital,
  kTwo,
  kAny,
  kEnd,
  kSign,
  kAlnum,
  kInHan,
  kFrench,
  kAsks,
  kPhraseEnd,
};

/// The built-in test `name`; nothing for a class of words.
std::optional<DateBuiltIn> built_in(std::string_view name);

/// Words apart by '|', which may have a value.
struct DateWords {
  std::string_view name;
  int value = -1;
  std::string_view words;
};

struct DateTest {
  bool is_wanted = true;
  std::optional<DateBuiltIn> built_in;
  std::string_view name;  ///< Of a class.
};

struct DateElement {
  std::vector<std::string_view> words;  ///< One of them, or what passes all tests.
  std::vector<DateTest> tests;
  bool is_optional = false;
  bool is_glued = false;
  bool is_absent = false;
  bool is_filler = false;
};

/// What the forms of a line mean.
struct DateMeaning {
  std::string_view action = {};
  std::string_view detail = {};  ///< "ended", "this".
  int unit = -1;
  int count = -1;
  bool has_other = false;  ///< It may be the next one, too.
  bool may_bind = false;   ///< A sign may tie its end to what follows.
};

struct DateForm {
  DateMeaning meaning;
  std::vector<DateElement> before = {};
  std::vector<DateElement> named = {};
  std::vector<DateElement> after = {};
};

/// What a form takes from a text; -1 where it says nothing.
struct DateParts {
  int day = -1;
  int month = -1;
  int year = -1;
  int weekday = -1;
  int season = -1;
  int quarter = -1;
  int unit = -1;
  int count = -1;
};

/// `text` before and after the first `sign`, without the blanks around that.
std::pair<std::string_view, std::string_view> parted(std::string_view text, char sign);

/// How long `words` are up to the first blank; a character of Han or Kana is a word.
std::size_t first_word_size(std::string_view words);

/// The number that `text` begins with; -1 without.
int number_in(std::string_view text);

/// Takes `prefix` away from the front of `text` if it is there.
bool took(std::string_view& text, std::string_view prefix);

/// What `parts` of a text mean; nothing for what is no date, as 31 June.
std::optional<TimeStretch> stretch_of(const DateMeaning& meaning, const DateParts& parts,
                                      const Calendar& calendar);

/// The form `text` of a line that begins with `meaning`.
DateForm form_of(std::string_view text, std::string_view meaning);

}  // namespace bmad_mem
