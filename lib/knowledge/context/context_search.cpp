// context_search.cpp - searches the entries that a task or a prompt is about. No lock is taken.

#include <algorithm>
#include <cassert>
#include <iterator>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "context/context_builder.hpp"
#include "knowledge/merge_plan.hpp"
#include "knowledge/prompt_text.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/dialogue_act.hpp"
#include "search/search.hpp"
#include "store/access.hpp"
#include "store/present_sessions.hpp"
#include "store/session_archive.hpp"

namespace bmad_mem {
namespace {

/// Facts and preferences that the task brings up: enough for three sections, duplicates and all.
constexpr std::size_t kKnownMax = 48;
/// Some of the best are said already, or belong elsewhere.
constexpr std::size_t kSaidPerSnippet = 4;
/// Factor on the number of hits read where the best ones repeat each other.
constexpr std::size_t kRepeatsPerSaid = 16;
constexpr std::size_t kPinnedMax = 10;
constexpr std::size_t kSnippetSize = 300;
/// What fits much worse than the best shares a common word with the task and no more.
constexpr double kTextShareMin = 0.1;
/// The number of hits, best first, that can open the gate.
constexpr std::size_t kLookedAt = 3;
/// What is told beside the most relevant is at least as relevant, in parts of that: at 0.7 a tenth
/// of the evidence is lost, at 0.3 as much is told again in lines that nobody asked for.
constexpr double kFurtherShare = 0.6;
/// Where the second is less relevant than that, the first answers alone in six of seven cases.
constexpr double kAloneShare = 0.7;
/// A hit with a lower score has a common word of the prompt, or its neighbour has one.
constexpr double kFurtherNear = 1;
/// The name of a call is a word of its output that isn't in it.
constexpr double kNamedScore = 3.3;
/// Meaning orders what words find, and brings nothing else into a prompt: among 40 statements, 5 of
/// 37 tasks that none was about had one with a cosine of 0.7, and of 28 that one answers in other
/// words none had the right one there.
constexpr double kAloneMin = 1;

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

/// Whether `text`, in lower case, has `name` where no letter or digit is beside it.
bool has_name(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos && !name.empty();
       at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_alnum(text[at - 1])) && (end == text.size() || !is_alnum(text[end]))) {
      return true;
    }
  }
  return false;
}

/// Whether `task`, in lower case, names the file that a call of a tool was about, or the first two
/// words of its command.
bool names_call(std::string_view task, JsonValue event) {
  constexpr std::size_t kNameSizeMin = 3;
  const std::string path = lower_case(event["path"].string());
  const std::string_view file = std::string_view(path).substr(path.find_last_of("/\\") + 1);
  if (file.size() >= kNameSizeMin && has_name(task, file)) {
    return true;
  }
  const std::string_view of_result = event["metadata"]["command"].string();
  const std::string command = lower_case(of_result.empty() && event["kind"].string() == "tool_use"
                                             ? event["content"].string()
                                             : of_result);
  const std::size_t second = command.find_first_of(" \n");
  const std::size_t end = second == std::string::npos || command[second] == '\n'
                              ? second
                              : command.find_first_of(" \n", second + 1);
  const std::string_view name = std::string_view(command).substr(0, end);
  return name.size() >= kNameSizeMin && has_name(task, name);
}

/// Of the words of both: a request of a dozen words about two other things has this much.
constexpr double kAlikeMin = 0.6;
constexpr std::ptrdiff_t kAlikeMax = 2;
/// In bytes: nobody repeats more word by word, and a long text would cost time.
constexpr std::size_t kComparedSizeMax = 1000;

/// Tells repeated requests from what answers one. Somebody asks in the same words every day: the
/// earlier requests fit best, and none of them says what the task asks for.
class NearCopies {
 public:
  explicit NearCopies(std::string_view task) : task_(words_of(task)) {}

  /// Takes `text`. Whether two taken before are worded like it and name all of the task that it
  /// does: two, since the newer of two statements may correct the other.
  bool repeats(std::string_view text) {
    if (text.size() > kComparedSizeMax) {
      return false;
    }
    WordSet words = words_of(text);
    const auto is_like = [&](const WordSet& other) {
      const auto shared = static_cast<double>(std::ranges::count_if(
          words, [&](const std::string& word) { return other.contains(word); }));
      const double all = static_cast<double>(words.size() + other.size()) - shared;
      return shared >= kAlikeMin * all && std::ranges::all_of(words, [&](const std::string& word) {
               return other.contains(word) || !task_.contains(word);
             });
    };
    if (std::ranges::count_if(taken_, is_like) >= kAlikeMax) {
      return true;
    }
    taken_.push_back(std::move(words));
    return false;
  }

