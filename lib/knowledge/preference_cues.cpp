#include "preference_cues.hpp"

#include "knowledge_words.hpp"

namespace bmad_mem {
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

}  // namespace bmad_mem
