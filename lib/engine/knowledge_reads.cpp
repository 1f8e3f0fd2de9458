// knowledge_reads.cpp - what is known, and recalling it. No lock is taken.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "access.hpp"
#include "bmad_mem/json_parser.hpp"
#include "core/parallel.hpp"
#include "index/entry_scanner.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge_store.hpp"
#include "memory_inside.hpp"
#include "model/validate.hpp"
#include "past_files.hpp"
#include "session_sources.hpp"
#include "storage/access_log.hpp"
#include "storage/layout.hpp"

namespace bmad_mem {
namespace {

constexpr std::array kKnowledgeTypes = {EntryType::kPreference, EntryType::kFact};

/// The files of a source; null where no knowledge is in them.
Result<std::shared_ptr<FileSystem>> knowledge_files(const Store& store,
                                                    const SessionSource& source) {
  return source.packed == nullptr ? source.files(store) : source.packed->knowledge();
}

Status collect_session(const Store& store, const SessionSource& source, FileSystem& files,
                       JsonParser& parser, KnowledgeCollector& collector) {
  for (const EntryType type : kKnowledgeTypes) {
    const auto take = [&](const ScannedEntry& entry) {
      collector.add({.session_id = source.session_id, .type = type, .text = entry.text},
                    entry.value);
    };
    BMAD_TRY(scan_log(files, session_file(source.session_id, entry_type_info(type).log_file), type,
                      parser, {.on_entry = take}));
  }
  return source.check_still_there(store);
}

/// Of what was stated then, that which was evicted since: it comes before the logs.
Status collect_evicted(const Store& store, const std::string& session_id, Timestamp as_of,
                       KnowledgeCollector& collector) {
  BMAD_TRY_ASSIGN(const std::vector<EvictedLine> lines, evicted_since(store, session_id, as_of));
  JsonParser parser;
  for (const EvictedLine& line : lines) {
    const Result<JsonValue> entry = parser.parse(line.line);
    if (entry && !check_entry(line.type, *entry)) {
      collector.add({.session_id = session_id, .type = line.type, .text = line.line}, *entry);
    }
  }
  return {};
}

/// Gathers from `sources`, of which all are unpacked at once that are given at once.
Status collect_sessions(const Store& store, std::span<const SessionSource> sources,
                        std::optional<Timestamp> as_of, KnowledgeCollector& collector) {
  std::vector<Result<std::shared_ptr<FileSystem>>> files(sources.size(),
                                                         std::shared_ptr<FileSystem>());
  for_each_parallel(sources.size(),
                    [&](std::size_t i) { files[i] = knowledge_files(store, sources[i]); });
  JsonParser parser;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    BMAD_TRY(files[i]);
    if (as_of) {
      BMAD_TRY(collect_evicted(store, sources[i].session_id, *as_of, collector));
    }
    if (*files[i] != nullptr) {
      Status collected = collect_session(store, sources[i], **files[i], parser, collector);
      BMAD_TRY(collected ? Status() : sources[i].leave_out(store, std::move(collected).error()));
    }
  }
  return {};
}

/// How often entries were returned, read once for each session.
class Accesses {
 public:
  explicit Accesses(const Store& store) : store_(store) {}

  /// Fills in how often the entries of the item's chain were returned.
  void count(KnowledgeItem& item) {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    for (const KnowledgeVersion& version : item.chain) {
      if (!seen.emplace(version.session_id, version.id).second) {
        continue;
      }
      if (const Access* access = table(version.session_id).find(version.id); access != nullptr) {
        item.access_count += access->count;
        item.last_accessed = std::max(item.last_accessed.value_or(access->last), access->last);
      }
    }
  }

 private:
  const AccessTable& table(const std::string& session_id) {
    const auto [at, is_new] = tables_.try_emplace(session_id);
    if (is_new) {
      Result<AccessTable> read = read_accesses(*store_.files, session_id);
      if (read) {  // Else nothing was returned, as far as anybody knows.
        at->second = *std::move(read);
      }
    }
    return at->second;
  }