 private:
  using WordSet = std::set<std::string, std::less<>>;
  static WordSet words_of(std::string_view text) {
    const std::vector<std::string> words = plain_words(text);
    return {words.begin(), words.end()};
  }

  WordSet task_;
  std::vector<WordSet> taken_;
};

class ContextSearch {
 public:
  ContextSearch(const Store& store, const ContextOptions& options)
      : store_(store),
        options_(options),
        filter_{.sessions = options.sessions, .as_of = options.as_of},
        settings_(search_settings(store)) {
    settings_.weights.access = 0;
    settings_.near_min = kAloneMin;
    if (options.encoder_timeout) {
      settings_.encoder_deadline = std::chrono::steady_clock::now() + *options.encoder_timeout;
    }
  }

  [[nodiscard]] Result<ChosenIndexes> choose() const {
    return chosen_indexes(store_, filter_, EvictedEntries::kWithout);
  }

  Result<ContextSources> run(ChosenIndexes first) {
    std::optional<ChosenIndexes> known = std::move(first);
    return choose_steadily(store_, [&]() -> Result<ContextSources> {
      BMAD_TRY_ASSIGN(
          ChosenIndexes chosen,
          known ? Result<ChosenIndexes>(*std::exchange(known, std::nullopt)) : choose());
      chosen.keep(*store_.root_index,
                  [&](const std::string& session_id) { return is_in_scope(session_id); });
      CachedIndexes indexes(store_, chosen);
      Result<ContextSources> sources = indexes.run([&] { return search_both(indexes); });
      if (sources) {
        BMAD_TRY(check_still_there(store_, filter_, chosen));
        indexes.flush();
      }
      return sources;
    });
  }

 private:
  [[nodiscard]] bool is_in_scope(const std::string& session_id) const {
    if (is_among(options_.without_sessions, session_id)) {
      return false;
    }
    if (options_.project.empty()) {
      return true;
    }
    const std::string project = project_of(store_, session_id);
    return project.empty() || project == options_.project;
  }

  /// Beside the sessions those of the user's own memory, unless some sessions were asked for.
  Result<ContextSources> search_both(const CachedIndexes& indexes) {
    const std::span<IndexedSession* const> sessions = indexes.sessions();
    encrypted_lines_ = indexes.encrypted_lines();
    first_of_user_ = sessions.size();
    const Store* const user = options_.sessions.empty() ? store_.user_store() : nullptr;
    if (user == nullptr) {
      return search_all(sessions);
    }
    return with_indexes(*user, {.as_of = options_.as_of}, [&](CachedIndexes& users) {
      std::vector<IndexedSession*> both(sessions.begin(), sessions.end());
      both.insert(both.end(), users.sessions().begin(), users.sessions().end());
      settings_.roots.resize(1);
      settings_.roots.push_back(
          {.first = first_of_user_, .kind = MemoryKind::kUser, .origins = user->origins.get()});
      encrypted_lines_ += users.encrypted_lines();
      return search_all(both);
    });
  }

