// knowledge_reads.cpp - reads and recalls knowledge. No lock is taken.
#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/parallel.hpp"
#include "bmad_mem/json.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge/knowledge_store.hpp"
#include "known_statements.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/cached_indexes.hpp"
#include "search/reads.hpp"
#include "search/session_sources.hpp"
#include "store/access.hpp"
#include "store/access_log.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"

namespace bmad_mem {
namespace {

Status collect_session(const Store& store, const SessionSource& source, FileSystem& files,
                       KnowledgeCollector& collector) {
  const auto take = [&](const ScannedEntry& entry) {
    collector.add({.session_id = source.session_id, .type = entry.type, .text = entry.text},
                  entry.value);
  };
  BMAD_TRY(
      scan_logs(files, session_folder(source.session_id), {.on_entry = take}, kKnowledgeTypes));
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
  for_each_parallel(sources.size(), [&](std::size_t i) {
    const SessionSource& source = sources[i];
    files[i] = source.packed == nullptr ? source.files(store) : source.packed->knowledge();
  });
  for (std::size_t i = 0; i < sources.size(); ++i) {
    BMAD_TRY(files[i]);
    if (as_of) {
      BMAD_TRY(collect_evicted(store, sources[i].session_id, *as_of, collector));
    }
    if (*files[i] != nullptr) {  // Else no knowledge is in it.
      Status collected = collect_session(store, sources[i], **files[i], collector);
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
    assert(item.access_count == 0 && "an item is counted once");
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

 private:
  const Store& store_;
  std::map<std::string, AccessTable, std::less<>> tables_;
};

/// The same of the items `chosen`, by their outlines: how often the entries of each item's chain
/// were returned. Goes through the lines session by session: few of them ever were.
std::vector<std::uint64_t> access_counts(Accesses& accesses, const KnownStatements& known,
                                         std::span<const std::size_t> chosen) {
  constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  std::vector<std::uint32_t> places(known.lines().size(), kNowhere);  // In `chosen`, by line.
  for (std::uint32_t place = 0; place < chosen.size(); ++place) {
    for (const std::uint32_t line : known.outlines()[chosen[place]].chain) {
      assert(line < places.size());
      places[line] = place;
    }
  }
  using Entry = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  std::vector<Entry> returned;                              // Place, session, id, count.
  std::unordered_map<std::uint64_t, std::uint64_t> counts;  // Of a session, by outline_hash().
  std::optional<std::uint32_t> session;
  for (std::size_t line = 0; line < places.size(); ++line) {
    if (places[line] == kNowhere) {
      continue;
    }
    const Stated& stated = known.lines()[line];
    if (session != stated.session) {
      session = stated.session;
      counts.clear();
      for (const auto& [id, access] : accesses.table(known.session_id(*session)).entries()) {
        counts.emplace(outline_hash(id), access.count);
      }
    }
    const std::uint64_t id = stated.row->outline.id_hash;
    if (const auto found = counts.find(id); found != counts.end()) {
      returned.emplace_back(places[line], *session, id, found->second);
    }
  }
  std::ranges::sort(returned);  // Versions of an entry count once.
  returned.erase(std::ranges::unique(returned).begin(), returned.end());
  std::vector<std::uint64_t> sums(chosen.size());
  for (const auto& [place, its_session, id, count] : returned) {
    assert(place < sums.size());
    sums[place] += count;
  }
  return sums;
}

bool is_by(const KnowledgeItem& item, const std::string& agent) {
  return item.agent_id == agent ||
         std::ranges::any_of(item.chain, [&](const KnowledgeVersion& version) {
           return version.agent_id == agent && version.value == item.value;
         });
}

bool passes(const RecallOptions& options, const KnowledgeItem& item) {
  const bool is_candidate = item.review == Review::kCandidate ||
                            (options.with_foreign && item.origin == Origin::kElsewhere);
  const bool is_too = options.candidates
                          ? item.review == Review::kStated && !options.stored_only
                          : options.with_stated && item.source_kind == "assistant" && is_candidate;
  return item.review != Review::kDropped && (is_candidate == options.candidates || is_too) &&
         (!options.category || item.category == *options.category) &&
         (options.key.empty() || item.key == options.key) &&
         (options.agent_id.empty() || is_by(item, options.agent_id)) &&
         item.confidence >= options.min_confidence &&
         (!options.contradicted_only || item.contradicted) &&
         (!options.without_sensitive || !item.sensitive);
}

/// As passes(), before anything is read. What it lets through goes through passes() as well.
bool may_pass(const RecallOptions& options, const KnownStatements& known, const ItemOutline& item) {
  const std::uint64_t agent = outline_hash(options.agent_id);
  const bool is_by_agent =
      agent == 0 || item.agent_hash == agent ||
      std::ranges::any_of(item.chain, [&](std::uint32_t line) {
        const StatementOutline& outline = known.lines()[line].row->outline;
        return outline.agent_hash == agent && outline.value_hash == item.value_hash;
      });
  return item.review != Review::kDropped &&
         ((item.review == Review::kCandidate) == options.candidates ||
          (options.candidates && (item.proposed || item.may_be_stated())) ||
          (options.with_foreign && item.trust < kLowReliability) ||
          (options.with_stated && item.review == Review::kCandidate)) &&
         (!options.category || item.category == *options.category) &&
         (options.key.empty() || item.key_hash == outline_hash(options.key)) && is_by_agent &&
         item.confidence >= options.min_confidence &&
         (!options.contradicted_only || item.contradicted) &&
         (!options.without_sensitive || !item.sensitive);
}

/// Numbers of the outlines that recall() may return: those that pass, and of these the highest.
/// `held` by another memory are left out.
std::vector<std::size_t> highest(const Store& store, const RecallOptions& options,
                                 const KnownStatements& known, Accesses& accesses,
                                 const SubjectHashes& held) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < known.outlines().size(); ++i) {
    const ItemOutline& item = known.outlines()[i];
    if (may_pass(options, known, item) && (!store.access || store.access->may_read(item.type)) &&
        !held.contains({item.category, item.key_hash})) {
      chosen.push_back(i);
    }
  }
  const std::size_t wanted =
      options.limit +
      std::min(options.offset, std::numeric_limits<std::size_t>::max() - options.limit);
  if (options.limit == 0 || chosen.size() <= wanted) {
    return chosen;
  }
  const Timestamp now = store.clock.now();
  const std::vector<std::uint64_t> counts = access_counts(accesses, known, chosen);
  using Rank = std::pair<double, Timestamp>;
  std::vector<std::pair<Rank, std::size_t>> ranked;
  ranked.reserve(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const ItemOutline& item = known.outlines()[chosen[i]];
    const double score = recall_score(item.confidence, counts[i], item.updated_at, now);
    ranked.push_back({{score, item.updated_at}, chosen[i]});
  }
  const auto last = ranked.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
  std::ranges::nth_element(ranked, last, std::greater(), &std::pair<Rank, std::size_t>::first);
  const Rank least = last->first;
  chosen.clear();
  for (const auto& [rank, number] : ranked) {
    if (rank >= least) {  // Of equals, their keys decide.
      chosen.push_back(number);
    }
  }
  return chosen;
}

/// The highest is least.
auto recall_rank(const KnowledgeItem& item) {
  return std::tuple(-item.score, -item.updated_at.time_since_epoch().count(),
                    std::tie(item.key, item.id, item.category));
}

/// One memory that is recalled from.
struct RecallSource {
  RecallSource(const Store& its_store, const RecallOptions& options)
      : store(its_store), known(its_store, options.sessions), accesses(its_store) {
    if (options.candidates) {
      known.want_proposals();
    }
  }

