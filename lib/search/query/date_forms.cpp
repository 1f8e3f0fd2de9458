// date_forms.cpp - the forms of dates in dates.txt, compared with a text.
#include "date_forms.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <initializer_list>
#include <ranges>
#include <span>
#include <unordered_set>
#include <utility>

#include "bmad_mem/text.hpp"
#include "search/analyzer.hpp"
#include "search_tables.hpp"

namespace bmad_mem {
namespace {

/// A text in which dates are looked for. Wherever a token is asked for, `i` may lie beyond the
/// last, or have wrapped around in front of the first: there are tokens of kind kEnd.
class DateText {
 public:
  DateText(const std::vector<DateToken>& tokens, const Calendar& calendar)
      : tokens_(tokens), calendar_(calendar) {
    for (const DateToken& each : tokens_) {
      assert(!each.word.empty());
      firsts_[static_cast<unsigned char>(each.word.front())] = true;
      words_.insert(each.word);
      has_number_ = has_number_ || each.kind == DateTokenKind::kNumber ||
                    each.kind == DateTokenKind::kOrdinal;
    }
    for (std::string_view left = kDatesTable; !left.empty();) {
      const auto [line, more] = parted(left, '\n');
      const auto [head, words] = parted(line, '=');
      words.empty() ? read_forms(line) : read_class(head, words);
      left = more;
    }
  }

  /// The date that begins at token `i`.
  [[nodiscard]] std::optional<FoundDate> date_at(std::size_t i) const {
    std::optional<FoundDate> found;
    if (token(i).kind == DateTokenKind::kSign || !starts_apart(i)) {
      return found;
    }
    for (const DateForm& form : forms_) {
      std::optional<FoundDate> next = found_by(form, i);
      if (next && found) {
        found->other = next->stretch.begin != found->stretch.begin ? std::optional(next->stretch)
                                                                   : std::nullopt;
      } else if (next) {
        found = next;
      }
      if (found && !(next && form.meaning.has_other)) {
        break;
      }
    }
    return found;
  }

 private:
  /// Keeps those of `words` that the text may have.
  void read_class(std::string_view head, std::string_view words) {
    const auto [name, value] = parted(head, ' ');
    while (!words.empty()) {
      const auto [phrase, more] = parted(words, '|');
      if (is_present(phrase.substr(0, first_word_size(phrase)))) {
        present_.push_back({.name = name, .value = number_in(value), .words = phrase});
      }
      words = more;
    }
  }

  /// Reads those forms of `line` that may begin at a token.
  void read_forms(std::string_view line) {
    auto [action, forms] = parted(line, ':');
    while (!forms.empty()) {
      const auto [form, more] = parted(forms, '|');
      const std::size_t named = form.find('[') + 1;  // 0 when there is none.
      if (may_begin(parted(form.substr(named), ' ').first)) {
        (action == "share" ? shared_years_ : forms_).push_back(form_of(form, action));
      }
      forms = more;
    }
  }

  [[nodiscard]] bool is_present(std::string_view word) const {
    assert(!word.empty());
    return firsts_[static_cast<unsigned char>(word.front())] && words_.contains(word);
  }

  /// Whether a token may be the first of a form, `element`.
  [[nodiscard]] bool may_begin(std::string_view element) const {
    if (element.starts_with('<')) {
      const std::string_view name =
          element.substr(1, std::min(element.find_first_of("+->"), element.size()) - 1);
      return built_in(name) ? has_number_ || name == "n"
                            : std::ranges::find(present_, name, &DateWords::name) != present_.end();
    }
    while (!element.empty()) {
      const auto [word, more] = parted(element, '/');
      const std::size_t end = std::min(word.find_first_of("]?"), word.size());
      if (word.ends_with('?') || is_present(word.substr(0, end))) {
        return true;
      }
      element = more;
    }
    return false;
  }

  [[nodiscard]] const DateToken& token(std::size_t i) const {
    static const DateToken kNone;
    return i < tokens_.size() ? tokens_[i] : kNone;
  }
  [[nodiscard]] bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
    return std::ranges::find(words, std::string_view(token(i).word)) != words.end();
  }

  /// Whether no sign ties the token to the one in front, as in "v1.2023", "CVE-2023" or "a/may".
  [[nodiscard]] bool starts_apart(std::size_t i) const {
    if (!token(i).glued) {
      return true;
    }
    return is_any(i - 1, {"-"})
               ? is_any(i - 2, {"mid", "early", "late"})
               : !is_any(i - 1, {".", "/", "\\", "_", ":", "#", "$", "%", "@", "+", "=", "~", "'"});
  }

