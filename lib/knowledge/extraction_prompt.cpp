#include "knowledge/extraction_prompt.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "knowledge_prompts.hpp"
#include "model/entry.hpp"
#include "prompt_text.hpp"

namespace bmad_mem {
namespace {

/// Bytes of one entry that are shown: one long message must not push out all others.
constexpr std::size_t kShownSizeMax = 600;
/// What programs print is seldom what matters.
constexpr std::size_t kPrintedSizeMax = 200;

std::string category_names() {
  std::string names;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    names += names.empty() ? "" : ", ";
    names += category_name(static_cast<Category>(i));
  }
  return names;
}

std::string instructions() {
  return fmt::format(kExtractionText, kExtractedFactsMax, kExtractedWordsMax, kExtractedTagsMax,
                     category_names());
}

constexpr std::string_view kOpen = "\n```jsonl\n";
constexpr std::string_view kClose = "```\n";

/// "2026-01-11 10:05".
std::string minute(Timestamp at) {
  std::string text = format_rfc3339(at).substr(0, 16);
  std::ranges::replace(text, 'T', ' ');
  return text;
}

/// The line of the log for an entry; empty when there is nothing to see of it.
std::string log_line(EntryType type, Timestamp at, JsonValue entry) {
  const std::string_view role = entry["role"].string();
  const bool is_output = type == EntryType::kEvent || role == "tool";
  const std::string text =
      cut_text(visible_line(entry_prose(type, entry)), is_output ? kPrintedSizeMax : kShownSizeMax);
  if (text.empty()) {
    return {};
  }
  std::string who(role.empty() ? entry_type_info(type).name : role);
  if (const std::string agent = visible_line(entry_who(type, entry)); !agent.empty()) {
    who += " " + cut_text(agent, 40);
  }
  JsonWriter json;
  json.begin_object().member("at", minute(at)).member("who", who).member("text", text);
  return json.end_object().take() + "\n";
}

}  // namespace

void ExtractionLog::add(EntryType type, JsonValue entry, std::string_view line) {
  if (type != EntryType::kConversation && type != EntryType::kDecision &&
      type != EntryType::kFinding && type != EntryType::kEvent) {
    return;
  }
  const EntryHead head = entry_head(type, entry);
  const std::string name = fmt::format("{} {}", entry_type_info(type).name, head.id);
  const auto place = places_.try_emplace(name, entries_.size()).first->second;
  if (place == entries_.size()) {
    entries_.emplace_back();
  }
  entries_[place] = {.type = type,
                     .at = head.timestamp,
                     .line = head.sensitive ? std::string() : std::string(line)};
}

bool ExtractionLog::empty() const {
  return std::ranges::all_of(entries_, [](const Logged& each) { return each.line.empty(); });
}

std::string ExtractionLog::prompt() const {
  std::vector<const Logged*> newest_first;
  for (const Logged& each : entries_) {
    if (!each.line.empty()) {
      newest_first.push_back(&each);
    }
  }
  std::ranges::stable_sort(newest_first, [](const Logged* a, const Logged* b) {
    return a->at < b->at;  // Those of one moment stay in the order of the logs.
  });
  std::ranges::reverse(newest_first);
  const std::string front = instructions() + std::string(kOpen);
  std::string log;
  JsonParser parser;
  for (const Logged* each : newest_first) {
    const Result<JsonValue> entry = parser.parse(each->line);
    const std::string longer = entry ? log_line(each->type, each->at, *entry) + log : log;
    if (estimate_tokens(front + longer + std::string(kClose)) > kExtractionTokensMax) {
      break;
    }
    log = longer;
  }
  return front + log + std::string(kClose);
}

namespace {

/// Where the JSON stands in an answer.
struct Payload {
  std::string_view text;
  std::size_t begin = 0;
};

/// `answer` without the fence around it. A fence that isn't closed stays, and is no JSON.
Payload payload_of(std::string_view answer) {
  std::string_view text = trimmed(answer);
  if (text.starts_with("```") && text.size() > 6 && text.ends_with("```")) {
    const std::size_t newline = text.find('\n');
    const std::string_view language = trimmed(text.substr(3, std::min(newline, text.size()) - 3));
    if (newline != std::string_view::npos && (language.empty() || language == "json")) {
      text = trimmed(text.substr(newline + 1, text.size() - newline - 4));
    }
  }
  const std::size_t begin =
      text.empty() ? 0 : static_cast<std::size_t>(text.data() - answer.data());
  return {.text = text, .begin = begin};
}

/// An error at byte `at` of `answer`.
Error problem_at(std::string_view answer, std::size_t at, std::string field, std::string message) {
  const std::string_view before = answer.substr(0, std::min(at, answer.size()));
  const std::size_t newline = before.rfind('\n');
  const std::size_t column =
      newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return {.code = ErrorCode::E_INVALID_FORMAT,
          .message = std::move(message) + "; nothing was stored",
          .line = static_cast<std::uint64_t>(std::ranges::count(before, '\n')) + 1,
          .column = column + 1,
          .field = std::move(field)};
}

std::size_t word_count(std::string_view text) {
  std::size_t count = 0;
  bool in_word = false;
  for (const char c : text) {
    const bool is_blank = c == ' ';
    count += !is_blank && !in_word ? 1U : 0U;
    in_word = !is_blank;
  }
  return count;
}

/// What is wrong with a text as such; empty when nothing is. Line breaks count, too: a fact is one
/// line.
std::string_view text_problem(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  return std::ranges::any_of(text, is_control)
             ? "has a line break or another control character in it; answer with one line"
             : std::string_view();
}

/// Takes the array apart beside a cursor that knows where each value stands.
class AnswerReader {
 public:
  AnswerReader(std::string_view answer, const Payload& payload)
      : answer_(answer), begin_(payload.begin), cursor_(payload.text) {}

