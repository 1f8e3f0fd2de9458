// text.hpp - small helpers for text that people read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {

/// How many characters (code points) UTF-8 `text` has beside those of a Style: its width on a
/// terminal, near enough.
std::size_t text_width(std::string_view text);

/// `text` and as many blanks as it takes to reach `width` characters.
std::string padded(std::string_view text, std::size_t width);
/// The same, with the blanks in front.
std::string padded_left(std::string_view text, std::size_t width);

/// `text`, or its front and "…" when it has more than `width` characters; at least one.
std::string shortened(std::string_view text, std::size_t width);

/// `text` in a Markdown fence that it can't close. Ends with '\n'.
std::string fenced_text(std::string_view text);

/// `texts`, with `between` between them.
template <typename Texts>
std::string joined(const Texts& texts, std::string_view between = ", ") {
  std::string out;
  for (const std::string_view text : texts) {
    out += out.empty() ? std::string_view() : between;
    out += text;
  }
  return out;
}

/// Whether `condition` holds, of terms joined by "&" and, weaker, "|", with "!" before what must
/// not hold: "a&!b|c". `holds_term(term)` says it of one.
template <typename HoldsTerm>
bool holds(std::string_view condition, const HoldsTerm& holds_term) {
  bool are_all = true;
  for (std::size_t begin = 0; begin <= condition.size();) {
    const std::size_t end = std::min(condition.find_first_of("&|", begin), condition.size());
    std::string_view term = condition.substr(begin, end - begin);
    const bool is_negated = term.starts_with('!');
    term.remove_prefix(is_negated ? 1 : 0);
    are_all = are_all && holds_term(term) != is_negated;
    const bool is_end = end == condition.size() || condition[end] == '|';
    if (is_end && are_all) {
      return true;
    }
    are_all = are_all || is_end;
    begin = end + 1;
  }
  return false;
}

/// The whole of `text` as a number, decimal and finite; nothing for anything else. libc++ 19 has no
/// std::from_chars of a double.
std::optional<double> real_in(std::string_view text);

/// `text` on one line, without what could steer a terminal: control characters become blanks, and
/// what turns the direction of writing or shows nothing is left out.
std::string printable(std::string_view text);

/// `text` broken at blanks into lines of at most `width` characters, words are never broken; each
/// line begins with `indent` and ends in '\n'.
std::string wrapped(std::string_view text, std::size_t width, std::string_view indent);

/// "312 B", "56.3 KiB", "9.8 MiB".
std::string format_size(std::uint64_t bytes);

/// "1,347".
std::string format_count(std::uint64_t count);

/// "1 entry", "3 entries": `one` or `many` behind the number.
std::string format_count(std::uint64_t count, std::string_view one, std::string_view many);

/// UTC to the minute: "2026-01-11 10:05".
std::string format_minute(Timestamp time);

/// Whether the two functions below give local times: where a person reads them on a terminal. What
/// programs, pipes and files get is UTC.
void show_local_times(bool are_local);
/// As format_minute(), or local with the zone's offset: "2026-01-11 11:05+01:00".
std::string shown_minute(Timestamp time);
/// RFC 3339, UTC; or as shown_minute() where that is local.
std::string shown_time(Timestamp time);

/// A bar of blocks, `share` (0 to 1) of `width` characters long to an eighth of one; never empty
/// for a share above 0.
std::string block_bar(double share, std::size_t width);

/// The line of `text` that holds byte `column` (1-based) of line `line` (1-based; 0 is 1), cut to
/// `width` characters around it, and below it a caret at that place. Both end in '\n' and are
/// indented by two blanks.
std::string pointed_out(std::string_view text, std::uint64_t line, std::uint64_t column,
                        std::size_t width);

/// Escape sequences for a terminal, or nothing.
class Style {
 public:
  explicit Style(bool colours) : colours_(colours) {}

  [[nodiscard]] bool colours() const { return colours_; }
  [[nodiscard]] std::string bold(std::string_view text) const { return wrapped("1", text); }
  [[nodiscard]] std::string faint(std::string_view text) const { return wrapped("2", text); }
  [[nodiscard]] std::string red(std::string_view text) const { return wrapped("31", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return wrapped("32", text); }
  /// For words that matched.
  [[nodiscard]] std::string match(std::string_view text) const { return wrapped("1;33", text); }
  [[nodiscard]] std::string id(std::string_view text) const { return wrapped("36", text); }

 private:
  [[nodiscard]] std::string wrapped(std::string_view code, std::string_view text) const;

  bool colours_;
};

// Which known word somebody meant.

/// The one of `words` that is at most a third of its letters away from `word` (insertions,
/// deletions, replacements, swaps of neighbours; 3 at most), or that `word` is the beginning of.
/// Empty when there is none.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> words);
/// The same among the names of `all`.
std::string_view nearest_word(std::string_view word, const auto& all, auto name) {
  const std::vector<std::string_view> words = mapped(all, name);
  return nearest_word(word, words);
}

// Moments as people name them on the command line. All in UTC.

/// The moment that `text` names for one who asks at `now`: QueryTime says what is understood.
/// Errors: E_INVALID_QUERY, naming `field` and showing what is understood.
Result<Timestamp> parse_time(std::string_view text, Timestamp now, RangeEnd end,
                             std::string_view field);

/// The text of Markdown after its front matter, "---", lines, "---", which is not for readers.
std::string_view without_front_matter(std::string_view text);

/// `text` as one word of sh.
std::string shell_quoted(std::string_view text);

}  // namespace bmad_mem::cli