  /// Whether no sign ties the token to the one behind, as in "2023.1", "dec-001" or "may()".
  [[nodiscard]] bool ends_apart(std::size_t i) const {
    if (!token(i + 1).glued) {
      return true;
    }
    if (is_any(i + 1, {"-", "/", "\\", "_", "#", "$", "%", "@", "+", "=", "~", "(", "<", "*"})) {
      return false;
    }
    return !is_any(i + 1, {".", ":", ","}) || !token(i + 2).glued ||
           token(i + 2).kind == DateTokenKind::kSign;
  }

  /// The token behind `words` at `at`, which are of a class.
  [[nodiscard]] std::optional<std::size_t> behind_words(std::string_view words,
                                                        std::size_t at) const {
    for (; !words.empty(); ++at) {
      const std::string_view word = token(at).word;
      if (word.empty() || !took(words, word)) {
        return std::nullopt;
      }
      const bool is_han = token(at).kind == DateTokenKind::kHan;
      if (!words.empty() && !took(words, " ") && !is_han) {
        return std::nullopt;
      }
    }
    return at;
  }

  /// The token behind the longest words of class `name` at `at`; their value goes to `parts`.
  std::optional<std::size_t> take_class(std::string_view name, std::size_t at,
                                        DateParts& parts) const {
    std::optional<std::size_t> end;
    for (const DateWords& row : present_) {
      const std::optional<std::size_t> behind =
          row.name == name ? behind_words(row.words, at) : std::nullopt;
      if (behind && (!end || *behind > *end)) {
        end = behind;
        set_part(parts, name, row.value);
      }
    }
    // Behind a short name of a month there may be a dot.
    const bool has_dot =
        end && name == "month" && is_any(*end, {"."}) && token(*end).glued && is_in("short", at);
    return has_dot ? *end + 1 : end;
  }

  static void set_part(DateParts& parts, std::string_view name, int value) {
    constexpr int kPerMonth = 100;
    if (name == "holiday" || name == "feast") {
      parts.month = value / kPerMonth;
      parts.day = value % kPerMonth;
      return;
    }
    for (const auto& [its, part] : std::to_array<std::pair<std::string_view, int DateParts::*>>({
             {"month", &DateParts::month},
             {"weekday", &DateParts::weekday},
             {"season", &DateParts::season},
             {"quarter", &DateParts::quarter},
             {"unit", &DateParts::unit},
             {"count", &DateParts::count},
         })) {
      if (its == name) {
        parts.*part = value;
      }
    }
  }

  [[nodiscard]] bool is_in(std::string_view name, std::size_t at) const {
    return std::ranges::any_of(present_, [&](const DateWords& row) {
      return row.name == name && row.words == token(at).word;
    });
  }

  /// Whether the token is a number that can be a year, and counts nothing. A log writes
  /// 07/May/2023:10:05:23.
  [[nodiscard]] bool is_year(std::size_t i) const {
    constexpr int kMin = 1900;
    constexpr int kMax = 2199;
    return token(i).kind == DateTokenKind::kNumber && token(i).size == 4 &&
           token(i).value >= kMin && token(i).value <= kMax &&
           (ends_apart(i) || is_any(i + 1, {":"})) && !is_in("counted", i + 1);
  }

  /// The token behind a year at `at` that belongs to what is in front of it: "May 2023",
  /// "May, 2023", "May of 2023", "7-May-2023".
  std::optional<std::size_t> take_year_behind(std::size_t at, DateParts& parts) const {
    const bool must_touch = is_any(at, {"-", "/"});
    if (must_touch && !(token(at).glued && token(at + 1).glued)) {
      return std::nullopt;
    }
    at += must_touch || is_any(at, {",", "of", "de", "del"}) ? 1U : 0U;
    parts.year = token(at).value;
    return is_year(at) ? std::optional(at + 1) : std::nullopt;
  }

  /// The token behind a "07T10:00:00Z" at `at`.
  std::optional<std::size_t> take_day_and_time(std::size_t at, DateParts& parts) const {
    const std::string_view word = token(at).word;
    if (word.size() < 3 || !is_digit(word[0]) || !is_digit(word[1]) || word[2] != 't') {
      return std::nullopt;
    }
    parts.day = number_in(word.substr(0, 2));
    while (is_any(at + 1, {":", ".", "+", "-"}) && token(at + 1).glued && token(at + 2).glued &&
           token(at + 2).kind != DateTokenKind::kSign) {
      at += 2;
    }
    return at + 1;
  }

