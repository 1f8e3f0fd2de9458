// search.cpp - query, related, topics, timeline and rebuild_index: the indexes of the sessions,
// kept warm and fresh, and what the query room makes of them. No session lock is taken.
#include "query/search.hpp"

#include <algorithm>
#include <map>
#include <shared_mutex>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "core/parallel.hpp"
#include "model/entry.hpp"
#include "query/hit_loader.hpp"
#include "query/json_query.hpp"
#include "query/overview.hpp"
#include "storage/layout.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

/// A checkpoint from the last one and the tail or, where the config says so, from the logs alone.
Result<std::optional<CheckpointReport>> write_new_checkpoint(const IndexingConfig& config,
                                                             SessionIndex& index) {
  if (config.update_strategy == "full") {
    BMAD_TRY(index.rebuild());
  }
  return index.write_checkpoint();
}

/// The indexes of some sessions, as fresh as their logs, held still.
class HeldIndexes {
 public:
  HeldIndexes(const Store& store, const std::vector<std::string>& session_ids) : store_(store) {
    for (const std::string& id : session_ids) {
      std::shared_ptr<SessionIndex> index = store.index(id);
      if (std::ranges::find(owned_, index) == owned_.end()) {  // `session:a session:a`
        sessions_.push_back(index.get());
        owned_.push_back(std::move(index));
      }
    }
  }

  /// Errors: as SessionIndex::refresh(), the first in the order of the sessions.
  Status hold() {
    locks_.clear();
    std::vector<Status> done(sessions_.size());
    for_each_parallel(sessions_.size(), [&](std::size_t i) { done[i] = sessions_[i]->refresh(); });
    for (Status& each : done) {
      BMAD_TRY(std::move(each));
    }
    for (SessionIndex* session : sessions_) {
      locks_.push_back(session->lock());
    }
    return {};
  }

  /// Runs `work` on the held indexes; when one of them turns out not to hold, it is made anew and
  /// the work is done again: first from its checkpoint, then from the logs alone. Each index has
  /// its own tries, since many may be damaged at once.
  template <typename Work>
  auto run(const Work& work) -> decltype(work()) {
    constexpr int kTries = 4;
    std::map<const SessionIndex*, int> tries;
    while (true) {
      BMAD_TRY(hold());
      auto result = work();
      if (result || !is_about_an_index(result.error())) {
        return result;
      }
      SessionIndex& doubtful = named(result.error().field);
      const int done = ++tries[&doubtful];
      if (done == kTries) {
        return result;
      }
      locks_.clear();
      if (done == 1) {
        doubtful.forget();
      } else {
        BMAD_TRY(doubtful.rebuild());
      }
    }
  }

  [[nodiscard]] std::span<SessionIndex* const> sessions() const { return sessions_; }

  /// Writes the checkpoints that the next process would miss. What goes wrong (a full disk, a store
  /// that may only be read) is no concern of the one who asked: the logs are the truth.
  void write_checkpoints() {
    locks_.clear();
    const IndexingConfig& config = store_.config.indexing;
    if (!config.enabled) {
      return;
    }
    for_each_parallel(sessions_.size(), [&](std::size_t i) {
      if (sessions_[i]->wants_checkpoint(
              static_cast<std::uint64_t>(config.rebuild_threshold_writes))) {
        static_cast<void>(write_new_checkpoint(config, *sessions_[i]));
      }
    });
  }

 private:
  static bool is_about_an_index(const Error& error) {
    return error.code == ErrorCode::E_STORAGE_CORRUPT || error.code == ErrorCode::E_CONCURRENT_MOD;
  }

  SessionIndex& named(std::string_view session_id) {
    const auto found = std::ranges::find(sessions_, session_id, &SessionIndex::session_id);
    return found == sessions_.end() ? *sessions_.front() : **found;
  }

  const Store& store_;
  std::vector<std::shared_ptr<SessionIndex>> owned_;
  std::vector<SessionIndex*> sessions_;
  std::vector<std::shared_lock<std::shared_mutex>> locks_;
};

SearchSettings settings_of(const Store& store) {
  SearchSettings settings{.now = store.clock.now(),
                          .decay = DecaySettings::defaults(),
                          .weights = {.text = store.config.relevance.text,
                                      .time = store.config.relevance.time,
                                      .importance = store.config.relevance.importance,
                                      .access = store.config.relevance.access},
                          .language = store.config.indexing.language};
  const DecayConfig& decay = store.config.decay;
  settings.decay.enabled = decay.enabled;
  settings.decay.minimum_factor = decay.minimum_factor;
  const auto rate = [&](EntryType type) -> double& {
    return settings.decay.rates_per_day[static_cast<std::size_t>(type)];
  };
  rate(EntryType::kConversation) = decay.rates.conversation;
  rate(EntryType::kDecision) = decay.rates.decision;
  rate(EntryType::kFinding) = decay.rates.finding;
  rate(EntryType::kPreference) = decay.rates.preference;
  return settings;
}

