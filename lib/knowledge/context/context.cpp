// context.cpp - what an agent is told before a task: what is known, and what two searches find. No
// lock is taken, and no access is noted: asking must not change the next answer.
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "bmad_mem/json_parser.hpp"
#include "context/context_builder.hpp"
#include "knowledge/knowledge_store.hpp"
#include "known_statements.hpp"
#include "prompt_text.hpp"
#include "search/held_indexes.hpp"
#include "search/search.hpp"
#include "store/access.hpp"
#include "store/present_sessions.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// Facts and preferences that the task brings up: enough for three sections, duplicates and all.
constexpr std::size_t kKnownMax = 48;
/// Some of the best are said already, or belong elsewhere.
constexpr std::size_t kSaidPerSnippet = 4;
/// So many more are looked at where the best repeat each other.
constexpr std::size_t kRepeatsPerSaid = 16;
constexpr std::size_t kPinnedMax = 10;
constexpr std::size_t kSnippetSize = 300;
/// What fits much worse than the best shares a common word with the task and no more.
constexpr double kTextShareMin = 0.1;

/// The project that the session belongs to; empty when its manifest names none or can't be read.
std::string project_of(const Store& store, const std::string& session_id) {
  const Result<Manifest> manifest = load_manifest(*store.files, session_id);
  if (manifest) {
    return manifest->project_name;
  }
  const Result<ArchiveManifest> archived = read_archive_manifest(*store.files, session_id);
  if (!archived) {
    return {};
  }
  const Result<Manifest> kept = parse_manifest(archived->text, session_id);
  return kept ? kept->project_name : std::string();
}

bool is_knowledge(EntryType type) {
  return type == EntryType::kFact || type == EntryType::kPreference;
}

/// What a context draws on.
struct Sources {
  std::set<std::string, std::less<>> sessions;
  std::set<std::string, std::less<>> user_sessions;  // Of the user's own memory.
  std::vector<Hit> known;
  std::vector<Hit> said;
  std::vector<Hit> pinned;
};

class ContextSearch {
 public:
  ContextSearch(const Store& store, const ContextOptions& options)
      : store_(store),
        options_(options),
        filter_{.sessions = options.sessions, .as_of = options.as_of},
        settings_(search_settings(store)) {
    settings_.weights.access = 0;
  }

  /// What counts least is not worth its place in a prompt: nothing that was evicted.
  [[nodiscard]] Result<ChosenIndexes> choose() const {
    return chosen_indexes(store_, filter_, EvictedEntries::kWithout);
  }

  /// `first`: what choose() has found just now.
  Result<Sources> run(ChosenIndexes first) {
    std::optional<ChosenIndexes> known = std::move(first);
    return choose_steadily(store_, [&]() -> Result<Sources> {
      BMAD_TRY_ASSIGN(
          ChosenIndexes chosen,
          known ? Result<ChosenIndexes>(*std::exchange(known, std::nullopt)) : choose());
      chosen.keep(*store_.root_index,
                  [&](const std::string& session_id) { return is_in_scope(session_id); });
      HeldIndexes indexes(store_, chosen);
      Result<Sources> sources = indexes.run([&] { return search_both(indexes.sessions()); });
      if (sources) {
        BMAD_TRY(check_still_there(store_, filter_, chosen));
        indexes.seal();
      }
      return sources;
    });
  }

 private:
  [[nodiscard]] bool is_in_scope(const std::string& session_id) const {
    if (std::ranges::find(options_.without_sessions, session_id) !=
        options_.without_sessions.end()) {
      return false;
    }
    if (options_.project.empty()) {
      return true;
    }
    const std::string project = project_of(store_, session_id);
    return project.empty() || project == options_.project;
  }

  /// Beside the sessions those of the user's own memory, unless some sessions were asked for.
  Result<Sources> search_both(std::span<IndexedSession* const> sessions) {
    settings_.first_of_user = sessions.size();
    const Store* const user = options_.sessions.empty() ? store_.user_store() : nullptr;
    if (user == nullptr) {
      return search_all(sessions);
    }
    EntryFilter filter;
    filter.as_of = options_.as_of;
    return with_indexes(*user, filter, [&](HeldIndexes& users) {
      std::vector<IndexedSession*> both(sessions.begin(), sessions.end());
      both.insert(both.end(), users.sessions().begin(), users.sessions().end());
      return search_all(both);
    });
  }

