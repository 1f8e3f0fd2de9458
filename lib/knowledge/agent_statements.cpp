// agent_statements.cpp - what agents state waits for the person, unless a hook has heard it said.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge/knowledge_store.hpp"
#include "known_statements.hpp"
#include "model/statement.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// The words of `text` in lower case, with blanks around each.
std::string spaced_words(std::string_view text) {
  std::string out = " ";
  for (const char c : text) {
    if (is_alnum(c) || !is_ascii(c)) {
      out += to_lower(c);
    } else if (!out.ends_with(' ')) {
      out += ' ';
    }
  }
  out += out.ends_with(' ') ? "" : " ";
  return out;
}

/// Whether a message of the person at this machine has these very words: among the newest ones.
Result<bool> was_said_by_person(const Store& store, std::string_view value) {
  constexpr std::size_t kMessages = 200;
  constexpr std::size_t kSizeMin = 8;  // Fewer letters stand anywhere.
  const std::string words = spaced_words(value);
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
        spaced_words((*message)["content"].string()).contains(words) &&
        store.origins->ledger()->origin_of(entry.session_id, entry.json) == Origin::kPerson) {
      return true;
    }
  }
  return false;
}

/// What is known under the statement's key already, or waits or was dropped as the same candidate.
Result<std::optional<Remembered>> known_statement(Store& store, const RememberParams& params) {
  Remembered known{
      .session_id = {}, .category = params.category, .key = params.key, .value = params.value};
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

Result<Remembered> remember_for_agent(Store& store, RememberParams params) {
  BMAD_TRY_ASSIGN(const bool was_said, was_said_by_person(store, params.value));
  if (was_said) {
    const ActingAs writer(Origin::kPerson);
    params.source = {.kind = "user", .trust = std::nullopt};
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
                                         spaced_words(params.value)));
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
