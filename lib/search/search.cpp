// search.cpp - answers queries over all memories that are asked, and counts topics and times.
#include "search/search.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <span>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "encoder/encoder_choice.hpp"
#include "encrypted_reads.hpp"
#include "query/plan.hpp"
#include "search/analyzer.hpp"
#include "search/cached_indexes.hpp"
#include "search/date_span.hpp"
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
      .roots = {{.origins = store.origins.get()}},
      .encoder = [&store](auto deadline) { return encoder_of(store, deadline); },
      .encodes_sensitive = store.config.encoder.sensitive};
  const DecayConfig& decay = store.config.decay;
  settings.decay.enabled = decay.enabled;
  settings.decay.model =
      decay.model == "priority" ? DecayModel::kPriority : DecayModel::kExponential;
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
  assert(fields.size() >= query.filter.fields.size());
  for (const FieldFilter& field : fields.subspan(query.filter.fields.size())) {
    plan.notes.push_back(fmt::format("read \"{0}:{1}\" as a filter; write {0}\\:{1} for the words",
                                     field.field, field.value));
  }
}

/// Most bytes of encrypted lines that a question opens; behind them it says how much it left out.
constexpr std::uint64_t kEncryptedBytesMax = std::uint64_t{16} << 20U;

/// What a word and all that have its term begin with: endings differ, and the last letter of a stem
/// may (happy is happi). Empty where nothing of the kind is sure.
std::string needle_of(const Analyzer& analyzer, std::string_view word, std::string_view term) {
  constexpr std::size_t kShortest = 2;
  if (!analyzer.keeps_beginnings() || !std::ranges::all_of(word, is_ascii) ||
      term.size() < kShortest) {
    return {};
  }
  const std::size_t sure =
      std::ranges::any_of(word, is_digit) ? term.size() : std::max(kShortest, term.size() - 1);
  const auto same = std::ranges::mismatch(word, term.substr(0, sure)).in2 - term.begin();
  return std::string(term.substr(
      0, static_cast<std::size_t>(same) < kShortest ? 0 : static_cast<std::size_t>(same)));
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

/// The memories that a question is asked of. Where `filter` names no session: `project`, the user's
/// own, `others`, and what only the checkout of the worktree has. Else those of them that have any.
/// Errors: as check_session() for a session that none has.
Result<std::vector<AskedRoot>> asked_roots(const Store& project, const EntryFilter& filter,
                                           std::span<const std::unique_ptr<Store>> others) {
  const Store* const user = project.user_store();
  if (!filter.sessions.empty() && others.empty()) {
    const Store& its = store_of(project, filter.sessions);
    const MemoryKind kind = &its == user ? MemoryKind::kUser : MemoryKind::kProject;
    return std::vector{AskedRoot{.store = &its, .kind = kind, .filter = filter}};
  }
  std::vector<AskedRoot> all = {{.store = &project, .filter = filter}};
  if (user != nullptr) {
    all.push_back({.store = user, .kind = MemoryKind::kUser, .filter = filter});
  }
  for (const std::unique_ptr<Store>& other : others) {
    all.push_back({.store = other.get(), .kind = MemoryKind::kOther, .filter = filter});
  }
  if (filter.sessions.empty()) {
    if (EntryFilter its = filter; project.checkout() != nullptr) {
      its.sessions = project.checkout_sessions();
      if (!its.sessions.empty()) {
        all.push_back({.store = project.checkout(), .kind = MemoryKind::kOther, .filter = its});
      }
    }
    return all;
  }
  std::set<std::string> unknown(filter.sessions.begin(), filter.sessions.end());
  for (AskedRoot& root : all) {
    std::vector<std::string> its;
    for (const std::string& id : filter.sessions) {
      const Status known = check_session(*root.store, id);
      if (known || known.error().code == ErrorCode::E_SESSION_ARCHIVED) {
        unknown.erase(id);
        its.push_back(id);
      }
    }
    root.filter.sessions = std::move(its);
  }
  if (!unknown.empty()) {
    return check_session(project, *unknown.begin()).error();
  }
  std::erase_if(all, [](const AskedRoot& root) { return root.filter.sessions.empty(); });
  return all;
}

/// What is asked, with the encrypted entries of each memory behind its others.
struct AskedWithEncrypted {
  AskedSessions asked;
  std::vector<EncryptedSessions> encrypted;  ///< By root; empty where there is nothing encrypted.
};

Result<AskedWithEncrypted> with_encrypted(const AskedSessions& asked, const Plan& plan,
                                          const SearchSettings& settings) {
  AskedWithEncrypted all{.asked = asked};
  const bool has_any = std::ranges::any_of(asked.roots, [](const AskedRoot& root) {
    return !root.indexes->with_encrypted_lines().empty();
  });
  if (!has_any) {
    return all;
  }
  EncryptedWish wish{.types = plan.query.filter.types, .bytes_max = kEncryptedBytesMax};
  BMAD_TRY_ASSIGN(wish.needles, needles_of(plan, settings.language, settings.now));
  all.asked.sessions.clear();
  for (AskedRoot& root : all.asked.roots) {
    assert(root.store != nullptr && root.indexes != nullptr && "they are held");
    EncryptedSessions& encrypted = all.encrypted.emplace_back();
    BMAD_TRY(encrypted.add(*root.store, *root.indexes, wish));
    root.first = all.asked.sessions.size();
    std::ranges::copy(root.indexes->sessions(), std::back_inserter(all.asked.sessions));
    std::ranges::copy(encrypted.sessions(), std::back_inserter(all.asked.sessions));
  }
  return all;
}

/// A hit of an entry whose later version is encrypted becomes one of that.
Status show_latest(const EncryptedSessions& encrypted, Hit& hit) {
  if (!encrypted.replace(hit.entry)) {
    return {};
  }
  BMAD_TRY_ASSIGN(std::vector<Entry> latest, entries_with_id(encrypted.sessions(), hit.entry.id));
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
  return {};
}

/// What the key would find besides, and what was not looked at.
void note_encrypted(const EncryptedSessions& encrypted, std::vector<std::string>& notes) {
  const auto note = [&](std::uint64_t count, std::string_view one, std::string_view several) {
    if (count > 0) {
      notes.push_back(
          fmt::format("{} encrypted entr{}", count,
                      count == 1 ? fmt::format("y {}", one) : fmt::format("ies {}", several)));
    }
  };
  if (encrypted.closed > 0) {
    notes.push_back(closed_text(encrypted.closed, encrypted.key_problem));
  }
  note(encrypted.damaged, "does not open; `bmad-mem verify` names it",
       "do not open; `bmad-mem verify` names them");
  note(encrypted.unread, "is too many to look at; name a session",
       "are too many to look at; name a session");
}

/// The memories of Query::also_roots, each once, without those that are asked anyway.
Result<std::vector<std::unique_ptr<Store>>> open_others(const Store& project, const Query& query) {
  std::vector<std::unique_ptr<Store>> others;
  for (const std::string& folder : query.also_roots) {
    BMAD_TRY_ASSIGN(std::unique_ptr<Store> other, project.above.open_other(project, folder));
    BMAD_TRY_ASSIGN(const FileInfo root, other->files->info(""));
    const auto is_same = [&](const Store* known) {
      const Result<FileInfo> its =
          known == nullptr ? Result<FileInfo>(Error{}) : known->files->info("");
      return its && its->same_file(root);
    };
    if (!is_same(&project) && !is_same(project.user_store()) &&
        std::ranges::none_of(others, is_same, &std::unique_ptr<Store>::get)) {
      others.push_back(std::move(other));
    }
  }
  return others;
}

/// A hit by the number of the memory that it is of.
struct HitOfRoot {
  Hit hit;
  std::size_t root = 0;
};

/// Searches what is held. What it tells besides goes to `answer`.
Result<std::vector<HitOfRoot>> find_hits(const AskedSessions& asked, const Plan& plan,
                                         const Query& query, SearchSettings& settings,
                                         QueryAnswer& answer) {
  AskedWithEncrypted all{.asked = asked};
  if (!plan.query.filter.as_of) {
    BMAD_TRY_ASSIGN(all, with_encrypted(asked, plan, settings));
  }
  assert(!asked.roots.empty());
  settings.roots.clear();
  for (const AskedRoot& root : all.asked.roots) {
    settings.roots.push_back(
        {.first = root.first, .kind = root.kind, .origins = root.store->origins.get()});
  }
  BMAD_TRY_ASSIGN(const SearchResult result, search_sessions(all.asked.sessions, plan, settings));
  answer.instead = result.instead;
  answer.encoder = result.encoder;
  BMAD_TRY_ASSIGN(std::vector<Hit> hits, load_hits(*asked.roots.front().store, all.asked.sessions,
                                                   result, query, settings));
  assert(hits.size() == result.found.size());
  std::vector<HitOfRoot> found;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const std::size_t root = settings.root_of(result.found[i].session);
    if (!all.encrypted.empty()) {
      assert(root < all.encrypted.size());
      BMAD_TRY(show_latest(all.encrypted[root], hits[i]));
    }
    if (!hits[i].entry.id.empty()) {
      found.push_back({.hit = std::move(hits[i]), .root = root});
    }
  }
  for (const EncryptedSessions& encrypted : all.encrypted) {
    note_encrypted(encrypted, answer.instead);
  }
  return found;
}