Status check_range(const EntryFilter& filter) {
  if (filter.since && filter.until && *filter.since > *filter.until) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the time range ends before it begins; swap since and until",
                 .field = "time_range"};
  }
  return {};
}

Result<std::vector<Hit>> find_hits(HeldIndexes& indexes, const Query& query,
                                   const Question& question, const SearchSettings& settings) {
  return indexes.run([&]() -> Result<std::vector<Hit>> {
    BMAD_TRY_ASSIGN(const SearchResult result,
                    search(indexes.sessions(), query, question, settings));
    HitLoader loader(indexes.sessions(), result, query, settings.language);
    std::vector<Hit> hits;
    hits.reserve(result.found.size());
    for (std::size_t i = 0; i < result.found.size(); ++i) {
      if (settings.is_late()) {
        return query_timeout(query);
      }
      BMAD_TRY_ASSIGN(Hit hit, loader.load(i));
      hits.push_back(std::move(hit));
    }
    return hits;
  });
}

/// Gathers what is linked to one entry.
class RelatedFinder {
 public:
  RelatedFinder(const Store& store, HeldIndexes& indexes, std::string_view id,
                const EntryFilter& filter)
      : store_(store), indexes_(indexes), id_(id), filter_(filter) {}

  Result<std::vector<RelatedEntry>> run() {
    found_.clear();
    for (SessionIndex* session : indexes_.sessions()) {
      BMAD_TRY(of(*session, session->load()));
    }
    BMAD_TRY_ASSIGN(const std::vector<Entry> asked, with_id(id_));
    if (asked.empty()) {
      return Error{
          .code = ErrorCode::E_INVALID_QUERY,
          .message = "there is no entry " + std::string(id_) + "; `bmad-mem list` shows ids",
          .field = "id"};
    }
    for (const Entry& entry : asked) {
      BMAD_TRY(add_references(entry));
      BMAD_TRY(add_referrers());
      BMAD_TRY(add_topic(entry));
      BMAD_TRY(add_similar(entry));
    }
    std::erase_if(found_, [&](const RelatedEntry& each) { return each.entry.id == id_; });
    if (filter_.limit != 0 && found_.size() > filter_.limit) {
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(filter_.limit), found_.end());
    }
    return std::move(found_);
  }

 private:
  /// `result`, whose error says which index to make anew.
  template <typename Outcome>
  static Outcome of(const SessionIndex& session, Outcome result) {
    if (!result) {
      result.error().field = session.session_id();
    }
    return result;
  }

  Result<std::vector<Entry>> with_id(std::string_view id) {
    std::vector<Entry> entries;
    for (SessionIndex* session : indexes_.sessions()) {
      BMAD_TRY_ASSIGN(const std::vector<Ordinal> ordinals, of(*session, session->find(id)));
      for (const Ordinal ordinal : ordinals) {
        BMAD_TRY_ASSIGN(Entry entry, of(*session, load_entry(*session, ordinal)));
        entries.push_back(std::move(entry));
      }
    }
    return entries;
  }

  void add(Entry entry, Relation relation, double relevance) {
    const bool known = std::ranges::any_of(found_, [&](const RelatedEntry& each) {
      return each.entry.id == entry.id && each.entry.session_id == entry.session_id &&
             each.entry.type == entry.type;
    });
    if (!known && passes(entry)) {
      found_.push_back({.entry = std::move(entry), .relation = relation, .relevance = relevance});
    }
  }

  [[nodiscard]] bool passes(const Entry& entry) {
    const Result<JsonValue> value = parser_.parse(entry.json);
    const auto has = [](const std::vector<std::string>& list, std::string_view item) {
      return list.empty() || std::ranges::find(list, item) != list.end();
    };
    return value &&
           (filter_.types.empty() ||
            std::ranges::find(filter_.types, entry.type) != filter_.types.end()) &&
           has(filter_.agents, entry.who) &&
           (!filter_.since || entry.timestamp >= *filter_.since) &&
           (!filter_.until || entry.timestamp <= *filter_.until) &&
           (!filter_.pinned_only || entry.pinned) &&
           (filter_.tags.empty() || std::ranges::any_of(filter_.tags, [&](const std::string& tag) {
              return entry_has_tag(*value, tag);
            }));
  }

  Status add_references(const Entry& entry) {
    JsonParser parser;
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    for (const std::string_view id : entry_references(value)) {
      BMAD_TRY_ASSIGN(std::vector<Entry> named, with_id(id));
      for (Entry& each : named) {
        add(std::move(each), Relation::kReferences, 1);
      }
    }
    return {};
  }

  Status add_referrers() {
    for (SessionIndex* session : indexes_.sessions()) {
      BMAD_TRY_ASSIGN(const std::vector<Posting> postings,
                      of(*session, session->postings(PostingKind::kTerm, reference_key(id_))));
      for (const Posting& posting : postings) {
        if (session->slots().slot(posting.ordinal) == SlotTable::kNoSlot) {
          continue;
        }
        BMAD_TRY_ASSIGN(Entry entry, of(*session, load_entry(*session, posting.ordinal)));
        JsonParser parser;
        BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
        const std::vector<std::string_view> names = entry_references(value);
        if (std::ranges::find(names, id_) != names.end()) {
          add(std::move(entry), Relation::kReferencedBy, 1);
        }
      }
    }
    return {};
  }

  Status add_topic(const Entry& entry) {
    JsonParser parser;
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    const std::string topic(entry_topic(value));
    if (topic.empty()) {
      return {};
    }
    return add_hits(entry, fmt::format("topic:\"{}\"", escaped(topic)), false,
                    Relation::kSameTopic);
  }

  Status add_similar(const Entry& entry) {
    JsonParser parser;
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    std::string text;
    entry_searchable_text(entry.type, value, text);
    return text.empty() ? Status() : add_hits(entry, text, true, Relation::kSimilar);
  }

  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') {
        out += '\\';
      }
      out += c;
    }
    return out;
  }

  Status add_hits(const Entry& entry, std::string text, bool is_prose, Relation relation) {
    Query query{.text = std::move(text), .filter = filter_, .text_is_prose = is_prose};
    query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
    query.ranking = TextRanking::kPlain;  // What is said beside it is not what it is like.
    query.filter.limit = filter_.limit == 0 ? 0 : filter_.limit + 1;  // It finds itself.
    const SearchSettings settings = settings_of(store_);
    BMAD_TRY_ASSIGN(const Question question, read_question(query, settings.now));
    BMAD_TRY_ASSIGN(const SearchResult result,
                    search(indexes_.sessions(), query, question, settings));
    for (const Found& found : result.found) {
      SessionIndex& session = *indexes_.sessions()[found.session];
      BMAD_TRY_ASSIGN(Entry each, of(session, load_entry(session, found.ordinal)));
      if (each.id != entry.id) {
        add(std::move(each), relation, found.relevance);
      }
    }
    return {};
  }

  const Store& store_;
  HeldIndexes& indexes_;
  std::string_view id_;
  const EntryFilter& filter_;
  JsonParser parser_;
  std::vector<RelatedEntry> found_;
};

}  // namespace

