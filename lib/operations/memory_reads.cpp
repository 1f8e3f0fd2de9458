// memory_reads.cpp - the reads of MemoryManager that answer one question each: by topic, agent and
// time, what is linked, how many there are.
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/memory_manager.hpp"
#include "memory_impl.hpp"
#include "paging.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<std::vector<Entry>> MemoryManager::entries_by_topic(std::string_view topic,
                                                           const EntryFilter& filter) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter(Operation::kQuery));
  if (topic.empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the topic is empty; topics() lists those there are",
                 .field = "topic"};
  }
  Query query{.text = {}, .filter = filter, .sort = SortOrder::kTimeDesc};
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
                                                         const EntryFilter& filter) const {
  return related(id, filter, 1);
}

Result<std::vector<RelatedEntry>> MemoryManager::related(std::string_view id,
                                                         const EntryFilter& filter,
                                                         std::size_t depth) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter(Operation::kRelated));
  if (depth < 1 || depth > kLinkDepthMax) {
    return Error{
        .code = ErrorCode::E_INVALID_QUERY,
        .message = fmt::format("the depth is a number from 1 to {}, not {}", kLinkDepthMax, depth),
        .field = "depth"};
  }
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, up_to_page(filter)));
  return page_of(related_entries(*store, id, allowed, depth), filter.offset);
}

Result<std::vector<TopicCount>> MemoryManager::topics(const EntryFilter& filter) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter(Operation::kTopics));
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, up_to_page(filter)));
  return page_of(list_topics(*store, allowed), filter.offset);
}

Result<std::vector<TimelineBucket>> MemoryManager::timeline(const EntryFilter& filter,
                                                            TimelineUnit unit) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter(Operation::kTimeline));
  BMAD_TRY_ASSIGN(const EntryFilter allowed, readable(*store, up_to_page(filter)));
  BMAD_TRY_ASSIGN(std::vector<TimelineBucket> buckets, list_times(*store, allowed, unit));
  return without_newest(std::move(buckets), filter.offset);
}

Result<std::vector<Entry>> MemoryManager::decisions(std::string_view session_id) const {
  return decisions(session_id, {.limit = 0});
}

Result<std::vector<Entry>> MemoryManager::decisions(std::string_view session_id,
                                                    const EntryFilter& filter) const {
  return impl_->list_type(session_id, EntryType::kDecision, filter);
}

Result<std::vector<Entry>> MemoryManager::findings(std::string_view session_id) const {
  return findings(session_id, {.limit = 0});
}

Result<std::vector<Entry>> MemoryManager::findings(std::string_view session_id,
                                                   const EntryFilter& filter) const {
  return impl_->list_type(session_id, EntryType::kFinding, filter);
}

Result<std::vector<Entry>> MemoryManager::preferences(std::string_view session_id) const {
  return impl_->list_type(session_id, EntryType::kPreference, {.limit = 0});
}

}  // namespace bmad_mem