  const Store& store_;
  std::map<std::string, AccessTable, std::less<>> tables_;
};

bool is_by(const KnowledgeItem& item, const std::string& agent) {
  return item.agent_id == agent ||
         std::ranges::any_of(item.chain, [&](const KnowledgeVersion& version) {
           return version.agent_id == agent && version.value == item.value;
         });
}

bool passes(const RecallOptions& options, const KnowledgeItem& item) {
  const bool is_candidate = item.review == Review::kCandidate;
  return item.review != Review::kDropped && is_candidate == options.candidates &&
         (!options.category || item.category == *options.category) &&
         (options.key.empty() || item.key == options.key) &&
         (options.agent_id.empty() || is_by(item, options.agent_id)) &&
         item.confidence >= options.min_confidence &&
         (!options.contradicted_only || item.contradicted) &&
         (!options.without_sensitive || !item.sensitive);
}

bool is_higher(const KnowledgeItem& a, const KnowledgeItem& b) {
  return std::tuple(-a.score, -a.updated_at.time_since_epoch().count(), std::tie(a.key, a.id)) <
         std::tuple(-b.score, -b.updated_at.time_since_epoch().count(), std::tie(b.key, b.id));
}

}  // namespace

Result<std::unique_ptr<KnowledgeCollector>> gather_knowledge(const Store& store,
                                                             std::span<const std::string> sessions,
                                                             std::optional<Timestamp> as_of) {
  return choose_steadily(store, [&]() -> Result<std::unique_ptr<KnowledgeCollector>> {
    BMAD_TRY_ASSIGN(const std::vector<SessionSource> sources, session_sources(store, sessions));
    auto collector = std::make_unique<KnowledgeCollector>(as_of);
    constexpr std::size_t kAtOnce = 64;  // Each may be as large as a session.
    for (std::size_t at = 0; at < sources.size(); at += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, sources.size() - at);
      BMAD_TRY(collect_sessions(store, std::span(sources).subspan(at, count), as_of, *collector));
    }
    return collector;
  });
}

Result<std::vector<KnowledgeItem>> all_knowledge(const Store& store,
                                                 std::span<const std::string> sessions,
                                                 std::optional<Timestamp> as_of) {
  BMAD_TRY_ASSIGN(const std::unique_ptr<KnowledgeCollector> collector,
                  gather_knowledge(store, sessions, as_of));
  return collector->finish();
}

Status drop_unreadable_items(const Store& store, std::vector<KnowledgeItem>& items) {
  if (store.access && !store.access->may_read(EntryType::kFact)) {
    BMAD_TRY(check_read(store, EntryType::kPreference));
  }
  std::erase_if(items, [&](const KnowledgeItem& item) {
    return store.access && !store.access->may_read(item.type);
  });
  return {};
}

Result<std::vector<KnowledgeItem>> Knowledge::recall(const RecallOptions& options) const {
  const Store& store = MemoryInside::store(*memory_);
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items,
                  all_knowledge(store, options.sessions, options.as_of));
  if (options.candidates && !options.as_of) {
    BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> found, found_candidates(store, options.sessions));
    std::ranges::move(found, std::back_inserter(items));
  }
  std::erase_if(items, [&](const KnowledgeItem& item) { return !passes(options, item); });
  BMAD_TRY(drop_unreadable_items(store, items));
  const Timestamp now = options.as_of.value_or(store.clock.now());
  Accesses accesses(store);
  for (KnowledgeItem& item : items) {
    accesses.count(item);
    item.score = recall_score(item.confidence, item.access_count, item.updated_at, now);
  }
  std::ranges::sort(items, is_higher);
  if (options.limit != 0 && items.size() > options.limit) {
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(options.limit), items.end());
  }
  if (options.note_accesses && !options.as_of && !options.candidates) {
    for (const KnowledgeItem& item : items) {
      store.note_access(item.session_id, item.id);
    }
    store.accesses.write_if_many(*store.files, store.clock);
  }
  return items;
}

}  // namespace bmad_mem
