// memory_reads.cpp - the reads of MemoryManager: by id, by query, by topic, agent and time, what is
// linked, how many there are.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/question.hpp"
#include "bmad_mem/text.hpp"
#include "memory_impl.hpp"
#include "model/entry.hpp"
#include "search/cached_indexes.hpp"
#include "search/holding.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<std::vector<Entry>> MemoryManager::get(std::span<const std::string> ids,
                                              std::span<const std::string> sessions,
                                              std::optional<Timestamp> as_of) const {
  const Question question;
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("get"));
  BMAD_TRY_ASSIGN(const std::vector<Entry> all,
                  impl_->find_in_both(ids, sessions, /*all_versions=*/false, as_of));
  std::vector<Entry> found;
  for (const std::string& id : ids) {
    std::ranges::copy_if(all, std::back_inserter(found),
                         [&](const Entry& entry) { return entry.id == id; });
  }
  for (const Entry& entry : found) {
    BMAD_TRY(check_read(*store, entry.type));
  }
  std::vector<Entry*> shown;
  for (Entry& entry : found) {
    shown.push_back(&entry);
  }
  if (!as_of) {
    show_valid_versions(*store, shown);
  }
  show_links(*store, shown, sessions, /*fill=*/!as_of);
  if (as_of) {
    return found;
  }
  const std::vector<std::string> others = store->checkout_sessions();
  for (const Entry& entry : found) {
    if (is_among(others, entry.session_id)) {
      continue;  // It is only read.
    }
    assert(!entry.of_user || store->user_store() != nullptr);
    const Store& its = entry.of_user ? *store->user_store() : *store;
    its.note_access(entry.session_id, entry.id);
  }
  store->accesses.write_if_many(*store->files, store->clock);
  return found;
}

Result<std::vector<Entry>> MemoryManager::history(std::string_view id,
                                                  std::span<const std::string> sessions) const {
  const Question question;
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("history"));
  const std::string wanted(id);
  BMAD_TRY_ASSIGN(std::vector<Entry> all, impl_->find_in_both(std::span(&wanted, 1), sessions,
                                                              /*all_versions=*/true, std::nullopt));
  for (const Entry& entry : all) {
    BMAD_TRY(check_read(*store, entry.type));
  }
  return all;
}

Error MemoryManager::no_entry(std::string_view id) const {
  const Question question;
  return bmad_mem::no_entry(impl_->store, id);
}

Result<std::vector<std::string>> MemoryManager::ids_that_begin(std::string_view begin) const {
  return impl_->call("list", bmad_mem::ids_that_begin, begin);
}

Result<std::vector<Entry>> MemoryManager::list(const EntryFilter& filter) const {
  const Question question;
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("list"));
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, up_to_page(filter)));
  const Store& its = store_of(*store, allowed.sessions);
  BMAD_TRY_ASSIGN(std::vector<Entry> entries, page_of(list_entries(its, allowed), filter.offset));
  std::ranges::for_each(entries, [&](Entry& entry) { entry.of_user = &its != store; });
  std::vector<Entry*> shown;
  for (Entry& entry : entries) {
    shown.push_back(&entry);
  }
  if (!filter.as_of) {
    show_valid_versions(*store, shown);
  }
  show_links(its, shown);
  return entries;
}

Result<std::uint64_t> MemoryManager::closed_entries(const EntryFilter& filter) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("list"));
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, filter));
  return count_closed(store_of(*store, allowed.sessions), allowed);
}

Result<std::uint64_t> MemoryManager::encrypted_lines(std::span<const std::string> sessions) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("list"));
  const EntryFilter filter{.sessions = {sessions.begin(), sessions.end()}};
  return count_encrypted(store_of(*store, filter.sessions), filter);
}

Result<std::string> MemoryManager::document_text(std::string_view session_id,
                                                 std::string stored) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("get"));
  JsonParser parser;
  const Result<JsonValue> value =
      store->encryption->is_on() ? parser.parse(stored) : Result<JsonValue>(JsonValue());
  if (!value || (*value)[kEncryptedField].string().empty()) {
    return stored;
  }
  BMAD_TRY_ASSIGN(const std::string line,
                  store->encryption->open(session_id, EntryType::kArtifact, *value));
  BMAD_TRY_ASSIGN(const ParsedJson document, parse_json(line));
  return std::string(document["document"].string());
}