  /// "May I deploy on Friday?" asks about every Friday, or the next one.
  [[nodiscard]] bool asks_what_may_be() const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is_in("modal", i) && is_in("person", i + 1)) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool is_french() const {
    std::vector<std::string> words;
    for (const DateToken& each : tokens_) {
      words.push_back(each.word);
    }
    return language_of(words, "english") == "french";
  }

  /// What goes through the whole text, asked once.
  template <typename Ask>
  static bool once(std::optional<bool>& answer, const Ask& ask) {
    answer = answer ? answer : ask();
    return *answer;
  }

  std::optional<std::size_t> take_built_in(DateBuiltIn what, std::size_t at,
                                           DateParts& parts) const {
    constexpr int kDayMax = 31;
    constexpr int kMonthMax = 12;
    constexpr int kCentury = 2000;
    const DateToken& here = token(at);
    const bool is_number = here.kind == DateTokenKind::kNumber;
    const bool is_day_number =
        is_number && here.size <= 2 && here.value >= 1 && here.value <= kDayMax;
    const bool is_ordinal =
        here.kind == DateTokenKind::kOrdinal && here.value >= 1 && here.value <= kDayMax;
    const auto one = [&](bool fits, int DateParts::* part = nullptr, int more = 0) {
      if (fits && part != nullptr) {
        parts.*part = here.value + more;
      }
      return fits ? std::optional(at + 1) : std::nullopt;
    };
    switch (what) {
      case DateBuiltIn::kDay:
        return one(is_day_number || is_ordinal, &DateParts::day);
      case DateBuiltIn::kOrdinal:
        return one(is_ordinal, &DateParts::day);
      case DateBuiltIn::kDayNumber:
        return one(is_day_number, &DateParts::day);
      case DateBuiltIn::kMonthNumber:
        return one(is_day_number && here.value <= kMonthMax, &DateParts::month);
      case DateBuiltIn::kCount:
        return is_number ? one(true, &DateParts::count) : take_class("count", at, parts);
      case DateBuiltIn::kYear:
        return one(is_year(at), &DateParts::year);
      case DateBuiltIn::kYearBehind:
        return take_year_behind(at, parts);
      case DateBuiltIn::kFourDigits:
        return one(is_number && here.size == 4, &DateParts::year);
      case DateBuiltIn::kShortYear:
        return one(is_number && here.size == 2 &&
                       std::chrono::year(kCentury + here.value) <= calendar_.year(),
                   &DateParts::year, kCentury);
      case DateBuiltIn::kDayAndTime:
        return take_day_and_time(at, parts);
      case DateBuiltIn::kCapital:
        return one(here.capital);
      case DateBuiltIn::kTwo:
        return one(here.size == 2);
      case DateBuiltIn::kAny:
        return one(here.kind != DateTokenKind::kEnd);
      case DateBuiltIn::kEnd:
        return one(here.kind == DateTokenKind::kEnd);
      case DateBuiltIn::kSign:
        return one(here.kind == DateTokenKind::kSign);
      case DateBuiltIn::kAlnum:
        return one(here.kind != DateTokenKind::kSign && here.kind != DateTokenKind::kEnd);
      case DateBuiltIn::kInHan:
      case DateBuiltIn::kFrench:
      case DateBuiltIn::kAsks:
      case DateBuiltIn::kPhraseEnd:
        break;
    }
    return holds(what, at) ? std::optional(at) : std::nullopt;
  }

  /// Whether what takes up no token holds at `at`.
  [[nodiscard]] bool holds(DateBuiltIn what, std::size_t at) const {
    if (what == DateBuiltIn::kPhraseEnd) {  // "On the 8th we met", but not "on the 8th floor".
      const DateTokenKind kind = token(at).kind;
      return ends_apart(at - 1) && (kind == DateTokenKind::kEnd || kind == DateTokenKind::kSign ||
                                    is_stop_word(token(at).word));
    }
    if (what == DateBuiltIn::kInHan) {  // A number among them, without a blank.
      const auto is_han = [&](std::size_t i) { return token(i).kind == DateTokenKind::kHan; };
      return (token(at).glued && is_han(at - 1)) || (token(at + 1).glued && is_han(at + 1));
    }
    assert(what == DateBuiltIn::kFrench || what == DateBuiltIn::kAsks);
    return what == DateBuiltIn::kFrench ? once(is_french_, [&] { return is_french(); })
                                        : once(asks_, [&] { return asks_what_may_be(); });
  }

