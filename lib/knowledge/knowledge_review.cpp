// knowledge_review.cpp - accepts and drops candidates, and writes the views in shared/.
//
//   {"version":1,"preferences":[{"category":"style","key":"css","value":"Tailwind",
//     "confidence":0.9,"updated_at":"…","stated":[{"session_id":"…","id":"…","value":"…"}]}]}
//
// Derived: they can be deleted at any moment. Schema: schemas/knowledge-view.schema.json.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_store.hpp"
#include "known_statements.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/holding.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"

namespace bmad_mem {
namespace {

/// The item's line, with the review and the time written down.
Result<std::string> reviewed_line(const KnowledgeItem& item, Review review, Timestamp now) {
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(item.json));
  ObjectText object(*entry, item.json);
  object.set_string("review", review_name(review));
  if (review == Review::kAccepted) {  // From now on the person says so.
    object.set("source", R"({"kind":"user"})");
    object.set("confidence", "1");
  }
  object.set_string("updated_at", format_rfc3339(next_version_time(*entry, now)));
  return object.to_line();
}

/// `ids`, those that were given by their beginning completed.
Result<std::vector<std::string>> whole_candidate_ids(std::span<const KnowledgeItem> known,
                                                     std::span<const std::string> ids) {
  const std::vector<std::string> candidates = mapped(known, &KnowledgeItem::id);
  std::vector<std::string> whole;
  for (const std::string& id : ids) {
    BMAD_TRY_ASSIGN(whole.emplace_back(), whole_name(id, candidates, "candidates", "id"));
  }
  return whole;
}

/// The id that a candidate names as the entry it would change.
std::string named_entry(const KnowledgeItem& item) {
  const ParsedJson line(item.json);
  return line ? std::string((*line)["replaces"].string()) : std::string();
}

/// The candidate's text as the next version of `entry`, by the person.
Result<std::string> changed_entry_line(const KnowledgeItem& item, const Entry& entry,
                                       Timestamp now) {
  BMAD_TRY_ASSIGN(const ParsedJson candidate, parse_json(item.json));
  BMAD_TRY_ASSIGN(const ParsedJson old, parse_json(entry.json));
  ObjectText object(*candidate, item.json);
  object.set_string("id", entry.id);
  object.set_string("timestamp", old["timestamp"].string());
  object.set_string("updated_at", format_rfc3339(next_version_time(*old, now)));
  object.set("source", R"({"kind":"user"})");
  object.set("confidence", "1");
  object.remove("replaces");
  object.remove("review");
  return object.to_line();
}

Status add_line(Store& store, const std::string& session_id, EntryType type,
                std::string_view line) {
  const Result<BatchReport> added = add_lines(store, session_id, type, {&line, 1}, {});
  return added ? Status() : Status(added.error());
}

/// States again, by its author, the version that `item` has hidden: a newer one by another author.
Status restate_replaced(Store& store, const KnowledgeItem& item) {
  BMAD_TRY_ASSIGN(std::vector<Entry> found,
                  find_entries(store, {&item.id, 1}, {&item.session_id, 1}, false));
  std::erase_if(found, [&](const Entry& entry) { return entry.type != item.type; });
  if (found.empty()) {
    return {};
  }
  Entry held = found.front();
  Entry* const shown = &held;
  show_valid_versions(store, {&shown, 1});
  const ActingAs writer(store.origins->origin_of(held.session_id, held.json));
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(held.json));
  BMAD_TRY_ASSIGN(const ParsedJson latest, parse_json(found.front().json));
  ObjectText object(*entry, held.json);
  object.set_string("updated_at", format_rfc3339(next_version_time(*latest, store.clock.now())));
  return add_line(store, held.session_id, held.type, object.to_line());
}

/// Writes down what was decided about one that waits.
Status decide(Store& store, const KnowledgeItem& item, Review review) {
  assert((review == Review::kAccepted || review == Review::kDropped) && "the two answers");
  if (review == Review::kDropped && item.replaces_id == item.id) {
    return restate_replaced(store, item);
  }
  if (const std::string id = named_entry(item); review == Review::kAccepted && !id.empty()) {
    BMAD_TRY_ASSIGN(const std::vector<Entry> found,
                    find_entries(store, {&id, 1}, {&item.session_id, 1}, false));
    const auto entry = std::ranges::find(found, item.type, &Entry::type);
    if (entry != found.end()) {  // Else it has gone, and the candidate stands for itself.
      BMAD_TRY_ASSIGN(const std::string line, changed_entry_line(item, *entry, store.clock.now()));
      BMAD_TRY(add_line(store, item.session_id, item.type, line));
      review = Review::kDropped;  // The candidate itself is done with.
    }
  }
  BMAD_TRY_ASSIGN(const std::string line, reviewed_line(item, review, store.clock.now()));
  return add_line(store, item.session_id, item.type, line);
}

