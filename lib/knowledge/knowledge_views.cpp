// knowledge_views.cpp - shared/user-preferences.json and shared/agent-knowledge.json: what holds,
// over all sessions, for people and for programs that read files.
//
//   {"version":1,"preferences":[{"category":"style","key":"css","value":"Tailwind",
//     "confidence":0.9,"updated_at":"…","stated":[{"session_id":"…","id":"…","value":"…"}]}]}
//
// Derived: they can be deleted at any moment. Schema: schemas/knowledge-view.schema.json.
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "knowledge/knowledge_store.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kViewSizeMax = 256U << 20U;
/// Nobody waits longer for what is derived.
constexpr std::chrono::milliseconds kViewWaitMax{500};
/// Reading and writing this many statements takes three milliseconds.
constexpr std::size_t kViewedAtOnceMax = 1'000;

void write_item(JsonWriter& json, const KnowledgeItem& item) {
  json.begin_object().member("category", category_name(item.category));
  if (!item.key.empty()) {
    json.member("key", item.key);
  }
  json.member("value", item.value).member("confidence", item.confidence);
  json.member("trust", item.trust);
  if (!item.agent_id.empty()) {
    json.member("agent_id", item.agent_id);
  }
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

std::string pretty_file(std::string_view json) {
  std::string text = json_pretty(json);
  text += '\n';
  return text;
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
  BMAD_TRY(replace_if_other(*store.files, kUserPreferencesFile, pretty_file(preferences)));
  return replace_if_other(*store.files, kAgentKnowledgeFile, pretty_file(facts));
}

}  // namespace

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
