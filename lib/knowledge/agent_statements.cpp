// agent_statements.cpp - what agents state waits for the person, unless a hook has heard it said.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "context/said_texts.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge/knowledge_store.hpp"
#include "known_statements.hpp"
#include "model/statement.hpp"
#include "preference_detector.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Whether a sentence of `message` says just `words`, perhaps behind "remember that". A part of a
/// sentence may say the opposite, a question nothing, a paste the words of others, and a long
/// message is often one.
bool says(std::string_view message, std::string_view words) {
  constexpr std::size_t kMessageSizeMax = 1000;
  static constexpr std::string_view kLeads[] = {"ok ",   "please ", "also ",        "remember ",
                                                "note ", "that ",   "keep in mind "};
  if (message.size() > kMessageSizeMax) {
    return false;
  }
  const auto says_it = [&](const MessageSentence& sentence) {
    const std::string text = comparable_text(sentence.text);
    std::string_view rest = text;
    const auto is_lead = [&](std::string_view lead) { return rest.starts_with(lead); };
    for (const auto* lead = std::ranges::find_if(kLeads, is_lead); lead != std::end(kLeads);
         lead = std::ranges::find_if(kLeads, is_lead)) {
      rest.remove_prefix(lead->size());
    }
    return !sentence.is_question && !sentence.may_be_pasted && (text == words || rest == words);
  };
  return std::ranges::any_of(message_sentences(message), says_it);
}

/// Whether the person at this machine has said it in these very words: in one of the newest
/// messages.
Result<bool> was_said_by_person(const Store& store, std::string_view value) {
  constexpr std::size_t kMessages = 200;
  constexpr std::size_t kSizeMin = 8;  // Fewer letters are said all the time.
  const std::string words = comparable_text(value);
  if (words.size() < kSizeMin || store.origins->ledger() == nullptr ||
      !check_read(store, EntryType::kConversation)) {
    return false;
  }
  EntryFilter filter;
  filter.types = {EntryType::kConversation};
  filter.archived = ArchivedSessions::kWithout;
  filter.limit = kMessages;
  BMAD_TRY_ASSIGN(const std::vector<Entry> messages, list_entries(store, filter));
  JsonParser parser;
  for (const Entry& entry : messages) {
    const Result<JsonValue> message = parser.parse(entry.json);
    if (message && (*message)["role"].string() == "user" &&
        says((*message)["content"].string(), words) &&
        store.origins->ledger()->origin_of(entry.session_id, entry.json) == Origin::kPerson) {
      return true;
    }
  }
  return false;
}

/// What is known under the statement's key already, or waits or was dropped as the same candidate.
Result<std::optional<Remembered>> known_statement(Store& store, const RememberParams& params) {
  Remembered known{.category = params.category, .key = params.key, .value = params.value};
  BMAD_TRY_ASSIGN(const std::vector<Entry> stored, find_entries(store, {&params.id, 1}, {}, false));
  JsonParser parser;
  for (const Entry& entry : stored) {
    const Result<JsonValue> line = parser.parse(entry.json);
    known.id = entry.id;
    known.session_id = entry.session_id;
    known.review = line ? review_of((*line)["review"].string()) : Review::kNone;
    known.confidence = line ? (*line)["confidence"].number(kUsualConfidence) : kUsualConfidence;
    return known;
  }
  RememberParams reviewed = params;
  reviewed.review = Review::kNone;
  KnownStatements all(store, {});
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> items, known_under_keys(all, {&reviewed, 1}));
  for (const KnowledgeItem& item : items) {
    if (item.category == params.category && item.key == params.key && item.value == params.value) {
      known.id = item.id;
      known.session_id = item.session_id;
      known.confidence = item.confidence;
      return known;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<bool> Knowledge::waits(std::string_view value) const {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "remember"));
  if (ActingAs::current(store->writes_as) != Origin::kAgent) {
    return false;
  }
  BMAD_TRY_ASSIGN(const bool was_said, was_said_by_person(*store, value));
  return !was_said;
}

Result<Remembered> remember_for_agent(Store& store, RememberParams params) {
  BMAD_TRY_ASSIGN(const bool was_said, was_said_by_person(store, params.value));
  if (was_said) {
    const ActingAs writer(Origin::kPerson);
    params.source = {.kind = "user"};
    BMAD_TRY_ASSIGN(std::vector<Remembered> remembered, remember_all(store, {&params, 1}));
    return std::move(remembered.front());
  }
  constexpr double kAgentTrust = 0.6;  // As of what a model extracts.
  if (params.source.kind.empty() || params.source.kind == "user") {
    params.source.kind = "assistant";
  }
  params.source.trust = std::min(params.source.trust.value_or(kAgentTrust), kAgentTrust);
  params.review = Review::kCandidate;
  params.pinned = false;
  if (params.id.empty()) {
    params.id = candidate_id(fmt::format("{}\n{}\n{}", category_name(params.category), params.key,
                                         comparable_text(params.value)));
  }
  BMAD_TRY_ASSIGN(std::optional<Remembered> known, known_statement(store, params));
  if (known) {
    return *std::move(known);
  }
  BMAD_TRY_ASSIGN(std::vector<Remembered> remembered, remember_all(store, {&params, 1}));
  remembered.front().review = Review::kCandidate;
  remembered.front().holds = false;
  return std::move(remembered.front());
}

}  // namespace bmad_mem
