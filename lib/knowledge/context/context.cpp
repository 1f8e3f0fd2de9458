// context.cpp - builds the context of an agent from knowledge and the hits of two searches.
#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/question.hpp"
#include "bmad_mem/text.hpp"
#include "context/context_builder.hpp"
#include "knowledge/knowledge_store.hpp"
#include "known_statements.hpp"
#include "store/access.hpp"
#include "store/present_sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

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

  Result<Context> build(const ContextSources& sources, const ContextRules& rules) {
    for (std::size_t count = kFirstRead;; count *= 4) {
      read_to_.fill(std::nullopt);
      BMAD_TRY_ASSIGN(std::vector<KnowledgeItem> items,
                      read(project_, sources.sessions, sources, count));
      if (user_) {  // What it states and nothing here does under the same key.
        user_->held = options_.as_of ? valid_subjects(project_.then)
                                     : valid_subjects(project_.known.outlines());
        BMAD_TRY_ASSIGN(const auto more, read(*user_, sources.user_sessions, sources, count));
        items.insert(items.end(), more.begin(), more.end());
      }
      Context context = build_context({.agent_id = options_.agent_id,
                                       .task = options_.task,
                                       .items = items,
                                       .known = sources.known,
                                       .said = sources.said,
                                       .pinned = sources.pinned},
                                      rules);
      context.encrypted_lines = sources.encrypted_lines;
      context.gate = sources.gate;
      context.omitted.insert(context.omitted.end(), sources.omitted.begin(), sources.omitted.end());
      context.encoder_was_late = sources.encoder_was_late;
      if (is_enough(context, items, sources)) {
        if (options_.is_prompt && !is_about_task(context)) {
          context.markdown.clear();
          context.items.clear();
          context.tokens = 0;
        }
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
                                          const ContextSources& sources, std::size_t count) {
    std::vector<KnowledgeItem> items = memory.then;
    if (!options_.as_of) {
      BMAD_TRY_ASSIGN(items,
                      memory.known.items([&] { return choose(memory, sessions, sources, count); }));
    }
    std::erase_if(items, [&](const KnowledgeItem& item) {
      const bool is_stated = item.review == Review::kStated;
      return !is_asked(sessions, item.session_id, is_stated) || !check_read(store_, item.type) ||
             (options_.since && item.updated_at < *options_.since && !item.pinned) ||
             memory.held.contains({item.category, outline_hash(item.key)});
    });
    std::ranges::for_each(items, [&](KnowledgeItem& item) { item.of_user = memory.is_user; });
    return items;
  }

  /// Whether anything in it is about the task. The rest was told when the session began.
  static bool is_about_task(const Context& context) {
    return std::ranges::any_of(context.items, [](const ContextItem& item) {
      return item.section == ContextSection::kStatedRules ||
             item.section == ContextSection::kTaskFacts ||
             item.section == ContextSection::kTaskSnippets ||
             item.section == ContextSection::kErrorSolutions;
    });
  }

  /// What is told of each kind in the order of confidence and time.
  enum Kind : std::uint8_t {
    kPin,
    kConstraint,
    kArchitecture,
    kOwn,
    kStated,
    kWish,
    kUsersWish,
    kKinds
  };
  static constexpr std::size_t kFirstRead = 32;
  static constexpr std::size_t kStatedRead = 256;  // The task calls for whichever.

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
      case kStated:
        return item.confidence == kStatedConfidence && is_in_force(item.review) && !is_wish;
      case kOwn:
        return is_own && !is_wish && item.category != Category::kErrorSolution;
      default:
        return is_wish;
    }
  }

  /// What the person stated holds in the session that states it, too.
  [[nodiscard]] bool is_asked(const SessionIds& sessions, const std::string& id,
                              bool is_stated) const {
    return sessions.contains(id) || (is_stated && is_among(options_.without_sessions, id));
  }

  /// A candidate may be when it `is_found`.
  [[nodiscard]] bool may_be_told(const Memory& memory, const SessionIds& sessions,
                                 const ItemOutline& item, bool is_found) const {
    return !item.sensitive &&
           (item.is_reviewed() || (is_found && item.review == Review::kCandidate)) &&
           is_asked(sessions, memory.known.session_id(item.session), item.may_be_stated()) &&
           !memory.held.contains({item.category, item.key_hash}) &&
           check_read(store_, item.type).has_value() &&
           (!options_.since || item.updated_at >= *options_.since || item.pinned);
  }

  std::vector<std::size_t> choose(const Memory& memory, const SessionIds& sessions,
                                  const ContextSources& sources, std::size_t count) {
    std::unordered_set<std::uint64_t> found;
    for (const Hit& hit : sources.known) {
      found.insert(outline_hash(hit.entry.id));
    }
    const std::uint64_t agent = outline_hash(options_.agent_id);
    const std::span<const ItemOutline> all = memory.known.outlines();
    std::vector<std::size_t> chosen;
    std::array<std::vector<std::size_t>, kKinds> kinds;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_found = std::ranges::any_of(all[i].chain, [&](std::uint32_t line) {
        assert(line < memory.known.lines().size());
        return found.contains(memory.known.lines()[line].row->outline.id_hash);
      });
      if (!may_be_told(memory, sessions, all[i], is_found)) {
        continue;
      }
      if (is_found) {
        chosen.push_back(i);
      }
      if (!all[i].is_reviewed()) {
        continue;
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
      const std::optional<Rank> last =
          add_first(memory.known, kinds[kind], kind == kStated ? kStatedRead : count, chosen);
      if (last && (!read_to_[kind] || *last < *read_to_[kind])) {
        read_to_[kind] = last;
      }
    }
    std::ranges::sort(chosen);
    chosen.erase(std::ranges::unique(chosen).begin(), chosen.end());
    return chosen;
  }

  /// What is told first is less: what is told without quotes, then what is surest, then the newest.
  using Rank = std::tuple<bool, double, std::int64_t>;
  static Rank rank_of(const ItemOutline& item) {
    return {item.trust < kLowReliability, -item.confidence,
            -item.updated_at.time_since_epoch().count()};
  }
  static Rank rank_of(const KnowledgeItem& item) {
    return {holding_reliability(item.origin, item.trust) < kLowReliability, -item.confidence,
            -item.updated_at.time_since_epoch().count()};
  }

  /// Adds the first `count` of a kind, and their equals. The rank of the last when there are more.
  static std::optional<Rank> add_first(const KnownStatements& known, std::vector<std::size_t>& kind,
                                       std::size_t count, std::vector<std::size_t>& chosen) {
    const auto rank = [&](std::size_t number) { return rank_of(known.outlines()[number]); };
    if (kind.size() <= count) {
      chosen.insert(chosen.end(), kind.begin(), kind.end());
      return std::nullopt;
    }
    assert(count > 0);
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
                               const ContextSources& sources) const {
    using Kinds = std::initializer_list<Kind>;
    const auto has_enough = [&](ContextSection section, Kinds kinds, std::size_t most) {
      assert(kinds.size() > 0);
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
      return item.section == section && (item.why == kOverCeiling || item.why == kToldBefore) &&
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

/// Who wrote the entries that a context may say, looked up at once.
class EntryOrigins {
 public:
  explicit EntryOrigins(const Store& store)
      : project_(store.origins->lines()),
        user_(store.user_store() == nullptr ? RootOrigins({}, {}).lines()
                                            : store.user_store()->origins->lines()) {}

  void find(std::span<const Entry> entries) {
    want(entries);
    project_.find();
    user_.find();
  }

  void find(const ContextSources& sources) {
    for (const std::vector<Hit>* const hits : {&sources.said, &sources.pinned}) {
      for (const Hit& hit : *hits) {
        want({&hit.entry, 1});
        want(hit.before);
        want(hit.after);
      }
    }
    find(std::span<const Entry>());
  }

  [[nodiscard]] Origin of(const Entry& entry, JsonValue value) const {
    return (entry.of_user ? user_ : project_).of(entry.session_id, value, entry.json);
  }

 private:
  void want(std::span<const Entry> entries) {
    for (const Entry& entry : entries) {
      if (const Result<JsonValue> value = parser_.parse(entry.json)) {
        (entry.of_user ? user_ : project_).want(entry.session_id, *value, entry.json);
      }
    }
  }

  JsonParser parser_;
  LineOrigins project_;
  LineOrigins user_;
};

}  // namespace

std::vector<std::string> Knowledge::sources(std::span<const Entry> entries) const {
  EntryOrigins origins(MemoryInside::settings(*memory_));
  origins.find(entries);
  std::vector<std::string> sources;
  JsonParser parser;
  for (const Entry& entry : entries) {
    std::string& source = sources.emplace_back();
    const Result<JsonValue> value = parser.parse(entry.json);
    const Origin origin = value ? origins.of(entry, *value) : Origin::kElsewhere;
    if (origin == Origin::kElsewhere ||
        (value && ((*value)["source"].present() || is_printed_by_tool(entry.type, *value)))) {
      source =
          source_text(value ? source_reliability(entry.type, *value, origin) : SourceReliability());
    }
  }
  return sources;
}

Result<Context> Knowledge::context(const ContextOptions& options) const {
  const Question question;
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "context"));
  // What holds is decided over all sessions, and only then which of them count: else a value that
  // was replaced would come back where the one that replaced it is left out.
  ContextKnowledge knowledge(*store, options);
  Result<ContextSources> found = ContextSources();
  const auto look = [&]() -> Status {
    BMAD_TRY_ASSIGN(const ChosenIndexes chosen, choose_for_context(*store, options));
    Status gathered;
    // Both take as long, and neither waits for the other.
    run_both([&] { found = search_for_context(*store, options, chosen); },
             [&] { gathered = knowledge.gather(chosen); });
    BMAD_TRY(found);
    return gathered;
  };
  // Together: an archive that turns out to be damaged is left out of both.
  BMAD_TRY(choose_steadily(*store, look));
  EntryOrigins origins(*store);
  origins.find(*found);
  const ContextConfig& config = store->config.context;
  const ContextRules rules{
      .max_tokens = options.max_tokens.value_or(static_cast<std::size_t>(config.max_tokens)),
      .facts_max = static_cast<std::size_t>(config.facts_max),
      .snippets_max = static_cast<std::size_t>(config.snippets_max),
      .quote_below_trust = config.quote_below_trust,
      .is_foreign = store->origins->is_foreign(),
      .now = options.as_of.value_or(store->clock.now()),
      .told = options.reader ? read_told(*store, *options.reader) : std::set<std::uint64_t>(),
      .origin_of = [&](const Entry& entry, JsonValue value) { return origins.of(entry, value); },
      .workspace = store->workspace};
  return knowledge.build(*found, rules);
}

Status Knowledge::note_told(const ContextReader& reader, const Context& context) {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "context"));
  if (context.items.empty() || !check_session(*store, reader.session_id)) {
    return {};
  }
  std::vector<std::uint64_t> entries;
  for (const ContextItem& item : context.items) {
    entries.push_back(told_hash(item.session_id, item.type, item.id));
    for (const std::string& id : item.beside) {
      entries.push_back(told_hash(item.session_id, EntryType::kConversation, id));
    }
  }
  return append_told(*store, reader, entries);
}

Status Knowledge::forget_told(const ContextReader& reader) {
  BMAD_TRY_ASSIGN(const Store* const store, MemoryInside::enter(*memory_, "context"));
  return check_session(*store, reader.session_id) ? append_told(*store, reader, {}) : Status();
}

}  // namespace bmad_mem