  /// The token behind what `element` is at `at`, without regard to whether it must be there.
  std::optional<std::size_t> take(const DateElement& element, std::size_t at,
                                  DateParts& parts) const {
    if (element.is_glued && !token(at).glued) {
      return std::nullopt;
    }
    if (element.tests.empty()) {
      const bool is_there = std::ranges::find(element.words, token(at).word) != element.words.end();
      return is_there ? std::optional(at + 1) : std::nullopt;
    }
    std::optional<std::size_t> end;
    for (const DateTest& test : element.tests) {
      const bool is_first = &test == element.tests.data();
      DateParts other;
      DateParts& taken = is_first ? parts : other;
      const std::optional<std::size_t> behind = test.built_in
                                                    ? take_built_in(*test.built_in, at, taken)
                                                : is_first ? take_class(test.name, at, taken)
                                                : is_in(test.name, at) ? std::optional(at + 1)
                                                                       : std::nullopt;
      if (behind.has_value() != test.is_wanted) {
        return std::nullopt;
      }
      end = is_first ? behind : end;
    }
    return end;
  }

  /// The token behind `elements`, which begin at `at`.
  std::optional<std::size_t> behind_all(std::span<const DateElement> elements, std::size_t at,
                                        DateParts& parts) const {
    if (elements.empty()) {
      return at;
    }
    const DateElement& element = elements.front();
    DateParts taken = parts;
    const std::optional<std::size_t> next = take(element, at, taken);
    if (element.is_absent) {
      return next ? std::nullopt : behind_all(elements.subspan(1), at, parts);
    }
    const std::optional<std::size_t> end =
        next ? behind_all(elements.subspan(1), *next, taken) : std::nullopt;
    if (end) {
      parts = taken;
      return end;
    }
    return element.is_optional ? behind_all(elements.subspan(1), at, parts) : std::nullopt;
  }

  /// Whether `elements` end in front of token `first`.
  [[nodiscard]] bool stand_before(std::span<const DateElement> elements, std::size_t first) const {
    std::size_t at = first - 1;
    for (const DateElement& element : std::views::reverse(elements)) {
      while (element.is_filler && is_in("filler", at)) {
        --at;
      }
      DateParts none;
      const std::optional<std::size_t> end =
          element.is_filler ? std::optional(at) : take(element, at, none);
      if (end.has_value() == element.is_absent) {
        return false;
      }
      at -= end.value_or(at) - at;
    }
    return true;
  }

  [[nodiscard]] std::optional<FoundDate> found_by(const DateForm& form, std::size_t i) const {
    DateParts parts;
    const std::optional<std::size_t> end = behind_all(form.named, i, parts);
    DateParts around;
    if (!end || !(form.meaning.may_bind || ends_apart(*end - 1) || is_year(*end - 1)) ||
        !stand_before(form.before, i) || !behind_all(form.after, *end, around)) {
      return std::nullopt;
    }
    if (parts.year < 0 && (form.meaning.action == "day" || form.meaning.action == "month")) {
      parts.year = shared_year(*end);
    }
    const std::optional<TimeStretch> stretch = stretch_of(form.meaning, parts, calendar_);
    return stretch ? std::optional(FoundDate{i, *end - 1, *stretch}) : std::nullopt;
  }

  /// The year that what ends in front of token `end` shares with what follows; -1 without.
  [[nodiscard]] int shared_year(std::size_t end) const {
    for (const DateForm& form : shared_years_) {
      DateParts parts;
      if (behind_all(form.named, end, parts)) {
        return parts.year;
      }
    }
    return -1;
  }

  const std::vector<DateToken>& tokens_;
  const Calendar& calendar_;
  std::array<bool, UINT8_MAX + 1> firsts_{};  // By the first byte of a word of the text.
  std::unordered_set<std::string_view> words_;
  bool has_number_ = false;
  std::vector<DateWords> present_;  // A row for those words of classes that the text may have.
  std::vector<DateForm> forms_;     // Those that may begin at a token.
  std::vector<DateForm> shared_years_;
  mutable std::optional<bool> is_french_;
  mutable std::optional<bool> asks_;
};

}  // namespace

std::vector<FoundDate> find_dates(const std::vector<DateToken>& tokens, const Calendar& calendar) {
  const DateText text(tokens, calendar);
  std::vector<FoundDate> dates;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (const std::optional<FoundDate> found = text.date_at(i)) {
      assert(found->last >= i && found->last < tokens.size() && "a date has tokens");
      dates.push_back(*found);
      i = found->last;
    }
  }
  return dates;
}

}  // namespace bmad_mem
