#include "preference_detector.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"

namespace bmad_mem {
namespace {

// What somebody says in a message, sentence by sentence: without code,
// quotations, headings, and what a host program has put in between.

/// A line this long that ends in the middle of a sentence was wrapped.
constexpr std::size_t kWrappedSize = 60;

bool is_blank(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; }
std::string_view without_controls_around(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_blank(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

/// The name of the tag that `text` begins with, such as "system-reminder"; empty when there is
/// none.
std::string_view tag_name(std::string_view text) {
  constexpr std::size_t kTagSizeMax = 40;
  if (text.size() < 3 || text[0] != '<' || !is_lower(text[1])) {
    return {};
  }
  std::size_t end = 1;
  while (end < text.size() && end <= kTagSizeMax &&
         (is_lower(text[end]) || is_digit(text[end]) || text[end] == '-' || text[end] == '_')) {
    ++end;
  }
  const bool ends = end < text.size() && (text[end] == '>' || text[end] == ' ');
  return ends ? text.substr(1, end - 1) : std::string_view();
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
  std::size_t size = 0;
  if (line.starts_with("- ") || line.starts_with("* ") || line.starts_with("+ ")) {
    size = 2;
  } else if (line.starts_with("\u2022")) {
    size = std::string_view("\u2022").size();
  } else {
    std::size_t digits = 0;
    while (digits < line.size() && digits < 3 && is_digit(line[digits])) {
      ++digits;
    }
    digits = digits == 0 && line.size() > 2 && is_lower(line[0]) && line[1] == ')' ? 1 : digits;
    const bool marked = digits != 0 && digits + 1 < line.size() &&
                        (line[digits] == '.' || line[digits] == ')') && line[digits + 1] == ' ';
    size = marked ? digits + 2 : 0;
  }
  line.remove_prefix(size);
  line = without_controls_around(line);
  return line.starts_with("[ ] ") || line.starts_with("[x] ") ? line.substr(4) : line;
}

/// Whether the '.' at `at` belongs to the word before it: "e.g.", "vs.", "J. Doe".
bool is_abbreviation(std::string_view text, std::size_t at) {
  static constexpr std::array<std::string_view, 8> kShort = {"e.g", "i.e",    "vs", "etc",
                                                             "cf",  "approx", "Mr", "Dr"};
  const std::size_t blank = text.rfind(' ', at);
  const std::size_t begin = blank == std::string_view::npos ? 0 : blank + 1;
  const std::string_view word = text.substr(begin, at - begin);
  return std::ranges::any_of(kShort, [&](auto known) { return word.ends_with(known); }) ||
         (word.size() == 1 && word != "I");
}

/// Collects paragraphs and takes them apart.
class SentenceCollector {
 public:
  /// A line of prose; `begins_anew` when it cannot belong to the one before.
  void add_line(std::string_view line, bool begins_anew) {
    const bool goes_on = !begins_anew && last_line_size_ >= kWrappedSize && is_lower(line.front());
    if (!goes_on) {
      end_paragraph();
    }
    paragraph_ += paragraph_.empty() ? "" : " ";
    paragraph_ += line;
    last_line_size_ = line.size();
  }

  void end_paragraph() {
    const std::string_view text = paragraph_;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] != '.' && text[at] != '!' && text[at] != '?') {
        continue;
      }
      std::size_t end = at + 1;
      while (end < text.size() && std::string_view(".!?\"')]*_").contains(text[end])) {
        ++end;
      }
      const bool at_end = end == text.size();
      if ((at_end || is_blank(text[end])) &&
          !(!at_end && text[at] == '.' && end == at + 1 && is_abbreviation(text, at))) {
        add_sentence(text.substr(begin, end - begin));
        begin = end;
      }
      at = end - 1;
    }
    add_sentence(text.substr(begin));
    paragraph_.clear();
    last_line_size_ = 0;
  }

  std::vector<MessageSentence> take() {
    end_paragraph();
    return std::move(sentences_);
  }