  Result<Sources> search_all(std::span<IndexedSession* const> sessions) {
    Sources sources;
    // Time counts from the newest entry, so that a store that rests says the same next year. One
    // that is dated in the future would make all others old: it doesn't count before its time. Of
    // the user's own memory none does: what is said elsewhere makes nothing here older.
    const Timestamp now = options_.as_of.value_or(store_.clock.now());
    settings_.now = settings_.first_of_user == 0 ? now : Timestamp{};
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      (i < settings_.first_of_user ? sources.sessions : sources.user_sessions)
          .insert(sessions[i]->session_id());
      if (i < settings_.first_of_user) {
        settings_.now = std::max(settings_.now, std::min(now, sessions[i]->newest()));
      }
    }
    Query query{.text = options_.task, .text_is_prose = true, .context = 0};
    query.filter.without_sensitive = true;
    query.snippet_size = 0;  // Of what is known, the item has the text.
    if (options_.task.find_first_not_of(" \t\r\n") != std::string::npos) {
      query.filter.types = {EntryType::kFact, EntryType::kPreference};
      query.filter.limit = kKnownMax;
      query.filter.since = options_.since;
      BMAD_TRY_ASSIGN(sources.known, find(sessions, query));
      query.filter.types = {EntryType::kConversation, EntryType::kDecision, EntryType::kFinding,
                            EntryType::kEvent, EntryType::kArtifact};
      query.filter.since = snippets_since();
      query.context = 1;
      query.snippet_size = kSnippetSize;
      BMAD_TRY_ASSIGN(sources.said, find_said(sessions, query));
    }
    BMAD_TRY_ASSIGN(sources.pinned, find_pinned(sessions));
    return sources;
  }

  [[nodiscard]] std::optional<Timestamp> snippets_since() const {
    const std::chrono::days recency(store_.config.context.recency_days);
    if (options_.since || recency.count() == 0) {
      return options_.since;
    }
    return settings_.now - recency;
  }

  Result<std::vector<Hit>> find_pinned(std::span<IndexedSession* const> sessions) const {
    struct Pin {
      Timestamp time;
      std::size_t session;
      Ordinal ordinal;
    };
    std::vector<Pin> pins;
    const std::string mark = fmt::format("{}{}", kMarkPrefix, kPinnedMark);
    for (const SearchedPart& part : parts_of(sessions)) {
      BMAD_TRY_ASSIGN(const PartPostings found, part.part->part_postings(PostingKind::kTerm, mark));
      for (const SessionPostings& each : found.sessions) {
        const std::size_t number = part.first + each.session;
        IndexedSession& session = *sessions[number];
        for (const SlotPosting& posting : each.postings) {
          const std::uint32_t slot = posting.slot;
          BMAD_TRY(in_session(session, session.load_slots(slot, slot + 1)));
          const std::uint32_t flags = session.slots().flags[slot];
          if ((flags & kFlagSensitive) == 0 && !is_knowledge(flag_type(flags)) &&
              check_read(store_, flag_type(flags)) &&
              !has_expired(session, flags, session.slots().ordinal(slot), settings_.now)) {
            const Ordinal ordinal = session.slots().ordinal(slot);
            pins.push_back({session.timestamp(ordinal), number, ordinal});
          }
        }
      }
    }
    std::ranges::sort(pins, {}, [](const Pin& pin) {  // Newest first.
      return std::tuple(-pin.time.time_since_epoch().count(), pin.session, pin.ordinal);
    });
    std::vector<Hit> hits;
    for (std::size_t i = 0; i < std::min(pins.size(), kPinnedMax); ++i) {
      IndexedSession& session = *sessions[pins[i].session];
      BMAD_TRY_ASSIGN(Entry entry, in_session(session, load_entry(session, pins[i].ordinal)));
      entry.of_user = pins[i].session >= settings_.first_of_user;
      hits.push_back({.entry = std::move(entry)});
    }
    return hits;
  }

  Result<std::vector<Hit>> find(std::span<IndexedSession* const> sessions, Query query) const {
    BMAD_TRY_ASSIGN(const SearchResult result, rank(sessions, query));
    return load_hits(store_, sessions, result, query, settings_);
  }

  /// The best that was said, each in its own words, before what repeats them.
  Result<std::vector<Hit>> find_said(std::span<IndexedSession* const> sessions, Query query) const {
    const std::size_t most =
        kSaidPerSnippet * static_cast<std::size_t>(store_.config.context.snippets_max);
    query.filter.limit = kRepeatsPerSaid * most;
    if (most == 0) {
      return std::vector<Hit>();
    }
    BMAD_TRY_ASSIGN(SearchResult result, rank(sessions, query));
    std::vector<Hit> said;
    std::vector<Hit> repeated;
    NearCopies taken(options_.task);
    JsonParser parser;
    for (std::vector<Found> left = std::exchange(result.found, {});
         !left.empty() && said.size() < most;) {
      const auto end = left.begin() + static_cast<std::ptrdiff_t>(std::min(most, left.size()));
      result.found.assign(left.begin(), end);
      left.erase(left.begin(), end);
      BMAD_TRY_ASSIGN(std::vector<Hit> hits, load_hits(store_, sessions, result, query, settings_));
      for (Hit& hit : hits) {
        const Result<JsonValue> value = parser.parse(hit.entry.json);
        const bool repeats = value && taken.repeats(entry_prose(hit.entry.type, *value));
        (repeats ? repeated : said).push_back(std::move(hit));
      }
    }
    said.resize(std::min(said.size(), most));
    std::ranges::move(repeated, std::back_inserter(said));
    said.resize(std::min(said.size(), most));
    return said;
  }

  /// Nothing that may not be read, and nothing that fits much worse than the best.
  Result<SearchResult> rank(std::span<IndexedSession* const> sessions, Query& query) const {
    std::erase_if(query.filter.types,
                  [&](EntryType type) { return !check_read(store_, type).has_value(); });
    if (query.filter.types.empty()) {
      return SearchResult();
    }
    BMAD_TRY_ASSIGN(SearchResult result, search(sessions, query, settings_));
    double best = 0;
    for (const Found& found : result.found) {
      best = std::max(best, found.components.text);
    }
    std::erase_if(result.found,
                  [&](const Found& found) { return found.components.text < kTextShareMin * best; });
    return result;
  }

  const Store& store_;
  const ContextOptions& options_;
  EntryFilter filter_;
  SearchSettings settings_;
};