constexpr std::uint64_t kViewSizeMax = 256U << 20U;
/// Nobody waits longer for what is derived.
constexpr std::chrono::milliseconds kViewWaitMax{500};
/// Reading and writing this many statements takes three milliseconds.
constexpr std::size_t kViewedAtOnceMax = 1'000;

void write_item(JsonWriter& json, const KnowledgeItem& item) {
  json.begin_object().member("category", category_name(item.category));
  json.member_unless_empty("key", item.key);
  json.member("value", item.value).member("confidence", item.confidence);
  json.member("trust", item.trust).member_unless_empty("agent_id", item.agent_id);
  if (item.sensitive) {
    json.member("sensitive", true);
  }
  json.member("contradicted", item.contradicted);
  json.member("updated_at", format_rfc3339(item.updated_at)).key("stated").begin_array();
  for (const KnowledgeVersion& version : item.chain) {
    json.begin_object().member("session_id", version.session_id).member("id", version.id);
    json.member("value", version.value).member("at", format_rfc3339(version.at));
    json.member("holds", version.holds).end_object();
  }
  json.end_array().end_object();
}

std::string view_text(std::string_view name, EntryType type, std::span<const KnowledgeItem> items) {
  JsonWriter json;
  json.begin_object().member("version", 1).key(name).begin_array();
  for (const KnowledgeItem& item : items) {
    if (category_type(item.category) == type && is_in_force(item.review)) {
      write_item(json, item);
    }
  }
  return json.end_array().end_object().take();
}

Status replace_if_other(FileSystem& files, const std::string& path, const std::string& text) {
  const Result<std::string> there = read_file(files, path, kViewSizeMax);
  return there && *there == text ? Status() : replace_derived_file(files, path, text);
}

Status write_views_locked(const Store& store) {
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items, all_knowledge(store, {}));
  const std::string preferences = view_text("preferences", EntryType::kPreference, items);
  const std::string facts = view_text("knowledge", EntryType::kFact, items);
  items = {};  // With many sessions they are as large as both views.
  BMAD_TRY(ensure_folder(*store.files, kSharedFolder));
  BMAD_TRY(replace_if_other(*store.files, kUserPreferencesFile, json_pretty(preferences) + '\n'));
  return replace_if_other(*store.files, kAgentKnowledgeFile, json_pretty(facts) + '\n');
}

}  // namespace

Status find_replaced(const Store& store, KnownStatements& known, std::span<KnowledgeItem> items) {
  SubjectHashes subjects;
  for (KnowledgeItem& item : items) {
    const std::string id = item.replaces_id.empty() ? named_entry(item) : std::string();
    if (!id.empty()) {
      BMAD_TRY_ASSIGN(std::vector<Entry> found,
                      find_entries(store, {&id, 1}, {&item.session_id, 1}, false));
      for (Entry& entry : found) {
        Entry* const shown = &entry;
        show_valid_versions(store, {&shown, 1});
        if (const ParsedJson line(entry.json); line) {
          item.replaces_id = id;
          item.replaces_value = statement_members(entry.type, *line).value_text(*line, entry.json);
        }
      }
    } else if (item.replaces_id.empty() && !item.key.empty()) {
      subjects.emplace(item.category, outline_hash(item.key));
    }
  }
  if (subjects.empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> held, known_under_keys(known, subjects));
  for (KnowledgeItem& item : items) {
    const auto current = std::ranges::find_if(held, [&](const KnowledgeItem& each) {
      return each.category == item.category && each.key == item.key && each.id != item.id &&
             is_in_force(each.review) &&
             holding_reliability(each.origin, each.trust) >= kLowReliability;
    });
    if (item.replaces_id.empty() && !item.key.empty() && current != held.end()) {
      item.replaces_id = current->id;
      item.replaces_value = current->value;
    }
  }
  return {};
}

Result<std::vector<KnowledgeItem>> Knowledge::candidates_to_mention() {
  // .lock.waiting.json: {"mentioned_at":"2026-11-02T10:00:00Z"}. Local; may be deleted.
  constexpr std::chrono::days kEvery{7};
  constexpr std::uint64_t kSizeMax = 4096;
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "recall"));
  const Result<std::string> text = read_file(*store->files, kWaitingStateName, kSizeMax);
  const ParsedJson state(text ? std::string_view(*text) : "{}");
  const std::optional<Timestamp> last =
      state ? try_parse_rfc3339((*state)["mentioned_at"].string()) : std::nullopt;
  const Timestamp now = store->clock.now();
  if (last && *last <= now && now - *last < kEvery) {
    return std::vector<KnowledgeItem>();
  }
  BMAD_TRY_ASSIGN(
      std::vector<KnowledgeItem> items,
      recall({.candidates = true, .stored_only = true, .note_accesses = false, .limit = 0}));
  if (!items.empty()) {
    JsonWriter json;
    json.begin_object().member("mentioned_at", format_rfc3339(now));
    BMAD_TRY(replace_derived_file(*store->files, kWaitingStateName, json.end_object().take()));
  }
  return items;
}