std::shared_ptr<SessionIndex> Store::index(const std::string& session_id) const {
  const std::lock_guard guard(indexes_mutex);
  std::shared_ptr<SessionIndex>& slot = indexes[session_id];
  if (slot == nullptr) {
    slot = std::make_shared<SessionIndex>(
        *files, clock,
        SessionIndex::Options{.session_id = session_id,
                              .language = config.indexing.language,
                              .use_checkpoint = config.indexing.enabled,
                              .cache_size = config.index_cache_size_bytes()});
  }
  return slot;
}

Result<std::vector<Hit>> query_entries(const Store& store, const Query& query) {
  SearchSettings settings = settings_of(store);
  if (query.timeout.count() > 0) {
    settings.deadline = std::chrono::steady_clock::now() + query.timeout;
  }
  BMAD_TRY_ASSIGN(const Question question, read_question(query, settings.now));
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions,
                  store.selected_sessions(question.filter.sessions));
  HeldIndexes indexes(store, sessions);
  BMAD_TRY_ASSIGN(std::vector<Hit> hits, find_hits(indexes, query, question, settings));
  indexes.write_checkpoints();
  return hits;
}

Result<std::vector<RelatedEntry>> related_entries(const Store& store, std::string_view id,
                                                  const EntryFilter& filter) {
  BMAD_TRY(check_range(filter));
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions,
                  store.selected_sessions(filter.sessions));
  HeldIndexes indexes(store, sessions);
  RelatedFinder finder(store, indexes, id, filter);
  return indexes.run([&] { return finder.run(); });
}

Result<std::vector<TopicCount>> list_topics(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_range(filter));
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions,
                  store.selected_sessions(filter.sessions));
  HeldIndexes indexes(store, sessions);
  return indexes.run([&] { return count_topics(indexes.sessions(), filter); });
}