  const Store& store;
  KnownStatements known;
  Accesses accesses;
};

/// What waits in encrypted lines, which no index and no KnownStatements has: they are opened.
Status add_encrypted_candidates(const Store& store, const RecallOptions& options,
                                std::vector<KnowledgeItem>& items) {
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                  list_entries(store, {.sessions = options.sessions,
                                       .types = {EntryType::kFact, EntryType::kPreference},
                                       .archived = ArchivedSessions::kWithout,
                                       .limit = 0}));
  std::set<std::string_view> known;
  for (const KnowledgeItem& item : items) {
    known.insert(item.id);
  }
  std::vector<KnowledgeLine> lines;
  JsonParser parser;
  for (const Entry& entry : entries) {
    const Result<JsonValue> value = parser.parse(entry.json);
    if (value && !known.contains(entry.id) &&
        review_of((*value)["review"].string()) == Review::kCandidate) {
      lines.push_back({.session_id = entry.session_id, .type = entry.type, .text = entry.json});
    }
  }
  std::vector<KnowledgeItem> found = collect_knowledge(lines);
  std::ranges::move(found, std::back_inserter(items));
  return {};
}

/// What of it passes and is not `held` by another memory, scored, in no order: the highest, and
/// some more. Adds what it holds to `holds`.
Result<std::vector<KnowledgeItem>> recall_from(RecallSource& source, const RecallOptions& options,
                                               const SubjectHashes& held, SubjectHashes* holds) {
  const Store& store = source.store;
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items,
                  options.as_of
                      ? all_knowledge(store, options.sessions, options.as_of)
                      : source.known.items([&] {
                          return highest(store, options, source.known, source.accesses, held);
                        }));
  if (holds != nullptr) {
    *holds = options.as_of ? valid_subjects(items) : valid_subjects(source.known.outlines());
  }
  if (options.candidates && !options.stored_only && !options.as_of) {
    BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> found, found_candidates(store, options.sessions));
    // What was decided since, in whatever session: an old transcript may have been read again.
    std::erase_if(found, [&](const KnowledgeItem& item) {
      return std::ranges::any_of(source.known.outlines(), [&](const ItemOutline& each) {
        return each.value_hash == outline_hash(item.value) &&
               (each.is_reviewed() || each.updated_at >= item.updated_at);
      });
    });
    std::ranges::move(found, std::back_inserter(items));
  }
  if (options.candidates && !options.as_of && store.encryption->is_on() &&
      store.encryption->opens()) {
    BMAD_TRY(add_encrypted_candidates(store, options, items));
  }
  std::erase_if(items, [&](const KnowledgeItem& item) {
    return !passes(options, item) || held.contains({item.category, outline_hash(item.key)});
  });
  BMAD_TRY(drop_unreadable_items(store, items));
  if (options.candidates && !options.as_of) {
    BMAD_TRY(find_replaced(store, source.known, items));
  }
  const Timestamp now = options.as_of.value_or(store.clock.now());
  for (KnowledgeItem& item : items) {
    source.accesses.count(item);
    item.score = recall_score(item.confidence, item.access_count, item.updated_at, now);
    if (options.with_foreign && item.origin == Origin::kElsewhere) {
      item.review = Review::kNone;  // It waits, whatever it says of itself.
    }
  }
  return items;
}

}  // namespace

