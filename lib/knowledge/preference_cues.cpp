#include <algorithm>
#include <array>
#include <utility>

#include "bmad_mem/text.hpp"
#include "knowledge_words.hpp"
#include "preference_detector.hpp"

namespace bmad_mem {
namespace {

/// `text` with the apostrophes, quotation marks and dashes that typewriters had.
std::string plain(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFancy = {
      {{"\u2019", "'"},
       {"\u2018", "'"},
       {"\u201c", "\""},
       {"\u201d", "\""},
       {"\u2014", " - "},
       {"\u2013", " - "}}};
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto* const found = std::ranges::find_if(
        kFancy, [&](const auto& each) { return text.substr(at).starts_with(each.first); });
    if (found != kFancy.end()) {
      out += found->second;
      at += found->first.size();
    } else {
      out += to_lower(text[at++]);
    }
  }
  return out;
}

/// Tells for one word after the other whether it is quoted.
class QuoteTracker {
 public:
  explicit QuoteTracker(std::string_view sentence)
      : double_quotes_pair_(std::ranges::count(sentence, '"') % 2 == 0) {}

  bool is_quoted(std::string_view word, std::string_view rest) {
    const bool was_in = in_double_ || in_code_ || in_single_;
    const bool opens_single = !in_single_ && word.size() > 1 && word.front() == '\'' &&
                              (ends_single(word.substr(1)) || closes_single(rest));
    in_single_ = in_single_ || opens_single;
    const bool quoted = was_in || opens_single || word.starts_with('`') ||
                        (double_quotes_pair_ && word.starts_with('"'));
    in_code_ = in_code_ != (std::ranges::count(word, '`') % 2 == 1);
    in_double_ = in_double_ != (double_quotes_pair_ && std::ranges::count(word, '"') % 2 == 1);
    in_single_ = in_single_ && !ends_single(opens_single ? word.substr(1) : word);
    return quoted;
  }

 private:
  static bool ends_single(std::string_view word) {
    const std::size_t last = word.find_last_not_of(".,;:!?)");
    return last != std::string_view::npos && word[last] == '\'';
  }
  static bool closes_single(std::string_view rest) {
    for (const std::string_view end : {"' ", "'.", "',", "'!", "'?", "')"}) {
      if (rest.contains(end)) {
        return true;
      }
    }
    return rest.ends_with('\'');
  }

  bool double_quotes_pair_;
  bool in_double_ = false;
  bool in_single_ = false;
  bool in_code_ = false;
};

}  // namespace

std::vector<SentenceWord> sentence_words(std::string_view sentence) {
  const std::string text = plain(sentence);
  std::vector<SentenceWord> words;
  QuoteTracker quotes(text);
  bool begins_clause = true;
  for (std::size_t at = 0; at < text.size() && words.size() < kSentenceWordsMax;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view raw = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (raw.empty()) {
      continue;
    }
    const std::string_view rest = at < text.size() ? std::string_view(text).substr(at) : "";
    const bool quoted = quotes.is_quoted(raw, rest);
    const std::size_t first = raw.find_first_not_of("([{*_\"'`-.,;:!?)}]>~");
    if (first == std::string_view::npos) {  // A dash, an arrow, a row of dots.
      begins_clause = true;
      if (!words.empty()) {
        words.back().ends_clause = true;
      }
      continue;
    }
    const std::size_t last = raw.find_last_not_of(")]}*_\"'`-.,;:!?>~");
    const std::string_view around = raw.substr(last + 1);
    const bool ends = around.find_first_of(",;:!?)].") != std::string_view::npos;
    words.push_back(
        {.text = quoted ? std::string() : std::string(raw.substr(first, last + 1 - first)),
         .begins_clause =
             begins_clause || raw.substr(0, first).find_first_of("([") != std::string_view::npos,
         .ends_clause = ends});
    begins_clause = ends;
  }
  return words;
}

