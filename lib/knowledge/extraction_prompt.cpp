// extraction_prompt.cpp - writes the prompt for extracting facts, and parses the answer.
#include "knowledge/extraction_prompt.hpp"

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/prompt_text.hpp"
#include "knowledge_prompts.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

/// Bytes of one entry that are shown: one long message must not push out all others.
constexpr std::size_t kShownSizeMax = 600;
/// What programs print is seldom what matters.
constexpr std::size_t kPrintedSizeMax = 200;

std::string instructions() {
  return fmt::format(kExtractionText, kExtractedFactsMax, kExtractedWordsMax, kExtractedTagsMax,
                     fmt::join(kCategoryNames, ", "));
}

constexpr std::string_view kOpen = "\n```jsonl\n";
constexpr std::string_view kClose = "```\n";

/// "2026-01-11 10:05".
std::string minute(Timestamp at) {
  std::string text = format_rfc3339(at).substr(0, 16);
  assert(text.size() == 16);
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

/// `answer` without the fence around it; what comes before the JSON is blank, so that all of it
/// stands where it stood. A fence that isn't closed stays, and is no JSON.
std::string json_in(std::string_view answer) {
  std::string_view text = trimmed(answer);
  if (text.starts_with("```") && text.size() > 6 && text.ends_with("```")) {
    const std::size_t newline = text.find('\n');
    const std::string_view language = trimmed(text.substr(3, std::min(newline, text.size()) - 3));
    if (newline != std::string_view::npos && (language.empty() || language == "json")) {
      text = trimmed(text.substr(newline + 1, text.size() - newline - 4));
    }
  }
  const std::size_t begin =
      text.empty() ? answer.size() : static_cast<std::size_t>(text.data() - answer.data());
  assert(begin + text.size() <= answer.size());
  std::string json(answer.substr(0, begin + text.size()));
  std::ranges::replace_if(std::span(json).first(begin), [](char c) { return c != '\n'; }, ' ');
  return json;
}

/// Of a visible_line().
std::size_t word_count(std::string_view text) {
  assert(!text.empty());
  return static_cast<std::size_t>(std::ranges::count(text, ' ')) + 1;
}

/// Line breaks count, too: a fact is one line.
bool has_controls(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  return std::ranges::any_of(text, is_control);
}

Status read_text(const JsonNode& node, ExtractedFact& fact) {
  const std::string_view text = node.value().string();
  if (!node.value().is_string()) {
    return node.refuse_kind("a string");
  }
  if (has_controls(text)) {
    return node.refuse("has a line break or another control character in it; answer with one line");
  }
  fact.text = visible_line(text);
  if (fact.text.empty()) {
    return node.refuse("the fact has no text; write the statement in it");
  }
  assert(!fact.text.contains('\n'));
  if (const std::size_t words = word_count(fact.text); words > kExtractedWordsMax) {
    return node.refuse(fmt::format("has {} words; {} are the most, so make it shorter", words,
                                   kExtractedWordsMax));
  }
  return {};
}

Status read_tags(const JsonNode& node, ExtractedFact& fact) {
  if (!node.value().is_array()) {
    return node.refuse_kind("an array of strings");
  }
  for (const JsonValue tag : node.value().elements()) {
    const JsonNode place = node.element(fact.tags.size(), tag);
    if (fact.tags.size() == kExtractedTagsMax) {
      return place.refuse(fmt::format(
          "there are more than {} tags; keep those that help to find the fact", kExtractedTagsMax));
    }
    std::string text = visible_line(tag.string());
    if (text.empty() || text.size() > kExtractedTagSizeMax || has_controls(tag.string())) {
      return place.refuse(
          fmt::format("must be a word or two, at most {} bytes", kExtractedTagSizeMax));
    }
    fact.tags.push_back(std::move(text));
  }
  return {};
}

Result<ExtractedFact> read_fact(const JsonNode& node) {
  if (!node.value().is_object()) {
    return node.refuse(fmt::format("a fact must be an object with text and tags, not {}",
                                   json_kind_name(node.value().kind())));
  }
  ExtractedFact fact;
  std::size_t index = 0;
  for (const JsonMember& member : node.value().members()) {
    const JsonNode place = node.member(index++, member.value, utf8_prefix(member.key, 40));
    if (member.key == "text") {
      BMAD_TRY(read_text(place, fact));
    } else if (member.key == "tags") {
      BMAD_TRY(read_tags(place, fact));
    } else {
      return place.refuse_key("a fact has only text and tags; leave out everything else");
    }
  }
  if (fact.text.empty()) {
    Error error = node.refuse("the fact has no text; write the statement in it");
    error.field += ".text";
    return error;
  }
  return fact;
}

Result<std::vector<ExtractedFact>> read_facts(const JsonNode& root) {
  if (!root.value().is_array()) {
    return root.refuse(fmt::format("the answer must be a JSON array of facts, not {}",
                                   json_kind_name(root.value().kind())));
  }
  std::vector<ExtractedFact> facts;
  for (const JsonValue element : root.value().elements()) {
    const JsonNode place = root.element(facts.size(), element);
    if (facts.size() == kExtractedFactsMax) {
      return place.refuse(
          fmt::format("there are more than {} facts; answer with the {} that matter most",
                      kExtractedFactsMax, kExtractedFactsMax));
    }
    BMAD_TRY_ASSIGN(ExtractedFact fact, read_fact(place));
    facts.push_back(std::move(fact));
  }
  assert(facts.size() <= kExtractedFactsMax);
  return facts;
}

Result<std::vector<ExtractedFact>> read_answer(std::string_view answer) {
  if (answer.size() > kExtractionAnswerSizeMax) {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = fmt::format(
                     "the answer has {} bytes; {} are the most, and {} facts need far less",
                     answer.size(), kExtractionAnswerSizeMax, kExtractedFactsMax)};
  }
  const std::string json = json_in(answer);
  const ParsedJson root(json);
  if (trimmed(json).empty()) {
    return placed_in({.code = ErrorCode::E_INVALID_FORMAT,
                      .message = "the answer is empty; answer with a JSON array of facts, [] for "
                                 "none",
                      .column = json.size() + 1},
                     json);
  }
  if (!root) {
    return placed_in({.code = ErrorCode::E_INVALID_FORMAT,
                      .message = "the answer is not a JSON array of {\"text\", \"tags\"}: " +
                                 root.error().message,
                      .column = root.error().column,
                      .field = root.error().field},
                     json);
  }
  return read_facts(JsonNode(ErrorCode::E_INVALID_FORMAT, json, *root));
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
  assert(entries_.size() == places_.size());
  entries_[place] = {.type = type,
                     .at = head.timestamp,
                     .line = head.sensitive ? std::string() : std::string(line)};
}

bool ExtractionLog::empty() const {
  return std::ranges::all_of(entries_, [](const Logged& each) { return each.line.empty(); });
}

std::string ExtractionLog::prompt() const {
  std::vector<const Logged*> newest_first = mapped_if(
      entries_, [](const Logged& each) { return !each.line.empty(); },
      [](const Logged& each) { return &each; });
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

Result<std::vector<ExtractedFact>> parse_extraction_answer(std::string_view answer) {
  Result<std::vector<ExtractedFact>> facts = read_answer(answer);
  if (!facts) {
    facts.error().message += "; nothing was stored";
  }
  return facts;
}

}  // namespace bmad_mem
