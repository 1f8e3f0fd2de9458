// search.cpp - query, topics and timeline: what the query room makes of the indexes. No session
// lock is taken.
#include "search/search.hpp"

#include <chrono>
#include <span>

#include <fmt/format.h>

#include "query/plan.hpp"
#include "search/held_indexes.hpp"
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
                          .language = store.config.indexing.language};
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
    BMAD_TRY_ASSIGN(const SearchResult result, search(asked.sessions, plan, settings));
    instead = result.instead;
    return load_hits(store, asked.sessions, result, query, settings);
  };
  Result<std::vector<Hit>> hits = with_both_indexes(store, plan.query.filter, find);
  if (!hits) {
    return std::move(hits).error();
  }
  std::vector<Entry*> entries;
  for (Hit& hit : *hits) {
    entries.push_back(&hit.entry);
  }
  show_links(store, entries);
  if (!as_of) {
    for (const Hit& hit : *hits) {
      const Store& its = hit.entry.of_user ? *project.user_store() : project;
      its.note_access(hit.entry.session_id, hit.entry.id);
    }
    store.accesses.write_if_many(*store.files, store.clock);
  }
  if (hits->empty()) {
    note_fields(query, plan);
  }
  return QueryAnswer{.hits = *std::move(hits),
                     .as_prose = std::move(plan.as_prose),
                     .notes = std::move(plan.notes),
                     .instead = std::move(instead)};
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