namespace {

constexpr Category kUser = Category::kUserPreference;
constexpr Category kRule = Category::kConstraint;
constexpr Category kDecided = Category::kDecision;
constexpr Category kFact = Category::kProjectFact;
constexpr Category kLooks = Category::kStyle;

// The more a cue says that something is to hold for long, the higher its confidence. What is asked
// for as often for this once is at 0.4 to 0.5.
constexpr PreferenceCue kCues[] = {
    // What the user likes.
    {"i ?really|much|strongly|generally|usually|always|still|personally|also|would prefer", kUser,
     0.7},
    {"i'd ?really|much|strongly|generally|always|also prefer", kUser, 0.65},
    {"my ?personal|strong|clear preference is", kUser, 0.7},
    {"i ?generally|usually|always favor|favour", kUser, 0.6},
    {"i'd ?much rather you|we|not|have|use|keep|see|avoid", kUser, 0.55},
    {"i ?really|do|also like|love it|that when|if", kUser, 0.6},
    {"i ?really|do|also like|love to @verb", kUser, 0.5},
    {"i ?really|do|also like|love my|having|using .", kUser, 0.45},
    {"i don't|do ?really|not like|want it|that when|if", kUser, 0.65},
    {"i don't ?really|ever like|want to see|any|you|your|unnecessary|more", kUser, 0.55},
    {"i do not ?really|ever like|want to see|any|you|your|unnecessary|more", kUser, 0.55},
    {"i ?really|absolutely hate|dislike !it|this|that|you|these|those|to|how", kUser, 0.5},
    {"i can't|cannot stand !it|this|that|you|these|those|up", kUser, 0.55},
    {"i ?also|really hate|dislike|like it when", kUser, 0.65},
    {"i ?do|also|only always want|expect|need", kUser, 0.6},
    {"i never want|need", kUser, 0.65},
    {"i want|expect|need you|us|everyone to always|never", kUser, 0.7},
    {"i want|expect|need all|every|each", kUser, 0.5},
    {"i'd like you|us to always|never", kUser, 0.7},
    {"i ?almost always|never @verb", kUser, 0.5},
    {"i only|mostly|usually use|write|accept|want|review|merge", kUser, 0.5},
    {"call|address me .", kUser, 0.6},
    {"default to .", kUser, 0.55},

    // What is to be, or not to be, from now on.
    {"from now on", kUser, 0.75, true},
    {"from now onwards", kUser, 0.7, true},
    {"from here on", kUser, 0.65, true},
    {"from today on", kUser, 0.7, true},
    {"from this point on|forward|onward|onwards", kUser, 0.7, true},
    {"going|moving forward", kUser, 0.6, true},
    {"as of now", kUser, 0.55, true},
    {"in future", kUser, 0.55, true},
    {"in the future", kUser, 0.55, true},
    {"for the future", kUser, 0.55, true},
    {"henceforth", kUser, 0.65, true},
    {"next time ~i|it|we|they|he|she|someone", kUser, 0.5, true},
    {"by default", kUser, 0.5, true},
    {"every|each time you|we|i @verb", kRule, 0.5, true},
    {"whenever you|we|i @verb", kRule, 0.55, true},
    {"stop|quit !being|doing|running|working|trying|thinking|responding|loading @ing", kUser, 0.55},
    {"use|write|prefer|call|name|choose|pick|say|run|import|put * instead", kUser, 0.45},
    {"use|write|prefer|choose|pick|run * rather than", kUser, 0.45},
    {"prefer . * over|to", kUser, 0.6},
    {"stick to|with !it|that|this", kUser, 0.45},

    // What must or must not be.
    {"always @verb", kRule, 0.7},
    {"never ?ever @verb", kRule, 0.7},
    {"don't|do ever @verb", kRule, 0.7},
    {"do not ever @verb", kRule, 0.7},
    {"don't|never @verb * again", kRule, 0.6},
    {"do not @verb * again", kRule, 0.6},
    {"don't @verb * anymore", kRule, 0.55},
    {"don't @verb * any more", kRule, 0.55},
    {"do not @verb * anymore|without|unless", kRule, 0.55},
    {"don't @verb * without|unless", kRule, 0.55},
    {"you|we|they|agents|developers|everyone should|must|shall ?only always|never", kRule, 0.65},
    {"you|we should|must|can|shall not|never @verb", kRule, 0.5},
    {"you|we mustn't @verb", kRule, 0.6},
    {"you|we must ?only|not @verb", kRule, 0.55},
    {"you|we need|have to always|never", kRule, 0.65},
    {"you're not|never allowed|supposed to", kRule, 0.55},
    {"you are not|never allowed|supposed to", kRule, 0.55},
    {"you|we ?should always|never @verb", kRule, 0.55},
    {"@subject must ?not|never|always|only @verb", kRule, 0.55},
    {"@subject must ?not|never|always|only be @state", kRule, 0.5},
    {"@subject must ?not|never|always|only have !been|had|felt|it|some|something", kRule, 0.45},
    {"@subject must ?not|never|always|only match|pass|stay|end|start|include|contain|live|go",
     kRule, 0.5},
    {"@subject should always|never", kRule, 0.55},
    {"under no circumstances", kRule, 0.7},
    {"it's important to|that !know|note|me|see|understand", kRule, 0.45},
    {"it is important to|that !know|note|me|see|understand", kRule, 0.45},
    {"make sure ?to|that|you|we|the|all|every|each|no|nothing|your !it|this|that's", kRule, 0.45},
    {"be sure to", kRule, 0.45},
    {"ensure that|all|every|each|no", kRule, 0.45},
    {"avoid !being|getting|having|doing @ing", kRule, 0.45},
    {"don't forget to|that", kRule, 0.45},
    {"do not forget to|that", kRule, 0.45},
    {"remember to", kRule, 0.5},
    {"let's always|never|not", kRule, 0.5},
    {"we|you can't|cannot use|call|rely|depend|import|add|change|break", kRule, 0.4},

    // What was decided.
    {"we ?all|have|finally|already|both decided|agreed|settled|chose|opted "
     "to|on|that|against|not|for|never|upon",
     kDecided, 0.7},
    {"we've ?all|finally|already|both decided|agreed|settled|chosen|opted "
     "to|on|that|against|not|for|never|upon",
     kDecided, 0.7},
    {"we|i picked|chose|selected !it|this|that|up|the|him|her|them", kDecided, 0.55},
    {"we've|i've picked|chosen|selected !it|this|that|up", kDecided, 0.55},
    {"we|i went with|for !it|that|this|a", kDecided, 0.5},
    {"we're going|sticking with !it|that|this", kDecided, 0.6},
    {"we are going|sticking with !it|that|this", kDecided, 0.6},
    {"we'll go|stick with !it|that|this", kDecided, 0.55},
    {"we will|shall go|stick with !it|that|this", kDecided, 0.55},
    {"we're|we've ?now standardizing|standardising|standardized|standardised on", kDecided, 0.65},
    {"we are|have ?now standardizing|standardising|standardized|standardised on", kDecided, 0.65},
    {"i|i've ?have|just|finally decided to use|keep|go|drop|switch|move|stick|adopt|support|remove",
     kDecided, 0.5},
    {"i|i've ?have|just|finally decided against|that|on", kDecided, 0.5},
    {"let's stick|go|stay with !it|that|this|option|the|your|those|these", kDecided, 0.6},
    {"let's stick|stay with the|option", kDecided, 0.55},
    {"let's go with the|option", kDecided, 0.45},
    {"let's settle|standardize|standardise on", kDecided, 0.65},
    {"let's keep using|to", kDecided, 0.55},
    {"the|our ?final|team's decision is|was to|that|not|against|no", kDecided, 0.65},
    {"decision : .", kDecided, 0.65},
    {"it was|is decided|agreed that|to", kDecided, 0.6},
    {"the team|everyone|everybody decided|agreed to|on|that|against", kDecided, 0.6},

    // How things are called and laid out.
    {"our ?naming|coding|code|own style|convention|conventions|rule|policy|standard is|are", kLooks,
     0.65},
    {"the ?naming|coding|code|house|project style|convention|conventions|rule|policy ?here is|are",
     kLooks, 0.55},
    {"we name|indent|format|capitalize|prefix|suffix|spell !it|this|that", kLooks, 0.5},

    // What is the case.
    {"remember that !time|one|day|night|guy|movie|song|thing|feeling|bug|trip|place|show", kFact,
     0.6},
    {"remember we|our|the|this|i|it's|all|there", kFact, 0.45},
    {"keep|bear in mind ?that .", kFact, 0.5},
    {"note|notice that", kFact, 0.45},
    {"be aware that|of", kFact, 0.45},
    {"just so you know", kFact, 0.45},
    {"for your information", kFact, 0.45},
    {"fyi", kFact, 0.45},
    {"for context", kFact, 0.4},
    {"in|on|for|throughout this|our ?whole project|repo|repository|codebase|team|app|monorepo "
     "we|everything|all|nothing|never|always",
     kFact, 0.6},
    {"this|our project|repo|repository|codebase|monorepo|app uses|targets|requires|supports|runs",
     kFact, 0.5},
};

constexpr PreferenceCue kLeadInPhrases[] = {
    {.words = "as|like i ?already|just said|mentioned|told"},
    {.words = "as|like mentioned|discussed|agreed"},
    {.words = "i ?already|just told you ?to|that"},
    {.words = "i ?already|just said ?to|that"},
    {.words = "i ?do think|guess|believe|mean|feel|know ?that"},
    {.words = "i'd say|suggest ?that"},
    {.words = "by the way"},
    {.words = "in general"},
    {.words = "for the record"},
    {.words = "one ?more|last|other thing|note"},
    {.words = "to be clear"},
    {.words = "just to be clear"},
    {.words = "i realized|noticed|forgot that"},
};

}  // namespace