 private:
  void add_sentence(std::string_view text) {
    text = without_controls_around(text);
    const std::size_t last = text.find_last_not_of("\"')]*_ ");
    const bool is_question = last != std::string_view::npos && text[last] == '?';
    text = utf8_prefix(text, kSentenceSizeMax);
    MessageSentence sentence{.text = {}, .is_question = is_question};
    for (const char c : text) {
      if (!is_blank(c)) {
        sentence.text += c;
      } else if (!sentence.text.empty() && sentence.text.back() != ' ') {
        sentence.text += ' ';
      }
    }
    if (!sentence.text.empty()) {
      sentences_.push_back(std::move(sentence));
    }
  }

  std::string paragraph_;
  std::size_t last_line_size_ = 0;
  std::vector<MessageSentence> sentences_;
};

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
    }
    const std::string_view said = without_bullet(line);
    const bool is_bullet = said.size() != line.size();
    if (in_fence || is_fence(line) || said.empty() || raw.starts_with('\t') ||
        is_no_prose(line, indent, is_bullet)) {
      collector.end_paragraph();
    } else {
      collector.add_line(said, is_bullet);
    }
  }
  return collector.take();
}

namespace {

constexpr std::size_t kCandidateSizeMax = 600;

/// The cues by the words they may begin with, so that a word meets only its own.
class CueTable {
 public:
  explicit CueTable(std::span<const PreferenceCue> cues) {
    for (const PreferenceCue& cue : cues) {
      const std::string_view first = cue.words.substr(0, cue.words.find(' '));
      if (first.front() == '@') {
        any_.push_back(&cue);
        continue;
      }
      for (std::string_view rest = first; !rest.empty();) {
        const std::size_t end = std::min(rest.find('|'), rest.size());
        by_word_[rest.substr(0, end)].push_back(&cue);
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  }

  /// Calls `visit(cue)` for each that may begin with `word`.
  template <typename Visit>
  void visit(std::string_view word, Visit visit) const {
    if (const auto found = by_word_.find(word); found != by_word_.end()) {
      std::ranges::for_each(found->second, visit);
    }
    if (!word.empty()) {
      std::ranges::for_each(any_, visit);
    }
  }

 private:
  std::map<std::string_view, std::vector<const PreferenceCue*>> by_word_;
  std::vector<const PreferenceCue*> any_;
};

struct FoundCue {
  const PreferenceCue* cue = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Looks at one sentence.
class SentenceReader {
 public:
  explicit SentenceReader(const std::vector<SentenceWord>& words)
      : words_(words), matcher_(words), begins_(words.size(), false) {
    for (std::size_t at = 0; at < words.size(); ++at) {
      if (words[at].begins_clause) {
        mark_begins(at);
      }
    }
  }

  [[nodiscard]] std::optional<FoundCue> best() const {
    static const CueTable kTable(preference_cues());
    std::optional<FoundCue> best;
    for (std::size_t at = 0; at < words_.size(); ++at) {
      kTable.visit(words_[at].text, [&](const PreferenceCue* cue) {
        if (best && cue->confidence <= best->cue->confidence) {
          return;
        }
        if (const auto end = fits(*cue, at)) {
          best = FoundCue{.cue = cue, .begin = at, .end = *end};
        }
      });
    }
    return best && is_stated(best->begin) ? best : std::nullopt;
  }

 private:
  /// A cue may begin where a clause does, and behind what leads in there: "ok, and please always".
  void mark_begins(std::size_t at) {
    static const CueTable kPhrases(lead_in_phrases());
    while (at < words_.size() && !begins_[at]) {
      begins_[at] = true;
      std::size_t next = is_lead_in(words_[at].text) ? at + 1 : at;
      kPhrases.visit(words_[at].text, [&](const PreferenceCue* phrase) {
        next = std::max(next, matcher_.end_of(phrase->words, at).value_or(next));
      });
      at = next;  // Unmoved: the loop ends, since this word is marked.
    }
  }

  [[nodiscard]] std::optional<std::size_t> fits(const PreferenceCue& cue, std::size_t at) const {
    if (!cue.anywhere && !begins_[at]) {
      return std::nullopt;
    }
    const auto end = matcher_.end_of(cue.words, at);
    return end && (!cue.anywhere || has_instruction(*end)) ? end : std::nullopt;
  }

  /// Whether the sentence tells somebody to do something, where a clause begins or at `after`.
  [[nodiscard]] bool has_instruction(std::size_t after) const {
    for (std::size_t at = 0; at < words_.size(); ++at) {
      if ((begins_[at] || at == after) && matcher_.is_instruction(at)) {
        return true;
      }
    }
    return false;
  }

  /// Whether what begins at word `begin` is stated: not supposed, and not what others say.
  [[nodiscard]] bool is_stated(std::size_t begin) const {
    bool has_if = false;
    bool has_would = false;
    for (std::size_t at = 0; at < begin; ++at) {
      const std::string_view word = words_[at].text;
      const bool by_me = at > 0 && is_one_of("i|i've|we|we've|already|just", words_[at - 1].text);
      if (is_supposing(word) || (is_reporting(word) && !by_me) ||
          (words_[at].ends_clause && is_report_head(word))) {
        return false;
      }
      has_if = has_if || word == "if";
      has_would = has_would || is_one_of("would|could|might|were|had", word);
    }
    return !(has_if && has_would);
  }

  const std::vector<SentenceWord>& words_;
  CueMatcher matcher_;
  std::vector<bool> begins_;
};

/// "why do you always …", without a question mark.
bool asks(const std::vector<SentenceWord>& words) {
  static constexpr std::string_view kAsking =
      "why|how|what|who|where|which|should|could|can|does|did|is|are|am|was|were|will|would|has|"
      "isn't|aren't|doesn't|didn't|couldn't|shouldn't|wouldn't|have";
  const std::string_view first = words.front().text;
  return is_one_of(kAsking, first) ||
         (first == "do" && words.size() > 1 && is_one_of("i|you|we|they|the|these", words[1].text));
}

std::string cue_text(const std::vector<SentenceWord>& words, const FoundCue& found) {
  constexpr std::size_t kCueWordsMax = 6;
  std::string text;
  for (std::size_t at = found.begin; at < std::min(found.end, found.begin + kCueWordsMax); ++at) {
    text += text.empty() ? "" : " ";
    text += words[at].text.empty() ? "\u2026" : words[at].text;
  }
  return text;
}

/// The first kCandidateWordsMax words of `sentence`, and no more than fits on a page.
std::string cut(std::string_view sentence) {
  std::size_t count = 0;
  std::size_t end = 0;
  while (end < sentence.size() && count < kCandidateWordsMax) {
    end = std::min(sentence.find(' ', end + 1), sentence.size());
    ++count;
  }
  return std::string(utf8_prefix(sentence.substr(0, end), kCandidateSizeMax));
}

}  // namespace

std::vector<PreferenceCandidate> detect_preferences(std::string_view message) {
  constexpr std::size_t kWordsMin = 2;
  std::vector<PreferenceCandidate> candidates;
  std::set<std::string, std::less<>> seen;
  const std::vector<MessageSentence> sentences = message_sentences(message);
  for (std::size_t index = 0;
       index < sentences.size() && candidates.size() < kCandidatesPerMessageMax; ++index) {
    if (sentences[index].is_question) {
      continue;
    }
    const std::vector<SentenceWord> words = sentence_words(sentences[index].text);
    if (words.size() < kWordsMin || asks(words)) {
      continue;
    }
    const std::optional<FoundCue> found = SentenceReader(words).best();
    if (!found) {
      continue;
    }
    const bool may_be_style = found->cue->category == Category::kUserPreference ||
                              found->cue->category == Category::kConstraint;
    const bool is_style = may_be_style && std::ranges::any_of(words, [](const SentenceWord& word) {
                            return is_about_style(word.text);
                          });
    PreferenceCandidate candidate{.sentence = cut(sentences[index].text),
                                  .category = is_style ? Category::kStyle : found->cue->category,
                                  .confidence = found->cue->confidence,
                                  .cue = cue_text(words, *found),
                                  .sentence_index = index};
    if (seen.insert(candidate.sentence).second) {
      candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

}  // namespace bmad_mem
