// search.cpp - query, topics and timeline: what the query room makes of the indexes. No session
// lock is taken.
#include "search/search.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "query/plan.hpp"
#include "search/analyzer.hpp"
#include "search/held_indexes.hpp"
#include "search/holding.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {

SearchSettings search_settings(const Store& store) {
  SearchSettings settings{.now = store.clock.now(),
                          .decay = DecaySettings::defaults(),
                          .combine = try_parse_relevance_combine(store.config.relevance.combine)
                                         .value_or(RelevanceCombine::kFactors),
                          .weights = {.text = store.config.relevance.text,
                                      .time = store.config.relevance.time,
                                      .importance = store.config.relevance.importance,
                                      .access = store.config.relevance.access},
                          .language = store.config.indexing.language,
                          .origins = store.origins.get()};
  const DecayConfig& decay = store.config.decay;
  settings.decay.enabled = decay.enabled;
  settings.decay.model = try_parse_decay_model(decay.model).value_or(DecayModel::kExponential);
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

namespace {

/// Who meant the words "key:value" may wonder why nothing is found.
void note_fields(const Query& query, Plan& plan) {
  const std::span<const FieldFilter> fields = plan.query.filter.fields;
  for (const FieldFilter& field : fields.subspan(query.filter.fields.size())) {
    plan.notes.push_back(fmt::format("read \"{0}:{1}\" as a filter; write {0}\\:{1} for the words",
                                     field.field, field.value));
  }
}

std::set<std::string> terms_of(Analyzer& analyzer, std::string_view text) {
  std::set<std::string> terms;
  std::vector<std::string> words;
  for (const Token& token : analyzer.tokenize(text)) {
    words.emplace_back(token.text);
  }
  for (const std::string& word : words) {
    if (const std::string_view term = analyzer.term(word, false); !term.empty()) {
      terms.emplace(term);
    }
  }
  return terms;
}

/// The share of the wanted terms that the entry has.
double share_of(const std::set<std::string>& wanted, const std::set<std::string>& terms) {
  const auto held =
      std::ranges::count_if(wanted, [&](const std::string& term) { return terms.contains(term); });
  return wanted.empty() ? 1.0 : static_cast<double>(held) / static_cast<double>(wanted.size());
}

/// What is sealed is in no index: it is scanned, by words alone, and ranks by their share and its
/// importance. What stays closed is counted.
Status add_sealed(const Store& store, const Query& query, const EntryFilter& filter,
                  QueryAnswer& answer) {
  BMAD_TRY_ASSIGN(SealedEntries sealed, sealed_entries(store, filter));
  if (sealed.closed > 0) {
    answer.instead.push_back(fmt::format("{} sealed entr{} the key", sealed.closed,
                                         sealed.closed == 1 ? "y needs" : "ies need"));
  }
  if (sealed.unread > 0) {
    answer.instead.push_back(fmt::format("{} sealed entr{} too many to look at; name a session",
                                         sealed.unread, sealed.unread == 1 ? "y is" : "ies are"));
  }
  if (sealed.entries.empty() || !query.topics.empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(store.config.indexing.language));
  const std::set<std::string> wanted = terms_of(analyzer, query.text);
  JsonParser parser;
  for (Entry& entry : sealed.entries) {
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    std::string text;
    entry_searchable_text(entry.type, value, text, ' ');
    const double share = share_of(wanted, terms_of(analyzer, text));
    const EntryHead head = entry_head(entry.type, value);
    const double importance = importance_of(entry.type, head.severe, head.approved);
    Hit hit{.relevance = share * (0.80 + 0.20 * importance)};
    if (share == 0 || hit.relevance < query.min_relevance) {
      continue;
    }
    hit.components = {.text = share, .time = 1, .importance = importance, .access = 0.5};
    hit.snippet = query.snippet_size == 0 ? std::string() : entry.headline;
    hit.entry = std::move(entry);
    answer.hits.push_back(std::move(hit));
  }
  std::ranges::stable_sort(answer.hits, [&](const Hit& a, const Hit& b) {
    return query.sort == SortOrder::kTimeAsc    ? a.entry.timestamp < b.entry.timestamp
           : query.sort == SortOrder::kTimeDesc ? a.entry.timestamp > b.entry.timestamp
                                                : a.relevance > b.relevance;
  });
  if (filter.limit != 0 && answer.hits.size() > filter.limit) {
    answer.hits.resize(filter.limit);
  }
  return {};
}

}  // namespace

Result<QueryAnswer> answer_query(const Store& project, const Query& query) {
  SearchSettings settings = search_settings(project);
  if (query.timeout.count() > 0) {
    settings.deadline = std::chrono::steady_clock::now() + query.timeout;
  }
  const std::optional<Timestamp> as_of = query.filter.as_of;
  settings.now = as_of.value_or(settings.now);
  BMAD_TRY_ASSIGN(Plan plan, read_query(query, settings.now));
  BMAD_TRY_ASSIGN(plan.query.filter, readable(project, std::move(plan.query.filter)));
  const Store& store = store_of(project, plan.query.filter.sessions);
  std::vector<std::string> instead;
  const auto find = [&](const AskedSessions& asked) -> Result<std::vector<Hit>> {
    settings.first_of_user = &store == &project ? asked.first_of_user : 0;
    const bool has_users = settings.first_of_user < asked.sessions.size();
    settings.user_origins = has_users ? project.user_store()->origins.get() : nullptr;
    BMAD_TRY_ASSIGN(const SearchResult result, search(asked.sessions, plan, settings));
    instead = result.instead;
    return load_hits(store, asked.sessions, result, query, settings);
  };
  Result<std::vector<Hit>> hits = with_both_indexes(store, plan.query.filter, find);
  if (!hits) {
    return std::move(hits).error();
  }
  QueryAnswer answer{.hits = *std::move(hits),
                     .as_prose = std::move(plan.as_prose),
                     .notes = {},
                     .instead = std::move(instead)};
  if (!as_of) {
    BMAD_TRY(add_sealed(store, query, plan.query.filter, answer));
  }
  std::vector<Entry*> entries;
  for (Hit& hit : answer.hits) {
    entries.push_back(&hit.entry);
  }
  if (!as_of) {
    show_held_versions(project, entries);
  }
  show_links(store, entries);
  if (!as_of) {
    for (const Hit& hit : answer.hits) {
      const Store& its = hit.entry.of_user ? *project.user_store() : project;
      its.note_access(hit.entry.session_id, hit.entry.id);
    }
    store.accesses.write_if_many(*store.files, store.clock);
  }
  if (answer.hits.empty()) {
    note_fields(query, plan);
  }
  answer.notes = std::move(plan.notes);
  return answer;
}

Result<std::vector<TopicCount>> list_topics(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  return with_indexes(store, filter, [&](HeldIndexes& indexes) {
    return count_topics(indexes.sessions(), filter, filter.as_of.value_or(store.clock.now()));
  });
}

Result<std::vector<TimelineBucket>> list_times(const Store& store, const EntryFilter& filter,
                                               TimelineUnit unit) {
  BMAD_TRY(check_time_range(filter));
  return with_indexes(store, filter, [&](HeldIndexes& indexes) {
    return count_by_time(indexes.sessions(), filter, filter.as_of.value_or(store.clock.now()),
                         unit);
  });
}

std::uint64_t TimelineBucket::total() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t count : entries) {
    sum += count;
  }
  return sum;
}

}  // namespace bmad_mem