std::span<const PreferenceCue> preference_cues() { return kCues; }
std::span<const PreferenceCue> lead_in_phrases() { return kLeadInPhrases; }

bool is_instruction_verb(std::string_view word) {
  if (kInstructionVerbs.contains(word) ||
      (word.starts_with("re") && kInstructionVerbs.contains(word.substr(2)))) {
    return true;
  }
  // "force-push", "double-check": the verb is what comes last.
  const std::size_t hyphen = word.rfind('-');
  return hyphen != std::string_view::npos && kInstructionVerbs.contains(word.substr(hyphen + 1));
}

bool is_required_state(std::string_view word) {
  const bool is_participle = word.size() > 4 && (word.ends_with("ed") || word.ends_with("en"));
  return kRequiredStates.contains(word) || (is_participle && !kGuessedStates.contains(word));
}

bool is_lead_in(std::string_view word) { return kLeadInWords.contains(word); }
bool is_supposing(std::string_view word) { return kSupposingWords.contains(word); }
bool is_reporting(std::string_view word) { return kReportingWords.contains(word); }
bool is_report_head(std::string_view word) { return kReportHeads.contains(word); }
bool is_about_style(std::string_view word) { return kStyleWords.contains(word); }

namespace {

constexpr std::size_t kGapMax = 8;
constexpr std::size_t kSubjectMax = 6;

/// "adding", and not "thing" or "string".
bool is_gerund(std::string_view word) {
  return word.size() > 5 && word.ends_with("ing") &&
         !is_one_of("anything|everything|nothing|something|string|spring|during|warning|morning",
                    word);
}

}  // namespace