/// What of all that is known a context may say: what every agent is told, what this one has
/// learned, and what was found. Of each kind the first in the order in which they are told are
/// read, and more where that was not enough.
class ContextKnowledge {
 public:
  ContextKnowledge(const Store& store, const ContextOptions& options)
      : store_(store), options_(options), project_(store, false) {
    const Store* const user = options.sessions.empty() ? store.user_store() : nullptr;
    if (user != nullptr) {
      user_.emplace(*user, true);
    }
  }

  /// What was known then is read as a whole. `chosen`: as the search has found the sessions.
  Status gather(const ChosenIndexes& chosen) {
    BMAD_TRY(gather_from(project_, options_.sessions.empty() ? &chosen : nullptr));
    return user_ ? gather_from(*user_, nullptr) : Status();
  }

  Result<Context> build(const Sources& sources, const ContextRules& rules) {
    for (std::size_t count = kFirstRead;; count *= 4) {
      read_to_.fill(std::nullopt);
      BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items,
                      read(project_, sources.sessions, sources, count));
      if (user_) {  // What it states and nothing here does under the same key.
        user_->held = options_.as_of ? held_subjects(project_.then)
                                     : held_subjects(project_.known.outlines());
        BMAD_TRY_ASSIGN(const auto more, read(*user_, sources.user_sessions, sources, count));
        items.insert(items.end(), more.begin(), more.end());
      }
      Context context = build_context({.agent_id = options_.agent_id,
                                       .items = items,
                                       .known = sources.known,
                                       .said = sources.said,
                                       .pinned = sources.pinned},
                                      rules);
      if (is_enough(context, items, sources)) {
        return context;
      }
    }
  }

 private:
  using SessionIds = std::set<std::string, std::less<>>;

  /// The memory of the project, or the user's own.
  struct Memory {
    Memory(const Store& its_store, bool of_user)
        : store(its_store), is_user(of_user), known(its_store, {}) {}
    const Store& store;
    bool is_user;
    KnownStatements known;
    std::vector<KnowledgeItem> then = {};  // With as_of.
    SubjectHashes held = {};               // What is stated where it counts more.
  };

  Status gather_from(Memory& memory, const ChosenIndexes* chosen) {
    if (!options_.as_of) {
      return memory.known.gather(chosen);
    }
    BMAD_TRY_ASSIGN(memory.then, all_knowledge(memory.store, {}, options_.as_of));
    return {};
  }

  /// What may be told of what is known in these sessions of the memory.
  Result<std::vector<KnowledgeItem>> read(Memory& memory, const SessionIds& sessions,
                                          const Sources& sources, std::size_t count) {
    std::vector<KnowledgeItem> items = memory.then;
    if (!options_.as_of) {
      BMAD_TRY_ASSIGN(items,
                      memory.known.items([&] { return choose(memory, sessions, sources, count); }));
    }
    std::erase_if(items, [&](const KnowledgeItem& item) {
      return !sessions.contains(item.session_id) || !check_read(store_, item.type) ||
             (options_.since && item.updated_at < *options_.since && !item.pinned) ||
             memory.held.contains({item.category, outline_hash(item.key)});
    });
    std::ranges::for_each(items, [&](KnowledgeItem& item) { item.of_user = memory.is_user; });
    return items;
  }

  /// What is told of each kind in the order of confidence and time.
  enum Kind : std::uint8_t { kPin, kConstraint, kArchitecture, kOwn, kWish, kUsersWish, kKinds };
  static constexpr std::size_t kFirstRead = 32;

  template <typename Item>
  [[nodiscard]] static bool is_of_kind(Kind kind, const Item& item, bool is_own) {
    const bool is_wish = category_type(item.category) == EntryType::kPreference;
    switch (kind) {
      case kPin:
        return item.pinned;
      case kConstraint:
        return item.category == Category::kConstraint && item.confidence >= kToldConfidence;
      case kArchitecture:
        return item.category == Category::kArchitecture && item.confidence >= kToldConfidence;
      case kOwn:
        return is_own && !is_wish && item.category != Category::kErrorSolution;
      default:
        return is_wish;
    }
  }

  [[nodiscard]] bool may_be_told(const Memory& memory, const SessionIds& sessions,
                                 const ItemOutline& item) const {
    return !item.sensitive && item.is_reviewed() &&
           sessions.contains(memory.known.session_id(item.session)) &&
           !memory.held.contains({item.category, item.key_hash}) &&
           check_read(store_, item.type).has_value() &&
           (!options_.since || item.updated_at >= *options_.since || item.pinned);
  }

  std::vector<std::size_t> choose(const Memory& memory, const SessionIds& sessions,
                                  const Sources& sources, std::size_t count) {
    std::unordered_set<std::uint64_t> found;
    for (const Hit& hit : sources.known) {
      found.insert(outline_hash(hit.entry.id));
    }
    const std::uint64_t agent = outline_hash(options_.agent_id);
    const std::span<const ItemOutline> all = memory.known.outlines();
    std::vector<std::size_t> chosen;
    std::array<std::vector<std::size_t>, kKinds> kinds;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!may_be_told(memory, sessions, all[i])) {
        continue;
      }
      if (std::ranges::any_of(all[i].chain, [&](std::uint32_t line) {
            return found.contains(memory.known.lines()[line].row->outline.id_hash);
          })) {
        chosen.push_back(i);
      }
      const bool is_own = agent != 0 && all[i].agent_hash == agent;
      for (std::size_t kind = 0; kind < kUsersWish; ++kind) {
        if (is_of_kind(static_cast<Kind>(kind), all[i], is_own)) {
          kinds[kind].push_back(i);
        }
      }
    }
    std::swap(kinds[kWish], kinds[memory.is_user ? kUsersWish : kWish]);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const std::optional<Rank> last = add_first(memory.known, kinds[kind], count, chosen);
      if (last && (!read_to_[kind] || *last < *read_to_[kind])) {
        read_to_[kind] = last;
      }
    }
    std::ranges::sort(chosen);
    const auto same = std::ranges::unique(chosen);
    chosen.erase(same.begin(), same.end());
    return chosen;
  }

  /// What is told first is less.
  using Rank = std::pair<double, std::int64_t>;
  template <typename Item>
  static Rank rank_of(const Item& item) {
    return {-item.confidence, -item.updated_at.time_since_epoch().count()};
  }

  /// Adds the first `count` of a kind, and their equals. The rank of the last when there are more.
  static std::optional<Rank> add_first(const KnownStatements& known, std::vector<std::size_t>& kind,
                                       std::size_t count, std::vector<std::size_t>& chosen) {
    const auto rank = [&](std::size_t number) { return rank_of(known.outlines()[number]); };
    if (kind.size() <= count) {
      chosen.insert(chosen.end(), kind.begin(), kind.end());
      return std::nullopt;
    }
    const auto last = kind.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    std::ranges::nth_element(kind, last, {}, rank);
    const Rank greatest = rank(*last);
    const std::size_t before = chosen.size();
    std::ranges::copy_if(kind, std::back_inserter(chosen),
                         [&](std::size_t number) { return rank(number) <= greatest; });
    return chosen.size() - before < kind.size() ? std::optional(greatest) : std::nullopt;
  }

  /// Whether nothing else would be told if more had been read: of each section as many are told as
  /// may be, of those that come before all that was not read. Of wishes those come first that the
  /// task brings up; each memory's have their own places.
  [[nodiscard]] bool is_enough(const Context& context, std::span<const KnowledgeItem> items,
                               const Sources& sources) const {
    using Kinds = std::initializer_list<Kind>;
    const auto has_enough = [&](ContextSection section, Kinds kinds, std::size_t most) {
      const auto is_whole = [&](Kind kind) { return !read_to_[kind].has_value(); };
      const auto comes_first = [&](const std::string& session_id, const std::string& id) {
        const auto item = std::ranges::find_if(items, [&](const KnowledgeItem& each) {
          return each.session_id == session_id && each.id == id;
        });
        const bool is_wish = section == ContextSection::kPreferences;
        if (is_wish && item != items.end() && item->of_user != (*kinds.begin() == kUsersWish)) {
          return false;
        }
        if (is_wish && std::ranges::any_of(sources.known,
                                           [&](const Hit& hit) { return hit.entry.id == id; })) {
          return true;
        }
        for (const Kind kind : kinds) {
          if (item != items.end() && (kinds.size() == 1 || is_of_kind(kind, *item, false))) {
            return is_whole(kind) || rank_of(*item) <= *read_to_[kind];
          }
          if (!is_whole(kind)) {
            return false;
          }
        }
        return false;
      };
      return std::ranges::all_of(kinds, is_whole) ||
             count_told(context, section, comes_first) >= most;
    };
    return has_enough(ContextSection::kConstraints, {kPin, kConstraint, kArchitecture},
                      kConstraintsMax) &&
           has_enough(ContextSection::kAgentPatterns, {kOwn}, kAgentPatternsMax) &&
           has_enough(ContextSection::kPreferences, {kWish}, kPreferencesMax) &&
           has_enough(ContextSection::kPreferences, {kUsersWish}, kPreferencesMax);
  }

  /// How many of a section are told, or would be if there were room, of those that `counts`.
  template <typename Counts>
  static std::size_t count_told(const Context& context, ContextSection section,
                                const Counts& counts) {
    const auto told = std::ranges::count_if(context.items, [&](const ContextItem& item) {
      return item.section == section && counts(item.session_id, item.id);
    });
    const auto omitted = std::ranges::count_if(context.omitted, [&](const ContextOmission& item) {
      return item.section == section && item.why == kOverCeiling &&
             counts(item.session_id, item.id);
    });
    return static_cast<std::size_t>(told + omitted);
  }

  const Store& store_;
  const ContextOptions& options_;
  Memory project_;
  std::optional<Memory> user_;
  // Of kinds that were not read as a whole, in the one memory or the other.
  std::array<std::optional<Rank>, kKinds> read_to_{};
};

}  // namespace

