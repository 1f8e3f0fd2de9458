// candidates.cpp - finds candidates in messages of users, and stores those that agents state.
//
//   user messages ──cues──> sentences ──id of (session, message, sentence)──> not stored:
//   candidates
//
// Looking writes nothing; accepting or dropping one stores it, and then it is found no more.
//
// What agents state waits for the person as well, unless a hook has heard it said.
#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/distillation.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/prompt_text.hpp"
#include "known_statements.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "preference_detector.hpp"
#include "search/archive_reader.hpp"
#include "search/reads.hpp"
#include "search/session_sources.hpp"
#include "store/access.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/return_lines.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// What the user says about the user's wishes is nearly certain; that it was understood is not.
constexpr double kCandidateReliability = 0.9;

/// A message as it is now.
struct UserMessage {
  std::string id;
  std::string text;  // Empty when it is not to be looked at.
  Timestamp timestamp{};
  double trust = kCandidateReliability;
};

/// Whether a person has said it, as far as the entry tells: what a sub-agent is asked stands there
/// as a user's message too, with the agent's name.
bool is_by_a_person(JsonValue entry, const EntryHead& head) {
  const std::string_view kind = entry["source"]["kind"].string();
  return head.role == "user" && head.who.empty() && (kind.empty() || kind == "user");
}

class CandidateSearch {
 public:
  /// `typed`: the id of the message whose rules are in force.
  explicit CandidateSearch(const Store& store, std::string_view typed = {})
      : store_(store), typed_(typed) {}

  /// Looks at the messages from byte `from` on, the start of a line.
  Status look_at(const std::string& session_id, std::uint64_t from = 0) {
    BMAD_TRY_ASSIGN(const std::vector<UserMessage> messages, messages_of(session_id, from));
    std::optional<std::set<std::string, std::less<>>> stored;  // Most messages need none.
    for (const UserMessage& message : messages) {
      for (const PreferenceCandidate& candidate : detect_preferences(message.text)) {
        if (!stored) {
          BMAD_TRY_ASSIGN(stored, stored_in(session_id));
        }
        const bool in_force = is_in_force(candidate, message);
        std::string key = in_force ? rule_key(candidate.sentence) : std::string();
        if (in_force && key.empty()) {
          key = key_of_value(store_, candidate.sentence);
        }
        const SaidSentence sentence{
            .session_id = session_id,
            .said_in = message.id,
            .timestamp = message.timestamp,
            .source_kind = "user",
            .trust = in_force ? std::nullopt : std::optional(message.trust),
            .index = candidate.sentence_index,
            .text = candidate.sentence,
            .category = candidate.category,
            .key = std::move(key),
            .confidence = in_force ? kStatedConfidence : candidate.confidence,
            .review = in_force ? Review::kNone : Review::kCandidate};
        if (!stored->contains(sentence.id())) {
          lines_.emplace_back(session_id, sentence.line());
        }
      }
    }
    return check_still_there(store_, session_id);
  }

  /// Where the last line ends that was looked at.
  [[nodiscard]] std::uint64_t looked_to() const { return looked_to_; }

  [[nodiscard]] std::vector<KnowledgeItem> items() const {
    return collect_knowledge(mapped(lines_, [](const auto& line) {
      return KnowledgeLine{.session_id = line.first, .type = EntryType::kFact, .text = line.second};
    }));
  }

 private:
  Result<std::vector<UserMessage>> messages_of(const std::string& session_id, std::uint64_t from) {
    std::vector<UserMessage> messages;
    std::map<std::string, std::size_t, std::less<>> places;
    const auto take = [&](const ScannedEntry& entry) {
      const EntryHead head = entry_head(EntryType::kConversation, entry.value);
      const auto place = places.try_emplace(std::string(head.id), messages.size()).first->second;
      if (place == messages.size()) {
        messages.emplace_back();
      }
      const bool counts = is_by_a_person(entry.value, head) && !head.sensitive &&
                          !has_expired(head.expires_at, store_.clock.now());
      assert(place < messages.size());
      messages[place] = {
          .id = std::string(head.id),
          .text = counts ? std::string(entry.value["content"].string()) : std::string(),
          .timestamp = head.timestamp,
          .trust = std::min(kCandidateReliability, entry.value["source"]["trust"].number(1))};
    };
    BMAD_TRY_ASSIGN(
        const LogScan scan,
        scan_log(*store_.files, log_path(session_id, EntryType::kConversation),
                 EntryType::kConversation, parser_, {.on_entry = take}, {.offset = from}));
    looked_to_ = scan.whole_end;
    return messages;
  }

  /// The ids of candidates that are stored, or were: dropped and deleted ones, too.
  Result<std::set<std::string, std::less<>>> stored_in(const std::string& session_id) {
    std::set<std::string, std::less<>> ids;
    const auto take = [&](const ScannedEntry& entry) {
      if (const std::string_view id = entry_id(entry.value); is_candidate_id(id)) {
        ids.emplace(id);
      }
    };
    BMAD_TRY(scan_log(*store_.files, log_path(session_id, EntryType::kFact), EntryType::kFact,
                      parser_, {.on_entry = take}));
    BMAD_TRY_ASSIGN(const GoneEntries gone, gone_entries(store_, session_id));
    ids.insert(gone.ids.begin(), gone.ids.end());
    return ids;
  }