Result<std::vector<Hit>> MemoryManager::query(const Query& query) const {
  BMAD_TRY_ASSIGN(QueryAnswer answer, ask(query));
  return std::move(answer.hits);
}

Result<QueryAnswer> MemoryManager::ask(const Query& query) const {
  const Question question;
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("query"));
  if (query.filter.offset == 0) {
    return answer_query(*store, query);
  }
  Query wider = query;
  wider.filter = up_to_page(query.filter);
  BMAD_TRY_ASSIGN(QueryAnswer answer, answer_query(*store, wider));
  answer.hits = behind(std::move(answer.hits), query.filter.offset);
  return answer;
}

Result<std::vector<Entry>> MemoryManager::entries_by_topic(std::string_view topic,
                                                           const EntryFilter& filter) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("query"));
  if (topic.empty()) {
    return invalid_query("topic", "the topic is empty; topics() lists those there are");
  }
  Query query{.filter = filter, .sort = SortOrder::kTimeDesc};
  query.filter.limit = 0;  // Replaced ones among them don't count.
  query.filter.offset = 0;
  query.topics = {std::string(topic)};
  query.snippet_size = 0;
  BMAD_TRY_ASSIGN(QueryAnswer answer, answer_query(*store, query));
  std::vector<Entry> entries;
  const std::size_t wanted = up_to_page(filter).limit;
  for (Hit& hit : answer.hits) {
    if (wanted != 0 && entries.size() == wanted) {
      break;
    }
    if (filter.with_outdated || !hit.outdated) {
      entries.push_back(std::move(hit.entry));
    }
  }
  assert(wanted == 0 || entries.size() <= wanted);
  return behind(std::move(entries), filter.offset);
}

Result<std::vector<Entry>> MemoryManager::entries_by_agent(std::string_view agent_id,
                                                           EntryFilter filter) const {
  filter.agents = {std::string(agent_id)};
  return list(filter);
}

Result<std::vector<Entry>> MemoryManager::entries_by_time_range(Timestamp since, Timestamp until,
                                                                EntryFilter filter) const {
  filter.since = since;
  filter.until = until;
  return list(filter);
}

Result<std::vector<RelatedEntry>> MemoryManager::related(std::string_view id,
                                                         const EntryFilter& filter,
                                                         std::size_t depth) const {
  const Question question;
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("related"));
  if (depth < 1 || depth > kLinkDepthMax) {
    return invalid_query(
        "depth", fmt::format("the depth is a number from 1 to {}, not {}", kLinkDepthMax, depth));
  }
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, up_to_page(filter)));
  return page_of(related_entries(*store, id, allowed, depth), filter.offset);
}

Result<std::vector<TopicCount>> MemoryManager::topics(const EntryFilter& filter) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("topics"));
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, up_to_page(filter)));
  return page_of(list_topics(*store, allowed), filter.offset);
}

Result<std::vector<TimelineBucket>> MemoryManager::timeline(const EntryFilter& filter,
                                                            TimelineUnit unit) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("timeline"));
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, up_to_page(filter)));
  BMAD_TRY_ASSIGN(std::vector<TimelineBucket> buckets, list_times(*store, allowed, unit));
  return without_newest(std::move(buckets), filter.offset);
}

Result<std::vector<Entry>> MemoryManager::decisions(std::string_view session_id,
                                                    const EntryFilter& filter) const {
  return impl_->list_type(session_id, EntryType::kDecision, filter);
}

Result<std::vector<Entry>> MemoryManager::findings(std::string_view session_id,
                                                   const EntryFilter& filter) const {
  return impl_->list_type(session_id, EntryType::kFinding, filter);
}

Result<std::vector<Entry>> MemoryManager::preferences(std::string_view session_id) const {
  return impl_->list_type(session_id, EntryType::kPreference, {.limit = 0});
}

}  // namespace bmad_mem