Result<Context> Knowledge::context(const ContextOptions& options) const {
  BMAD_TRY_ASSIGN(const Store* const entered, MemoryInside::enter(*memory_, Operation::kContext));
  const Store& store = *entered;
  // What holds is decided over all sessions, and only then which of them count: else a value that
  // was replaced would come back where the one that replaced it is left out.
  ContextKnowledge knowledge(store, options);
  ContextSearch task_search(store, options);
  BMAD_TRY_ASSIGN(const ChosenIndexes chosen,
                  choose_steadily(store, [&] { return task_search.choose(); }));
  Status gathered;
  Result<Sources> found = Sources();
  // Both take as long, and neither waits for the other.
  run_both([&] { found = task_search.run(chosen); }, [&] { gathered = knowledge.gather(chosen); });
  BMAD_TRY(found);
  BMAD_TRY(std::move(gathered));
  const ContextConfig& config = store.config.context;
  const ContextRules rules{
      .max_tokens = options.max_tokens.value_or(static_cast<std::size_t>(config.max_tokens)),
      .facts_max = static_cast<std::size_t>(config.facts_max),
      .snippets_max = static_cast<std::size_t>(config.snippets_max),
      .quote_below_trust = config.quote_below_trust,
      .workspace = store.workspace};
  return knowledge.build(*found, rules);
}

}  // namespace bmad_mem
