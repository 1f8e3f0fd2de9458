// preference_detector.cpp - splits messages into sentences, and finds rules and wishes in them.
#include "preference_detector.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <re2/re2.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

/// A line this long that ends in the middle of a sentence was wrapped.
constexpr std::size_t kWrappedSize = 60;

bool is_unprinted(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }
std::string_view without_controls_around(std::string_view text) {
  while (!text.empty() && is_unprinted(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_unprinted(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// The name of the tag that `text` begins with, such as "system-reminder"; empty when there is
/// none.
std::string_view tag_name(std::string_view text) {
  static const RE2 kTag("<([a-z][a-z0-9_-]{0,39})[> ]");
  re2::StringPiece rest(text.data(), text.size());
  re2::StringPiece name;
  RE2::Consume(&rest, kTag, &name);
  return {name.data(), name.size()};
}

/// Where closing tags stand, so that one look at the text serves for all that open.
class ClosingTags {
 public:
  explicit ClosingTags(std::string_view text) {
    for (std::size_t at = text.find("</"); at != std::string_view::npos;
         at = text.find("</", at + 2)) {
      const std::size_t end = text.find_first_of("> \n<", at + 2);
      if (end != std::string_view::npos && text[end] == '>') {
        ends_[text.substr(at + 2, end - at - 2)].push_back(end + 1);
      }
    }
  }

  /// Where the block of a tag `name` that opens at `at` ends; `at` when nothing closes it.
  [[nodiscard]] std::size_t end_of(std::string_view name, std::size_t at) const {
    const auto found = ends_.find(name);
    if (found == ends_.end()) {
      return at;
    }
    const auto end = std::ranges::upper_bound(found->second, at);
    return end == found->second.end() ? at : *end;
  }

 private:
  std::map<std::string_view, std::vector<std::size_t>> ends_;
};

bool is_fence(std::string_view line) { return line.starts_with("```") || line.starts_with("~~~"); }

/// Whether `line`, which begins with `indent` blanks, is something other than what is being said.
bool is_no_prose(std::string_view line, std::size_t indent, bool is_bullet) {
  static constexpr std::array<std::string_view, 9> kBegins = {"> ", ">>", "#",  "|",    "$ ",
                                                              "//", "/*", "@@", "diff "};
  if (std::ranges::any_of(kBegins, [&](auto begin) { return line.starts_with(begin); }) ||
      line == ">" || (indent >= 4 && !is_bullet)) {
    return true;
  }
  return line.ends_with('{') || line.ends_with('}') || line.ends_with(';');
}

/// `line` without "- ", "* ", "+ ", "• ", "3. ", "b) " in front.
std::string_view without_bullet(std::string_view line) {
  static const RE2 kBullet("[-*+] |\u2022|[0-9]{1,3}[.)] |[a-z]\\) ");
  re2::StringPiece rest(line.data(), line.size());
  RE2::Consume(&rest, kBullet);
  line = without_controls_around({rest.data(), rest.size()});
  return line.starts_with("[ ] ") || line.starts_with("[x] ") ? line.substr(4) : line;
}

/// Whether `line`, which begins with no blank, is of a log, a stack trace, a diff or a terminal.
bool is_of_log(std::string_view line) {
  static constexpr std::array<std::string_view, 23> kBegins = {
      "+",         "@@",       "diff ",     "index ", "$ ",    "% ",    ">>> ",  "Traceback",
      "Caused by", "File \"",  "Exception", "ERROR",  "WARN",  "INFO",  "DEBUG", "FATAL",
      "TRACE",     "npm ERR!", "error[",    "[ERROR", "[WARN", "[INFO", "[DEBUG"};
  if (std::ranges::any_of(kBegins, [&](auto begin) { return line.starts_with(begin); }) ||
      (line.starts_with('-') && !line.starts_with("- ")) ||
      (line.starts_with("at ") && line.find_first_of("(:") != std::string_view::npos)) {
    return true;
  }
  // "2026-01-31", "11:07:02", wherever a log has them: '0' stands for a digit.
  constexpr std::size_t kStampEnd = 40;
  std::string shape(line.substr(0, kStampEnd));
  std::ranges::replace_if(shape, is_digit, '0');
  return shape.contains("00:00:00") || shape.starts_with("0000-00-00") ||
         shape.starts_with("[0000-00-00") || shape.starts_with("0000/00/00");
}

/// The first colon of `text` from `at` on that something follows, or that ends it; npos when there
/// is none. A colon within a word, an address or a time is none.
std::size_t telling_colon(std::string_view text, std::size_t at) {
  static constexpr std::string_view kWide = "\uff1a";
  for (; at < text.size(); ++at) {
    if (text.substr(at).starts_with(kWide)) {
      return at;
    }
    if (text[at] == ':') {
      const std::size_t next = text.find_first_not_of("*_\"')]", at + 1);
      if (next == std::string_view::npos || is_unprinted(text[next])) {
        return at;
      }
    }
  }
  return std::string_view::npos;
}

/// Whether the '.' at `at` belongs to the word before it: "e.g.", "vs.", "J. Doe".
bool is_abbreviation(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 8> kShort = {"e.g", "i.e",    "vs", "etc",
                                                             "cf",  "approx", "Mr", "Dr"};
  assert(at < text.size() && text[at] == '.');
  const std::size_t blank = text.rfind(' ', at);
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin, at - begin);
  return std::ranges::any_of(kShort, [&](auto known) { return word.ends_with(known); }) ||
         (word.size() == 1 && word != "I");
}

/// The size of the signs at the front of `text` that end a sentence in Chinese and Japanese, with
/// the quotes after them; 0 for any other.
std::size_t wide_stop_size(std::string_view text) {
  static constexpr std::array<std::string_view, 3> kStops = {"\u3002", "\uff01", "\uff1f"};
  static constexpr std::array<std::string_view, 3> kQuotes = {"\u201d", "\u300d", "\u300f"};
  const auto begins = [&](const auto& signs, std::size_t at) {
    return std::ranges::any_of(signs, [&](auto sign) { return text.substr(at).starts_with(sign); });
  };
  std::size_t size = begins(kStops, 0) ? kStops[0].size() : 0;
  while (size > 0 && begins(kQuotes, size)) {
    size += kQuotes[0].size();
  }
  return size;
}

/// Collects paragraphs and takes them apart.
class SentenceCollector {
 public:
  /// What comes from here on may be pasted.
  void begin_paste() {
    end_paragraph();
    is_paste_ = true;
  }

  /// A line of prose; `begins_anew` when it cannot belong to the one before.
  void add_line(std::string_view line, bool begins_anew, bool is_indented) {
    assert(!line.empty());
    const bool goes_on = !begins_anew && last_line_size_ >= kWrappedSize && is_lower(line.front());
    if (!goes_on) {
      end_paragraph();
    }
    is_indented_ = is_indented_ || is_indented;
    paragraph_ += paragraph_.empty() ? "" : " ";
    paragraph_ += line;
    last_line_size_ = line.size();
    const std::string_view words = trimmed(line, "*_\"')] ");
    if (words.ends_with(':') || words.ends_with("\uff1a")) {
      begin_paste();
    }
  }

  void end_paragraph() {
    const std::string_view text = paragraph_;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (const std::size_t wide = wide_stop_size(text.substr(at)); wide != 0) {
        add_sentence(text.substr(begin, at + wide - begin));
        begin = at + wide;
        at = begin - 1;
        continue;
      }
      if (text[at] != '.' && text[at] != '!' && text[at] != '?') {
        continue;
      }
      std::size_t end = at + 1;
      while (end < text.size() && std::string_view(".!?\"')]*_").contains(text[end])) {
        ++end;
      }
      const bool at_end = end == text.size();
      if ((at_end || is_unprinted(text[end])) &&
          !(!at_end && text[at] == '.' && end == at + 1 && is_abbreviation(text, at))) {
        add_sentence(text.substr(begin, end - begin));
        begin = end;
      }
      at = end - 1;
    }
    add_sentence(text.substr(begin));
    paragraph_.clear();
    last_line_size_ = 0;
    is_indented_ = false;
  }

  std::vector<MessageSentence> take() {
    end_paragraph();
    return std::move(sentences_);
  }

 private:
  void add_sentence(std::string_view text) {
    text = without_controls_around(text);
    const std::string_view words = trimmed(text, "\"')]*_ ");
    const bool is_question = words.ends_with('?') || words.ends_with("\uff1f");
    text = utf8_prefix(text, kSentenceSizeMax);
    MessageSentence sentence{.is_question = is_question};
    for (const char c : text) {
      if (!is_unprinted(c)) {
        sentence.text += c;
      } else if (!sentence.text.empty() && sentence.text.back() != ' ') {
        sentence.text += ' ';
      }
    }
    is_paste_ = is_paste_ || quotes_others(sentence.text);
    sentence.may_be_pasted = is_paste_ || is_indented_;
    assert(sentence.text.size() <= kSentenceSizeMax);
    if (!sentence.text.empty()) {
      sentences_.push_back(std::move(sentence));
    }
  }

  /// Whether a colon of `sentence` has something else than an own lead before it.
  static bool quotes_others(std::string_view sentence) {
    for (std::size_t colon = telling_colon(sentence, 0); colon != std::string_view::npos;
         colon = telling_colon(sentence, colon + 1)) {
      if (!is_own_lead(sentence.substr(0, colon))) {
        return true;
      }
    }
    return false;
  }

  std::string paragraph_;
  bool is_indented_ = false;  // The paragraph.
  bool is_paste_ = false;
  std::size_t last_line_size_ = 0;
  std::vector<MessageSentence> sentences_;
};

constexpr std::size_t kCandidateSizeMax = 600;
constexpr std::size_t kSentencesMax = 300;  // Nobody types more, and each takes some 0.1 ms.

/// The first kCandidateWordsMax words of `sentence`, and no more than fits on a page.
std::string cut(std::string_view sentence) {
  std::size_t count = 0;
  std::size_t end = 0;
  while (end < sentence.size() && count < kCandidateWordsMax) {
    end = std::min(sentence.find(' ', end + 1), sentence.size());
    ++count;
  }
  assert(end <= sentence.size() && count <= kCandidateWordsMax);
  return std::string(utf8_prefix(sentence.substr(0, end), kCandidateSizeMax));
}

}  // namespace

std::vector<MessageSentence> message_sentences(std::string_view message) {
  const ClosingTags closing(message);
  SentenceCollector collector;
  bool in_fence = false;
  for (std::size_t at = 0; at < message.size();) {
    const std::size_t newline = std::min(message.find('\n', at), message.size());
    const std::string_view raw = message.substr(at, newline - at);
    const std::size_t indent = std::min(raw.find_first_not_of(' '), raw.size());
    const std::string_view line = without_controls_around(raw);
    const std::string_view tag = in_fence ? std::string_view() : tag_name(line);
    if (!tag.empty() && !tag.contains("user")) {
      const std::size_t begin = at + raw.find('<');
      if (const std::size_t end = closing.end_of(tag, begin); end > begin) {
        collector.end_paragraph();
        at = end;
        continue;
      }
    }
    at = newline + 1;
    if (is_fence(line)) {
      in_fence = !in_fence;
    } else if (!in_fence && is_of_log(line)) {
      collector.begin_paste();
    }
    const std::string_view said = without_bullet(line);
    const bool is_bullet = said.size() != line.size();
    if (in_fence || is_fence(line) || said.empty() || raw.starts_with('\t') ||
        is_no_prose(line, indent, is_bullet)) {
      collector.end_paragraph();
    } else {
      collector.add_line(said, is_bullet, indent >= 4);
    }
  }
  return collector.take();
}

std::vector<PreferenceCandidate> detect_preferences(std::string_view message) {
  std::vector<PreferenceCandidate> candidates;
  std::set<std::string, std::less<>> seen;
  const std::vector<MessageSentence> sentences = message_sentences(message);
  for (std::size_t index = 0; index < std::min(sentences.size(), kSentencesMax) &&
                              candidates.size() < kCandidatesPerMessageMax;
       ++index) {
    const std::string sentence = cut(sentences[index].text);
    const std::optional<StatedRule> rule =
        seen.insert(sentence).second ? stated_rule(sentence) : std::nullopt;
    if ((rule || !candidates.empty()) && takes_back(sentence)) {
      candidates.clear();
    } else if (rule) {
      candidates.push_back({.sentence = sentence,
                            .category = rule->category,
                            .confidence = rule->confidence,
                            .may_be_pasted = sentences[index].may_be_pasted,
                            .sentence_index = index});
    }
  }
  assert(candidates.size() <= kCandidatesPerMessageMax);
  return candidates;
}

}  // namespace bmad_mem