bool is_one_of(std::string_view choices, std::string_view word) {
  while (!word.empty() && !choices.empty()) {
    const std::size_t end = std::min(choices.find('|'), choices.size());
    if (choices.substr(0, end) == word) {
      return true;
    }
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return false;
}

std::optional<std::size_t> CueMatcher::end_of(std::string_view cue, std::size_t at) const {
  if (cue.empty()) {
    return at;
  }
  const std::size_t size = std::min(cue.find(' '), cue.size());
  const std::string_view element = cue.substr(0, size);
  const std::string_view rest = cue.substr(std::min(size + 1, cue.size()));
  switch (element.front()) {
    case '?':
      if (is_one_of(element.substr(1), word(at))) {
        if (const auto end = end_of(rest, at + 1)) {
          return end;
        }
      }
      return end_of(rest, at);
    case '*':
      return end_after_gap(rest, at, 0, kGapMax, false);
    case '!': {
      const bool fits = at < words_.size() && !is_one_of(element.substr(1), word(at));
      // What follows looks at this word itself; at the end of a cue it is the last word.
      return fits ? end_of(rest, rest.empty() ? at + 1 : at) : std::nullopt;
    }
    case '~':
      return is_one_of(element.substr(1), word(at)) ? std::nullopt : end_of(rest, at);
    case ':':
      return at > 0 && words_[at - 1].ends_clause ? end_of(rest, at) : std::nullopt;
    case '@':
      if (element == "@subject") {
        return end_after_gap(rest, at, 1, kSubjectMax, true);
      }
      return is_of_kind(element, at) ? end_of(rest, at + 1) : std::nullopt;
    default:
      break;
  }
  const bool fits = at < words_.size() && (element == "." || is_one_of(element, word(at)));
  return fits ? end_of(rest, at + 1) : std::nullopt;
}

bool CueMatcher::is_instruction(std::size_t at) const {
  static constexpr std::array<std::string_view, 10> kForms = {
      "@verb",
      "don't|always|never|please|only @verb",
      "do not @verb",
      "let's .",
      "no !problem|worries|idea|need|way|thanks|longer",
      "stop @ing",
      "i|we want|prefer|expect|need",
      "i'd prefer|like|rather",
      "you|we should|must|need|have|shall",
      "you|we ?will|always|never|only @verb",
  };
  return std::ranges::any_of(kForms, [&](auto form) { return end_of(form, at).has_value(); });
}

std::string_view CueMatcher::word(std::size_t at) const {
  return at < words_.size() ? std::string_view(words_[at].text) : std::string_view();
}

bool CueMatcher::is_of_kind(std::string_view element, std::size_t at) const {
  return element == "@ing"     ? is_gerund(word(at))
         : element == "@state" ? is_required_state(word(at))
                               : is_verb(at);
}

/// "run", but not the one of "run into".
bool CueMatcher::is_verb(std::size_t at) const {
  return is_instruction_verb(word(at)) &&
         !is_one_of("into|across|up|out|down|forever|sense|it's|that's|is|was|has", word(at + 1));
}

/// Whether the word at `at` can't be part of what a rule is about.
bool CueMatcher::is_no_subject(std::size_t at, bool is_first) const {
  static constexpr std::string_view kNoSubjects =
      "it|that|this|there|you|he|she|they|we|i|if|when|because|who|what|which|someone|somebody|"
      "one|to|but|so|as|think|guess|know|believe|thought|for|with|from|must|should|and|or|only|"
      "like|also|your|my|his|her|their";
  return is_one_of(kNoSubjects, word(at)) || words_[at].ends_clause ||
         (is_first && is_gerund(word(at)));
}

std::optional<std::size_t> CueMatcher::end_after_gap(std::string_view rest, std::size_t at,
                                                     std::size_t min, std::size_t max,
                                                     bool is_subject) const {
  for (std::size_t count = 0; count <= max && at + count <= words_.size(); ++count) {
    if (count > 0 && is_subject && is_no_subject(at + count - 1, count == 1)) {
      return std::nullopt;
    }
    if (count >= min) {
      if (const auto end = end_of(rest, at + count)) {
        return end;
      }
    }
  }
  return std::nullopt;
}

}  // namespace bmad_mem