  Result<std::vector<ExtractedFact>> read(JsonValue root) {
    if (!root.is_array()) {
      return here("", fmt::format("the answer must be a JSON array of facts, not {}",
                                  json_kind_name(root.kind())));
    }
    std::vector<ExtractedFact> facts;
    cursor_.step();
    for (const JsonValue element : root.elements()) {
      step_over_comma();
      prefix_ = fmt::format("[{}]", facts.size());
      if (facts.size() == kExtractedFactsMax) {
        return here(prefix_, fmt::format("there are more than {} facts; answer with the {} that "
                                         "matter most",
                                         kExtractedFactsMax, kExtractedFactsMax));
      }
      BMAD_TRY_ASSIGN(ExtractedFact fact, read_fact(element));
      facts.push_back(std::move(fact));
    }
    return facts;
  }

 private:
  Error here(std::string field, std::string message) const {
    return problem_at(answer_, begin_ + cursor_.at(), std::move(field), std::move(message));
  }

  void step_over_comma() {
    if (cursor_.peek() == ',') {
      cursor_.step();
    }
  }

  Result<ExtractedFact> read_fact(JsonValue element) {
    if (!element.is_object()) {
      return here(prefix_, fmt::format("a fact must be an object with text and tags, not {}",
                                       json_kind_name(element.kind())));
    }
    ExtractedFact fact;
    bool has_text = false;
    const std::size_t begin = cursor_.at();
    cursor_.step();
    for (const JsonMember& member : element.members()) {
      step_over_comma();
      const std::size_t member_begin = cursor_.at();
      cursor_.string();
      cursor_.step();
      if (member.key == "text") {
        has_text = true;
        BMAD_TRY(read_text(member.value, fact));
      } else if (member.key == "tags") {
        BMAD_TRY(read_tags(member.value, fact));
      } else {
        return problem_at(answer_, begin_ + member_begin,
                          fmt::format("{}.{}", prefix_, utf8_prefix(member.key, 40)),
                          "a fact has only text and tags; leave out everything else");
      }
    }
    cursor_.step();
    if (!has_text) {
      return problem_at(answer_, begin_ + begin, prefix_ + ".text",
                        "the fact has no text; write the statement in it");
    }
    return fact;
  }

  Status read_text(JsonValue value, ExtractedFact& fact) {
    const std::string field = prefix_ + ".text";
    if (!value.is_string()) {
      return here(field, fmt::format("must be a string, not {}", json_kind_name(value.kind())));
    }
    if (const std::string_view problem = text_problem(value.string()); !problem.empty()) {
      return here(field, std::string(problem));
    }
    fact.text = visible_line(value.string());
    if (fact.text.empty()) {
      return here(field, "the fact has no text; write the statement in it");
    }
    if (const std::size_t words = word_count(fact.text); words > kExtractedWordsMax) {
      return here(field, fmt::format("has {} words; {} are the most, so make it shorter", words,
                                     kExtractedWordsMax));
    }
    cursor_.value();
    return {};
  }

  Status read_tags(JsonValue value, ExtractedFact& fact) {
    if (!value.is_array()) {
      return here(prefix_ + ".tags",
                  fmt::format("must be an array of strings, not {}", json_kind_name(value.kind())));
    }
    cursor_.step();
    for (const JsonValue tag : value.elements()) {
      step_over_comma();
      const std::string field = fmt::format("{}.tags[{}]", prefix_, fact.tags.size());
      if (fact.tags.size() == kExtractedTagsMax) {
        return here(field, fmt::format("there are more than {} tags; keep those that help to find "
                                       "the fact",
                                       kExtractedTagsMax));
      }
      std::string text = visible_line(tag.string());
      if (text.empty() || text.size() > kExtractedTagSizeMax ||
          !text_problem(tag.string()).empty()) {
        return here(field,
                    fmt::format("must be a word or two, at most {} bytes", kExtractedTagSizeMax));
      }
      fact.tags.push_back(std::move(text));
      cursor_.value();
    }
    cursor_.step();
    return {};
  }

  std::string_view answer_;
  std::size_t begin_;
  JsonCursor cursor_;
  std::string prefix_;
};

}  // namespace

Result<std::vector<ExtractedFact>> parse_extraction_answer(std::string_view answer) {
  if (answer.size() > kExtractionAnswerSizeMax) {
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT,
        .message = fmt::format("the answer has {} bytes; {} are the most, and {} facts "
                               "need far less; nothing was stored",
                               answer.size(), kExtractionAnswerSizeMax, kExtractedFactsMax)};
  }
  const Payload payload = payload_of(answer);
  if (payload.text.empty()) {
    return problem_at(answer, answer.size(), "",
                      "the answer is empty; answer with a JSON array of facts, [] for none");
  }
  const ParsedJson root(payload.text);
  if (!root) {
    const std::size_t at = root.error().column == 0 ? 0 : root.error().column - 1;
    return problem_at(
        answer, payload.begin + at, root.error().field,
        "the answer is not a JSON array of {\"text\", \"tags\"}: " + root.error().message);
  }
  return AnswerReader(answer, payload).read(*root);
}

}  // namespace bmad_mem