Result<std::vector<KnowledgeItem>> all_knowledge(const Store& store,
                                                 std::span<const std::string> sessions,
                                                 std::optional<Timestamp> as_of) {
  return choose_steadily(store, [&]() -> Result<std::vector<KnowledgeItem>> {
    BMAD_TRY_ASSIGN(const std::vector<SessionSource> sources, session_sources(store, sessions));
    KnowledgeCollector collector(as_of, store.clock.now(), &store);
    constexpr std::size_t kAtOnce = 64;  // Each may be as large as a session.
    for (std::size_t at = 0; at < sources.size(); at += kAtOnce) {
      const std::size_t count = std::min(kAtOnce, sources.size() - at);
      BMAD_TRY(collect_sessions(store, std::span(sources).subspan(at, count), as_of, collector));
    }
    return collector.finish();
  });
}

SubjectHashes valid_subjects(std::span<const ItemOutline> outlines) {
  SubjectHashes held;
  for (const ItemOutline& item : outlines) {
    if (item.key_hash != 0 && item.is_reviewed() && item.trust >= kLowReliability) {
      held.emplace(item.category, item.key_hash);
    }
  }
  return held;
}

SubjectHashes valid_subjects(std::span<const KnowledgeItem> items) {
  SubjectHashes held;
  for (const KnowledgeItem& item : items) {
    if (!item.key.empty() && item.trust >= kLowReliability && is_in_force(item.review)) {
      held.emplace(item.category, outline_hash(item.key));
    }
  }
  return held;
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
  BMAD_TRY_ASSIGN(const Store* const entered, MemoryInside::enter(*memory_, "recall"));
  RecallSource source(store_of(*entered, options.sessions), options);
  const bool is_user = &source.store != entered;
  const Store* const user =
      options.sessions.empty() && !options.candidates ? entered->user_store() : nullptr;
  SubjectHashes held;
  BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items,
                  recall_from(source, options, {}, user != nullptr ? &held : nullptr));
  std::ranges::for_each(items, [&](KnowledgeItem& item) { item.of_user = is_user; });
  if (user != nullptr) {
    RecallSource users(*user, options);
    BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> more, recall_from(users, options, held, nullptr));
    for (KnowledgeItem& item : more) {
      item.of_user = true;
      items.push_back(std::move(item));
    }
  }
  std::ranges::sort(items, {}, recall_rank);
  items.erase(items.begin(),
              items.begin() + static_cast<std::ptrdiff_t>(std::min(options.offset, items.size())));
  items.resize(options.limit == 0 ? items.size() : std::min(options.limit, items.size()));
  if (options.note_accesses && !options.as_of && !options.candidates) {
    for (const KnowledgeItem& item : items) {
      const Store& its = item.of_user && user != nullptr ? *user : source.store;
      its.note_access(item.session_id, item.id);
    }
    source.store.accesses.write_if_many(*source.store.files, source.store.clock);
  }
  return items;
}

}  // namespace bmad_mem