/// What holds of `found`, with the links that lead somewhere; notes that they were read.
void show_found(std::span<const AskedRoot> roots, std::span<HitOfRoot> found, bool is_past) {
  for (std::size_t root = 0; root < roots.size(); ++root) {
    const Store& store = *roots[root].store;
    std::vector<Entry*> entries;
    for (HitOfRoot& each : found) {
      if (each.root == root) {
        entries.push_back(&each.hit.entry);
      }
    }
    if (!is_past) {
      show_valid_versions(store, entries);
    }
    for (HitOfRoot& each : found) {
      if (each.root == root && !each.hit.entry.newer.empty()) {  // It has words of the other one.
        each.hit.snippet = each.hit.entry.headline;
        each.hit.highlights.clear();
      }
    }
    show_links(store, entries);
    for (const Entry* const entry : is_past ? std::vector<Entry*>() : entries) {
      store.note_access(entry->session_id, entry->id);
    }
    if (!is_past) {
      store.accesses.write_if_many(*store.files, store.clock);
    }
  }
}

}  // namespace

Result<QueryAnswer> answer_query(const Store& store, const Query& query) {
  SearchSettings settings = search_settings(store);
  if (query.timeout.count() > 0) {
    settings.deadline = std::chrono::steady_clock::now() + query.timeout;
  }
  const std::optional<Timestamp> as_of = query.filter.as_of;
  settings.now = as_of.value_or(settings.now);
  BMAD_TRY_ASSIGN(Plan plan, read_query(query, settings.now));
  BMAD_TRY_ASSIGN(plan.query.filter, readable(store, std::move(plan.query.filter)));
  BMAD_TRY_ASSIGN(const std::vector<std::unique_ptr<Store>> others, open_others(store, query));
  AskedSessions asked;
  BMAD_TRY_ASSIGN(asked.roots, asked_roots(store, plan.query.filter, others));
  QueryAnswer answer;
  const auto find = [&](const AskedSessions& held) {
    return find_hits(held, plan, query, settings, answer);
  };
  BMAD_TRY_ASSIGN(std::vector<HitOfRoot> found, with_all_indexes(asked, find));
  show_found(asked.roots, found, as_of.has_value());
  for (HitOfRoot& each : found) {
    if (!query.also_roots.empty()) {
      const AskedRoot& root = asked.roots[each.root];
      each.hit.root = root.store->files->display_path("");
      each.hit.from_elsewhere =
          root.kind == MemoryKind::kOther && root.store->origins->is_foreign();
    }
    answer.hits.push_back(std::move(each.hit));
  }
  if (!answer.hits.empty() && !plan.clauses.empty() && query.sort == SortOrder::kRelevanceDesc) {
    answer.certainty = certainty_of(answer.hits);
    if (*answer.certainty == Certainty::kNone && answer.encoder.took_part &&
        answer.hits.front().nearness.words == 0) {
      answer.certainty = Certainty::kMaybe;  // Found by what it means.
    }
  }
  if (query.explain && !answer.encoder.took_part && !answer.encoder.failed &&
      !may_have_encoder(*asked.roots.front().store)) {
    answer.encoder.reason.clear();  // Nobody wanted it.
  }
  if (answer.hits.empty()) {
    note_fields(query, plan);
  }
  answer.as_prose = std::move(plan.as_prose);
  answer.notes = std::move(plan.notes);
  return answer;
}

Result<std::vector<TopicCount>> list_topics(const Store& store, const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  return with_indexes(store, filter, [&](CachedIndexes& indexes) {
    return count_topics(indexes.sessions(), filter, filter.as_of.value_or(store.clock.now()));
  });
}

Result<std::vector<TimelineBucket>> list_times(const Store& store, const EntryFilter& filter,
                                               TimelineUnit unit) {
  BMAD_TRY(check_time_range(filter));
  return with_indexes(store, filter, [&](CachedIndexes& indexes) {
    return count_by_time(indexes.sessions(), filter, filter.as_of.value_or(store.clock.now()),
                         unit);
  });
}

std::uint64_t TimelineBucket::total() const {
  return std::accumulate(entries.begin(), entries.end(), std::uint64_t{0});
}

}  // namespace bmad_mem