  /// What the person typed is: no paste, and no text as long as one.
  [[nodiscard]] bool is_in_force(const PreferenceCandidate& candidate,
                                 const UserMessage& message) const {
    constexpr std::ptrdiff_t kCharactersMax = 600;
    return !typed_.empty() && message.id == typed_ && !candidate.may_be_pasted &&
           std::ranges::count_if(message.text, std::not_fn(is_continuation)) <= kCharactersMax;
  }

  const Store& store_;
  std::string_view typed_;
  JsonParser parser_;
  std::vector<std::pair<std::string, std::string>> lines_;
  std::uint64_t looked_to_ = 0;
};

bool may_look_for_candidates(const Store& store) {
  return store.config.knowledge.detect_preferences &&
         (!store.access || store.access->may_read(EntryType::kConversation));
}

/// `looked` where a line of the log at `path` begins there; 0 where something has rewritten it.
Result<std::uint64_t> line_start_at(FileSystem& files, const std::string& path,
                                    std::uint64_t looked) {
  if (looked == 0) {
    return 0;
  }
  const Result<std::unique_ptr<File>> log = files.open(path, OpenMode::kRead);
  if (!log) {
    return is_not_found(log.error()) ? Result<std::uint64_t>(0) : log.error();
  }
  std::string last(1, '\0');
  BMAD_TRY_ASSIGN(const std::size_t got, (*log)->read_at(looked - 1, last));
  return got == 1 && last == "\n" ? looked : 0;
}

/// Whether a sentence of `message` says just `words`, perhaps behind "remember that". A part of a
/// sentence may say the opposite, a question nothing, a paste the words of others, and a long
/// message is often one.
bool says(std::string_view message, std::string_view words) {
  constexpr std::size_t kMessageSizeMax = 1000;
  static constexpr std::string_view kLeads[] = {"ok ",   "please ", "also ",        "remember ",
                                                "note ", "that ",   "keep in mind "};
  assert(!words.empty());
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
  if (words.size() < kSizeMin || store.origins->provenance() == nullptr ||
      !check_read(store, EntryType::kConversation)) {
    return false;
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> messages,
                  list_entries(store, {.types = {EntryType::kConversation},
                                       .archived = ArchivedSessions::kWithout,
                                       .limit = kMessages}));
  JsonParser parser;
  for (const Entry& entry : messages) {
    const Result<JsonValue> message = parser.parse(entry.json);
    if (message && (*message)["role"].string() == "user" &&
        says((*message)["content"].string(), words) &&
        store.origins->provenance()->origin_of(entry.session_id, entry.json) == Origin::kPerson) {
      return true;
    }
  }
  return false;
}

/// What is known under the statement's key already, or waits or was dropped as the same candidate.
Result<std::optional<Remembered>> known_statement(Store& store, const RememberParams& params) {
  assert(!params.id.empty() && "a candidate has an id of its text");
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
  SubjectHashes subjects;
  if (!params.key.empty()) {
    subjects.emplace(params.category, outline_hash(params.key));
  }
  KnownStatements all(store, {});
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> items, known_under_keys(all, subjects));
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

constexpr std::string_view kIdPrefix = "fact-c";
constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::size_t kIdDigits = 12;  // 60 bits: a collision needs a billion candidates.

bool is_candidate_id(std::string_view id) {
  return id.starts_with(kIdPrefix) && id.size() == kIdPrefix.size() + kIdDigits &&
         id.find_first_not_of(kDigits, kIdPrefix.size()) == std::string_view::npos;
}

std::string candidate_id(std::string_view text) {
  std::uint64_t hash = xxh3(text);
  std::string id(kIdPrefix);
  for (std::size_t i = 0; i < kIdDigits; ++i) {
    id += kDigits[hash & 31U];
    hash >>= 5U;
  }
  assert(is_candidate_id(id));
  return id;
}

Result<NewCandidates> found_new_candidates(const Store& store, const std::string& session_id,
                                           std::uint64_t looked_to, std::string_view typed) {
  if (!may_look_for_candidates(store)) {
    return NewCandidates{.looked_to = looked_to};
  }
  const std::string path = log_path(session_id, EntryType::kConversation);
  const Result<FileInfo> log = store.files->info(path);
  if (log && log->size == looked_to) {
    return NewCandidates{.looked_to = looked_to};
  }
  BMAD_TRY_ASSIGN(const std::uint64_t from, line_start_at(*store.files, path, looked_to));
  CandidateSearch search(store, typed);
  BMAD_TRY(search.look_at(session_id, from));
  return NewCandidates{.items = search.items(), .looked_to = search.looked_to()};
}

Result<std::vector<KnowledgeItem>> found_candidates(const Store& store,
                                                    std::span<const std::string> sessions) {
  if (!may_look_for_candidates(store)) {
    return std::vector<KnowledgeItem>();
  }
  return choose_steadily(store, [&]() -> Result<std::vector<KnowledgeItem>> {
    BMAD_TRY_ASSIGN(const std::vector<SessionSource> sources, session_sources(store, sessions));
    CandidateSearch search(store);
    for (const SessionSource& source : sources) {
      if (source.packed == nullptr) {
        Status looked = search.look_at(source.session_id);
        BMAD_TRY(looked ? Status() : source.leave_out(store, std::move(looked).error()));
      }
    }
    return search.items();
  });
}

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
  constexpr double kAgentReliability = 0.6;  // As of what a model extracts.
  if (params.source.kind.empty() || params.source.kind == "user") {
    params.source.kind = "assistant";
  }
  params.source.trust =
      std::min(params.source.trust.value_or(kAgentReliability), kAgentReliability);
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