  Result<ContextSources> search_all(std::span<IndexedSession* const> sessions) {
    ContextSources sources{.encrypted_lines = encrypted_lines_};
    // Time counts from the newest entry, so that a store that rests says the same next year. One
    // that is dated in the future would make all others old: it doesn't count before its time. Of
    // the user's own memory none does: what is said elsewhere makes nothing here older.
    const Timestamp now = options_.as_of.value_or(store_.clock.now());
    settings_.now = first_of_user_ == 0 ? now : Timestamp{};
    assert(first_of_user_ <= sessions.size());
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      (i < first_of_user_ ? sources.sessions : sources.user_sessions)
          .insert(sessions[i]->session_id());
      if (i < first_of_user_) {
        settings_.now = std::max(settings_.now, std::min(now, sessions[i]->newest()));
      }
    }
    Query query{.text = options_.task, .text_is_prose = true, .context = 0};
    query.filter.without_sensitive = true;
    query.snippet_size = 0;  // Of what is known, the item has the text.
    sources.gate.is_dialogue = !options_.task.empty() && is_dialogue_only(options_.task);
    if (!options_.task.empty() && !sources.gate.is_dialogue) {
      query.filter.types = {EntryType::kFact, EntryType::kPreference};
      query.filter.limit = kKnownMax;
      query.filter.since = options_.since;
      BMAD_TRY_ASSIGN(sources.known, find(sessions, query));
      query.filter.types = {EntryType::kConversation, EntryType::kDecision, EntryType::kFinding,
                            EntryType::kEvent, EntryType::kArtifact};
      query.filter.since = snippets_since();
      query.context = 1;
      query.snippet_size = kSnippetSize;
      query.snippet_passages = true;
      settings_.stating_only = true;
      BMAD_TRY_ASSIGN(sources.said, find_said(sessions, query));
      pass_gate(sources);
    }
    BMAD_TRY_ASSIGN(sources.pinned, find_pinned(sessions));
    sources.encoder_was_late = encoder_was_late_;
    return sources;
  }

  /// Leaves what is near: all or nothing, and then what comes near the nearest.
  void pass_gate(ContextSources& sources) const {
    ContextGate& gate = sources.gate;
    gate.asks = !options_.is_prompt || asks_question(options_.task);
    const AskedAs asked_as = !options_.is_prompt ? AskedAs::kTask
                             : gate.asks         ? AskedAs::kQuestion
                                                 : AskedAs::kRequest;
    const auto needed = [&](const Nearness& nearness) {
      return needed_score(asked_as, nearness.words, store_.config.context.gate);
    };
    const auto look = [&](std::span<const Hit> hits) {
      for (const Hit& hit : hits.first(std::min(hits.size(), kLookedAt))) {
        if (hit.nearness.score - needed(hit.nearness) > gate.best.score - needed(gate.best)) {
          gate.best = hit.nearness;
        }
      }
    };
    gate.words = asked_;
    look(sources.known);
    look(sources.said);
    gate.needed = needed(gate.best);
    gate.is_open = gate.best.score >= gate.needed;
    for (std::size_t i = sources.said.size(); i-- > 1;) {
      if (sources.said[i].said_before) {  // It is about what the newer one is about.
        Hit& newer = sources.said[i - 1];
        newer.relevance = std::max(newer.relevance, sources.said[i].relevance);
        newer.nearness.score = std::max(newer.nearness.score, sources.said[i].nearness.score);
      }
    }
    double first = 0;
    double second = 0;
    for (const std::vector<Hit>* const hits : {&sources.known, &sources.said}) {
      for (const Hit& hit : *hits) {
        second = std::max(second, std::min(first, hit.relevance));
        first = std::max(first, hit.relevance);
      }
    }
    assert(second <= first);
    // A task has all that has to do with it.
    const double share = !options_.is_prompt            ? 0
                         : second < kAloneShare * first ? kAloneShare
                                                        : kFurtherShare;
    const auto is_far = [&](const Hit& hit) {
      const bool is_common = options_.is_prompt && hit.nearness.score < kFurtherNear;
      return !gate.is_open || is_common || hit.relevance < share * first;
    };
    for (std::vector<Hit>* const hits : {&sources.known, &sources.said}) {
      for (const Hit& hit : *hits) {
        if (is_far(hit)) {
          omit(sources.omitted,
               hits == &sources.known ? ContextSection::kTaskFacts : ContextSection::kTaskSnippets,
               hit.entry, "not near: " + near_text(hit.nearness));
        }
      }
      std::erase_if(*hits, is_far);
    }
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
          if ((flags & kFlagSensitive) == 0 && !is_statement(flag_type(flags)) &&
              check_read(store_, flag_type(flags)) &&
              !is_hidden_at(session, flags, session.slots().ordinal(slot), settings_.now)) {
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
      entry.of_user = pins[i].session >= first_of_user_;
      hits.push_back({.entry = std::move(entry)});
    }
    return hits;
  }

  Result<std::vector<Hit>> find(std::span<IndexedSession* const> sessions, Query query) {
    BMAD_TRY_ASSIGN(const SearchResult result, rank(sessions, query));
    return load_hits(store_, sessions, result, query, settings_);
  }

  /// The best that was said, each in its own words, before what repeats them. Where too little is
  /// left beside repeats, more is looked at.
  Result<std::vector<Hit>> find_said(std::span<IndexedSession* const> sessions, Query query) {
    const auto snippets = static_cast<std::size_t>(store_.config.context.snippets_max);
    const std::size_t most = kSaidPerSnippet * snippets;
    std::vector<Hit> said;
    std::vector<Hit> repeated;
    NearCopies taken(options_.task);
    std::size_t looked_at = 0;
    bool has_more = false;  // Some of the best can't be told, or repeat each other.
    for (const std::size_t limit : {most, kRepeatsPerSaid * most}) {
      if (limit == 0 || (looked_at > 0 && (!has_more || said.size() >= 2 * snippets))) {
        break;
      }
      query.filter.limit = limit;
      BMAD_TRY_ASSIGN(SearchResult result, rank(sessions, query));
      const std::vector<Found> all = std::exchange(result.found, {});
      while (looked_at < all.size() && said.size() < most) {
        const auto rest = std::span(all).subspan(looked_at);
        const auto part = rest.first(std::min(most, rest.size()));
        result.found.assign(part.begin(), part.end());
        looked_at += part.size();
        BMAD_TRY_ASSIGN(std::vector<Hit> hits,
                        load_hits(store_, sessions, result, query, settings_));
        has_more |= divide(std::move(hits), taken, said, repeated);
      }
    }
    std::ranges::move(repeated, std::back_inserter(said));
    said.resize(std::min(said.size(), most));
    return said;
  }

  /// What a tool printed counts only where the task names its command or file. False when all of
  /// `hits` were added to `said`.
  bool divide(std::vector<Hit> hits, NearCopies& taken, std::vector<Hit>& said,
              std::vector<Hit>& repeated) const {
    const std::string task = lower_case(options_.task);
    const std::size_t wanted = said.size() + hits.size();
    JsonParser parser;
    for (Hit& hit : hits) {
      const Result<JsonValue> value = parser.parse(hit.entry.json);
      if (value && is_printed_by_tool(hit.entry.type, *value)) {
        if (!names_call(task, *value)) {
          continue;
        }
        hit.nearness.score += kNamedScore;
        hit.relevance = std::max(hit.relevance, said.empty() ? 0 : said.front().relevance);
      }
      const bool repeats =
          value && !hit.said_before && taken.repeats(entry_prose(hit.entry.type, *value));
      (repeats ? repeated : said).push_back(std::move(hit));
    }
    assert(said.size() <= wanted && "each hit is added once");
    return said.size() < wanted;
  }

  /// Nothing that may not be read, and nothing that fits much worse than the best.
  Result<SearchResult> rank(std::span<IndexedSession* const> sessions, Query& query) {
    std::erase_if(query.filter.types,
                  [&](EntryType type) { return !check_read(store_, type).has_value(); });
    if (query.filter.types.empty()) {
      return SearchResult();
    }
    BMAD_TRY_ASSIGN(SearchResult result, search_sessions(sessions, query, settings_));
    encoder_was_late_ = encoder_was_late_ || result.encoder.late;
    asked_ = result.asked;
    const auto by_words = [&](const Found& found) {
      return result.encoder.took_part ? found.words : found.components.text;
    };
    double best = 0;
    for (const Found& found : result.found) {
      best = std::max(best, by_words(found));
    }
    std::erase_if(result.found,
                  [&](const Found& found) { return by_words(found) < kTextShareMin * best; });
    return result;
  }

  const Store& store_;
  const ContextOptions& options_;
  EntryFilter filter_;
  SearchSettings settings_;
  std::size_t first_of_user_ = 0;  // From this one on, sessions are of the user's own memory.
  std::uint64_t encrypted_lines_ = 0;
  std::vector<AskedWord> asked_;  // Of the task.
  bool encoder_was_late_ = false;
};

}  // namespace

Result<ChosenIndexes> choose_for_context(const Store& store, const ContextOptions& options) {
  return ContextSearch(store, options).choose();
}

Result<ContextSources> search_for_context(const Store& store, const ContextOptions& options,
                                          ChosenIndexes first) {
  return ContextSearch(store, options).run(std::move(first));
}

}  // namespace bmad_mem
