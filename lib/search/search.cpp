// search.cpp - query, topics and timeline: what the query room makes of the indexes. No session
// lock is taken.
#include "search/search.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <span>

#include <fmt/format.h>

#include "encoder/encoder_choice.hpp"
#include "model/entry.hpp"
#include "query/plan.hpp"
#include "sealed_reads.hpp"
#include "search/analyzer.hpp"
#include "search/date_span.hpp"
#include "search/held_indexes.hpp"
#include "search/holding.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/store.hpp"

namespace bmad_mem {

SearchSettings search_settings(const Store& store) {
  SearchSettings settings{
      .now = store.clock.now(),
      .decay = DecaySettings::defaults(),
      .combine = try_parse_relevance_combine(store.config.relevance.combine)
                     .value_or(RelevanceCombine::kFactors),
      .weights = {.text = store.config.relevance.text,
                  .time = store.config.relevance.time,
                  .importance = store.config.relevance.importance,
                  .access = store.config.relevance.access},
      .language = store.config.indexing.language,
      .origins = store.origins.get(),
      .encoder = [&store](auto deadline) { return encoder_of(store, deadline); },
      .encodes_sensitive = store.config.encoder.sensitive};
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

/// Most bytes of sealed lines that a question opens; behind them it says how much it left out.
constexpr std::uint64_t kSealedBytesMax = std::uint64_t{16} << 20U;

/// What a word and all that have its term begin with: endings differ, and the last letter of a stem
/// may (happy is happi). Empty where nothing of the kind is sure.
std::string needle_of(const Analyzer& analyzer, std::string_view word, std::string_view term) {
  constexpr std::size_t kShortest = 2;
  const bool has_digit = std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
  const bool is_ascii =
      std::ranges::all_of(word, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (!analyzer.keeps_beginnings() || !is_ascii || term.size() < kShortest) {
    return {};
  }
  const std::size_t sure = has_digit ? term.size() : std::max(kShortest, term.size() - 1);
  std::size_t same = 0;
  while (same < std::min(word.size(), sure) && word[same] == term[same]) {
    ++same;
  }
  return same < kShortest ? std::string() : std::string(term.substr(0, same));
}

/// What an entry holds that a question can find by its words; nothing where it may find others.
Result<std::vector<std::string>> needles_of(const Plan& plan, std::string_view language,
                                            Timestamp now) {
  if (!find_date_spans(plan.prose, now).empty()) {
    return std::vector<std::string>();
  }
  BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(language));
  std::vector<std::string> needles;
  for (const QueryClause& clause : plan.clauses) {
    if (clause.excluded) {
      continue;
    }
    std::vector<std::string> words;
    for (const Token& token : analyzer.tokenize(clause.text)) {
      if (!token.whole) {
        words.emplace_back(token.text);
      }
    }
    for (const std::string& word : words) {
      const std::string_view term = analyzer.term(word, false);
      if (term.empty() && clause.kind != ClauseKind::kPrefix) {
        continue;  // A stop word.
      }
      std::string needle = needle_of(analyzer, word, term.empty() ? std::string_view(word) : term);
      if (needle.empty() || clause.kind == ClauseKind::kFuzzy) {
        return std::vector<std::string>();
      }
      needles.push_back(std::move(needle));
    }
  }
  return needles;
}

/// What is asked, with the sealed entries of both memories beside the others.
struct AskedWithSealed {
  AskedSessions asked;
  SealedSessions of_project;
  SealedSessions of_user;
};

Result<AskedWithSealed> with_sealed(const Store& store, const AskedSessions& asked,
                                    const Plan& plan, const SearchSettings& settings) {
  AskedWithSealed all{.asked = asked};
  const bool has_any =
      !asked.indexes->with_sealed_lines().empty() ||
      (asked.indexes_of_user != nullptr && !asked.indexes_of_user->with_sealed_lines().empty());
  if (!has_any) {
    return all;
  }
  SealedWish wish{.types = plan.query.filter.types, .bytes_max = kSealedBytesMax};
  BMAD_TRY_ASSIGN(wish.needles, needles_of(plan, settings.language, settings.now));
  BMAD_TRY(all.of_project.add(store, *asked.indexes, wish));
  if (asked.indexes_of_user != nullptr) {
    BMAD_TRY(all.of_user.add(*store.user_store(), *asked.indexes_of_user, wish));
  }
  const auto sealed = all.of_project.sessions();
  const auto of_user = all.of_user.sessions();
  const std::size_t count = std::min(asked.first_of_user, asked.sessions.size());
  std::vector<IndexedSession*>& sessions = all.asked.sessions;
  const auto first_of_user = asked.sessions.begin() + static_cast<std::ptrdiff_t>(count);
  sessions.assign(asked.sessions.begin(), first_of_user);
  sessions.insert(sessions.end(), sealed.begin(), sealed.end());
  sessions.insert(sessions.end(), first_of_user, asked.sessions.end());
  sessions.insert(sessions.end(), of_user.begin(), of_user.end());
  if (asked.indexes_of_user != nullptr) {
    all.asked.first_of_user = count + sealed.size();
  }
  return all;
}

/// A hit of an entry whose later version is sealed becomes one of that.
Status show_latest(const AskedWithSealed& all, std::vector<Hit>& hits) {
  for (Hit& hit : hits) {
    const SealedSessions& sealed = all.of_user.replace(hit.entry) ? all.of_user : all.of_project;
    if (!sealed.replace(hit.entry)) {
      continue;
    }
    BMAD_TRY_ASSIGN(std::vector<Entry> latest, entries_with_id(sealed.sessions(), hit.entry.id));
    const auto its = std::ranges::find_if(latest, [&](const Entry& entry) {
      return entry.session_id == hit.entry.session_id && entry.type == hit.entry.type;
    });
    if (its == latest.end()) {
      hit.entry.id.clear();  // The later version holds none of the words.
    } else if (its->json != hit.entry.json) {
      its->of_user = hit.entry.of_user;
      hit.snippet = hit.snippet.empty() ? std::string() : its->headline;
      hit.highlights.clear();
      hit.entry = std::move(*its);
    }
  }
  std::erase_if(hits, [](const Hit& hit) { return hit.entry.id.empty(); });
  return {};
}

/// What the key would find besides, and what was not looked at.
void note_sealed(const SealedSessions& sealed, std::vector<std::string>& notes) {
  const auto note = [&](std::uint64_t count, std::string_view one, std::string_view several) {
    if (count > 0) {
      notes.push_back(
          fmt::format("{} sealed entr{}", count,
                      count == 1 ? fmt::format("y {}", one) : fmt::format("ies {}", several)));
    }
  };
  note(sealed.closed, "needs the key", "need the key");
  if (sealed.key_problem && sealed.closed > 0) {
    notes.back() += ": " + sealed.key_problem->to_string();
  }
  note(sealed.damaged, "does not open; `bmad-mem verify` names it",
       "do not open; `bmad-mem verify` names them");
  note(sealed.unread, "is too many to look at; name a session",
       "are too many to look at; name a session");
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
  EncoderUse encoder;
  const auto find = [&](const AskedSessions& asked) -> Result<std::vector<Hit>> {
    AskedWithSealed all;
    if (!as_of) {
      BMAD_TRY_ASSIGN(all, with_sealed(store, asked, plan, settings));
    }
    const AskedSessions& searched = as_of ? asked : all.asked;
    settings.first_of_user = &store == &project ? searched.first_of_user : 0;
    const bool has_users = settings.first_of_user < searched.sessions.size();
    settings.user_origins = has_users ? project.user_store()->origins.get() : nullptr;
    BMAD_TRY_ASSIGN(const SearchResult result, search(searched.sessions, plan, settings));
    instead = result.instead;
    encoder = result.encoder;
    note_sealed(all.of_project, instead);
    note_sealed(all.of_user, instead);
    BMAD_TRY_ASSIGN(std::vector<Hit> hits,
                    load_hits(store, searched.sessions, result, query, settings));
    BMAD_TRY(show_latest(all, hits));
    return hits;
  };
  Result<std::vector<Hit>> hits = with_both_indexes(store, plan.query.filter, find);
  if (!hits) {
    return std::move(hits).error();
  }
  QueryAnswer answer{.hits = *std::move(hits),
                     .as_prose = std::move(plan.as_prose),
                     .notes = {},
                     .instead = std::move(instead),
                     .encoder = std::move(encoder)};
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