Result<std::vector<TimelineBucket>> list_times(const Store& store, const EntryFilter& filter,
                                               TimelineUnit unit) {
  BMAD_TRY(check_range(filter));
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions,
                  store.selected_sessions(filter.sessions));
  HeldIndexes indexes(store, sessions);
  return indexes.run([&] { return count_by_time(indexes.sessions(), filter, unit); });
}

Result<std::vector<IndexReport>> rebuild_indexes(const Store& store,
                                                 std::span<const std::string> wanted,
                                                 const MemoryManager::Progress& on_progress) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions(wanted));
  std::uint64_t total = 0;
  for (const std::string& session_id : sessions) {
    BMAD_TRY_ASSIGN(const SessionFootprint footprint,
                    session_footprint(*store.files, session_id, log_files()));
    total += footprint.size;
  }
  std::vector<IndexReport> reports;
  std::uint64_t done = 0;
  for (const std::string& session_id : sessions) {
    const auto begin = std::chrono::steady_clock::now();
    const std::shared_ptr<SessionIndex> index = store.index(session_id);
    BMAD_TRY(index->rebuild([&](std::uint64_t bytes) {
      if (on_progress) {
        on_progress(std::min(done + bytes, total), total);
      }
    }));
    BMAD_TRY_ASSIGN(const std::optional<CheckpointReport> written, index->write_checkpoint());
    if (!written) {
      continue;  // Another process is writing it at this moment, from the same logs.
    }
    done += written->log_bytes;
    reports.push_back({.session_id = session_id,
                       .entries = written->entries,
                       .terms = written->terms,
                       .log_bytes = written->log_bytes,
                       .index_bytes = written->index_bytes,
                       .took = std::chrono::steady_clock::now() - begin});
  }
  if (on_progress) {
    on_progress(total, total);
  }
  return reports;
}

void checkpoint_after_write(Store& store, const std::string& session_id, OpenSession& session,
                            const Appended& appended) {
  const IndexingConfig& config = store.config.indexing;
  if (!config.enabled) {
    return;
  }
  // Most writes end here: the tail is known to be short, or the whole log is.
  std::uint64_t tail = session.tail_bytes.fetch_add(appended.bytes) + appended.bytes;
  const std::uint64_t entries = session.tail_entries.fetch_add(appended.entries) + appended.entries;
  const bool is_first = !session.tail_known.exchange(true);
  const bool has_many = entries >= static_cast<std::uint64_t>(config.rebuild_threshold_writes);
  if (!has_many && tail < kTailSizeMax && (!is_first || appended.log_end < kTailSizeMax)) {
    return;
  }
  std::uint64_t logs = 0;
  for (const std::string& log_file : log_files()) {
    const Result<FileInfo> info = store.files->info(session_file(session_id, log_file));
    logs += info ? info->size : 0;
  }
  const std::uint64_t covered = checkpointed_bytes(*store.files, session_id, config.language);
  tail = logs > covered ? logs - covered : 0;
  if (has_many || tail >= kTailSizeMax) {
    const std::shared_ptr<SessionIndex> index = store.index(session_id);
    if (index->refresh() && write_new_checkpoint(config, *index)) {
      tail = 0;
      session.tail_entries = 0;
    }
  }
  session.tail_bytes = tail;
}

Result<Query> read_json_query(std::string_view json, Timestamp now) {
  BMAD_TRY_ASSIGN(JsonQuery read, parse_json_query(json));
  Query query{.text = std::move(read.text), .sort = read.sort};
  query.min_relevance = read.min_relevance;
  query.filter = {.sessions = std::move(read.sessions),
                  .types = std::move(read.types),
                  .tags = std::move(read.tags),
                  .agents = std::move(read.agents),
                  .limit = read.limit};
  if (read.since) {
    query.filter.since = read.since->at(now);
  }
  if (read.until) {
    query.filter.until = read.until->at(now);
  }
  const JsonQueryWeights& weights = read.weights;
  if (weights.text || weights.time || weights.importance || weights.access) {
    const RelevanceWeights defaults;
    query.weights = RelevanceWeights{.text = weights.text.value_or(defaults.text),
                                     .time = weights.time.value_or(defaults.time),
                                     .importance = weights.importance.value_or(defaults.importance),
                                     .access = weights.access.value_or(defaults.access)};
  }
  return query;
}

std::string_view relation_name(Relation relation) {
  switch (relation) {
    case Relation::kReferences:
      return "references";
    case Relation::kReferencedBy:
      return "referenced_by";
    case Relation::kSameTopic:
      return "same_topic";
    case Relation::kSimilar:
      return "similar";
  }
  return "";
}

std::uint64_t TimelineBucket::total() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : entries) {
    sum += count;
  }
  return sum;
}

}  // namespace bmad_mem
