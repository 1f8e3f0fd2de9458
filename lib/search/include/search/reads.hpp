// reads.hpp - what is asked of a memory: entries by id, lists, queries, counts. No lock is taken.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/exports.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// E_INVALID_QUERY for a time range that ends before it begins.
Status check_time_range(const EntryFilter& filter);

/// What is in sessions and archives; nothing that was evicted.
Result<std::vector<Entry>> read_entries(const Store& store, std::span<const std::string> sessions,
                                        std::span<const EntryType> types, bool all_versions,
                                        ArchivedSessions archived = ArchivedSessions::kWith);
/// The entries with these ids, wherever they are; by their places, not by the ids. With
/// `all_versions`, those that were evicted come first. `as_of`: see EntryFilter; not with both.
Result<std::vector<Entry>> find_entries(const Store& store, std::span<const std::string> ids,
                                        std::span<const std::string> sessions, bool all_versions,
                                        std::optional<Timestamp> as_of = {});
/// That there is no entry `id` in `store`, why, and what to do: E_ENTRY_NOT_FOUND. Looks for it in
/// the user's own memory, too. Not while indexes are held: it may ask them.
Error no_entry(const Store& store, std::string_view id);
/// The ids of entries that begin with `begin`, sorted: of a large memory those alone that
/// IdGenerator made. Errors: as list_entries().
Result<std::vector<std::string>> ids_that_begin(const Store& store, std::string_view begin);
Result<std::vector<Entry>> list_entries(const Store& store, const EntryFilter& filter);
Result<ExportReport> export_entries(const Store& store, const ExportOptions& options,
                                    ExportVisitor& visitor);

/// How many encrypted lines of what `filter` names have no key here; what else it says is not
/// asked. Costs nothing where nothing is encrypted. Errors: as list_entries(); why a key that was
/// named can't be used.
Result<std::uint64_t> count_closed(const Store& store, const EntryFilter& filter);
/// That this number has no key here, and the remedy. `key_problem`: why the one that was named
/// can't be used.
std::string closed_text(std::uint64_t count, const std::optional<Error>& key_problem = {});
/// How many encrypted lines its sessions have, with the key or without.
Result<std::uint64_t> count_encrypted(const Store& store, const EntryFilter& filter);

Result<QueryAnswer> answer_query(const Store& store, const Query& query);
Result<std::vector<RelatedEntry>> related_entries(const Store& store, std::string_view id,
                                                  const EntryFilter& filter, std::size_t depth);
Result<std::vector<TopicCount>> list_topics(const Store& store, const EntryFilter& filter);
Result<std::vector<TimelineBucket>> list_times(const Store& store, const EntryFilter& filter,
                                               TimelineUnit unit);
Result<SessionStatistics> count_session(const Store& store, const std::string& session_id);
/// An entry of an archive, or one that was evicted, as the index knows it.
struct ArchiveEntry {
  EntryType type = EntryType::kConversation;
  Timestamp timestamp{};
  bool pinned = false;
  bool evicted = false;
  std::optional<Timestamp> expires_at;
};
/// Those of one session; of a live one, what was evicted of it. Nothing is unpacked that the index
/// covers. Errors: as list_entries().
Result<std::vector<ArchiveEntry>> archive_entries(const Store& store,
                                                  const std::string& session_id);

/// See RoomsAbove::newest_line.
std::optional<std::string> newest_line(const Store& store, const std::string& session_id,
                                       EntryType type, std::string_view id);

/// An entry that was valid until a time.
struct ExpiredEntry {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string id;
  bool archived = false;
  bool evicted = false;
};
/// All whose latest version has expired by `now`, by session: of logs, archives, and what was
/// evicted. Sessions without any cost a look at a list. Errors: as list_entries().
Result<std::vector<ExpiredEntry>> expired_entries(const Store& store, Timestamp now);

/// Leaves out of the `links` in the lines of `entries` what leads nowhere, or to what may not be
/// read, so that nobody hears of what was deleted. With `fill`, Entry::links are filled in, from
/// `sessions` (all when empty). Costs nothing where no entry has links and none are to be filled
/// in. What can't be found out is left out.
void show_links(const Store& store, std::span<Entry* const> entries,
                std::span<const std::string> sessions = {}, bool fill = false);

/// See MemoryManager::find_text().
Result<std::vector<Leftover>> find_text(const Store& store, std::string_view text);

}  // namespace bmad_mem