Result<ReviewReport> Knowledge::review(std::span<const std::string> ids, Review review) {
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(*memory_, "review"));
  const bool is_agent = ActingAs::current(store->writes_as) == Origin::kAgent;
  if (review == Review::kAccepted && is_agent) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message =
                     "only the user accepts: ask for `bmad-mem review` in a terminal, or for "
                     "the page of `bmad-mem serve`"};
  }
  if (review == Review::kAccepted && store->origins->is_foreign()) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message =
                     "this memory came from elsewhere, so all of it stays quoted whatever is "
                     "accepted; `bmad-mem trust` shows it and asks"};
  }
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> known,
                  recall({.candidates = true, .with_foreign = true, .limit = 0}));
  BMAD_TRY_ASSIGN(const std::vector<std::string> wanted, whole_candidate_ids(known, ids));
  ReviewReport report;
  for (const std::string& id : wanted) {
    const auto found = std::ranges::find(known, id, &KnowledgeItem::id);
    const bool is_stated = found != known.end() && found->review == Review::kStated;
    const bool waits = found != known.end() &&
                       (found->review == Review::kCandidate || found->origin == Origin::kElsewhere);
    if (is_stated && is_agent) {
      return Error{.code = ErrorCode::E_ACCESS_DENIED,
                   .message = fmt::format("only the user forgets what the user stated: ask for "
                                          "`bmad-mem forget {}` in a terminal",
                                          found->id)};
    }
    if (!waits && !is_stated) {
      report.unknown_ids.push_back(id);
      continue;
    }
    BMAD_TRY(decide(*store, *found, review));
    found->review = review;
    found->confidence = review == Review::kAccepted ? 1 : found->confidence;
    report.reviewed.push_back(*found);
  }
  if (!report.reviewed.empty()) {
    KnownStatements all(*store, {});
    if (all.gather()) {
      renew_knowledge_views(*store, all.statement_count());
    } else {
      static_cast<void>(drop_knowledge_views(*store));
    }
  }
  return report;
}

Status write_knowledge_views(const Store& store) {
  // What is written was read under the same lock: who wrote before cannot come out later, and what
  // is purged meanwhile goes when the purge has the lock.
  const Result<FileLock::Guard> guard = store.lock_root("write shared knowledge", kViewWaitMax);
  if (!guard) {
    BMAD_TRY(drop_knowledge_views(store));  // None is better than an old one.
    return guard.error();
  }
  return write_views_locked(store);
}

void renew_knowledge_views(const Store& store, std::size_t statements) {
  if (statements <= kViewedAtOnceMax) {
    static_cast<void>(write_knowledge_views(store));
  } else if (ensure_folder(*store.files, kSharedFolder)) {  // Says that somebody wants them.
    // Who writes them now has read what was before: they go when he has the lock no more.
    const Result<FileLock::Guard> guard = store.lock_root("drop shared knowledge", kViewWaitMax);
    static_cast<void>(drop_knowledge_views(store));
  }
}

void write_missing_views(const Store& store) {
  if (store.files->info(kSharedFolder) &&
      !(store.files->info(kUserPreferencesFile) && store.files->info(kAgentKnowledgeFile))) {
    static_cast<void>(write_knowledge_views(store));
  }
}

Status drop_knowledge_views(const Store& store) {
  for (const char* path : {kUserPreferencesFile, kAgentKnowledgeFile}) {
    BMAD_TRY_ASSIGN(const bool there, is_there(*store.files, path));
    BMAD_TRY(there ? remove_durably(*store.files, path) : Status());
  }
  return {};
}

ViewsDropped::ViewsDropped(const Store& store, bool wanted)
    : store_(wanted ? &store : nullptr), status_(wanted ? drop_knowledge_views(store) : Status()) {}

ViewsDropped::~ViewsDropped() {
  if (store_ == nullptr || !store_->files->info(kSharedFolder)) {
    return;  // Nobody has written any.
  }
  const Result<FileLock::Guard> guard = store_->lock_root("drop shared knowledge");
  (void)drop_knowledge_views(*store_);  // Without the lock, too: better than to leave them.
}

}  // namespace bmad_mem
