#include "search/query/naive_search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "model/decay.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/analyzer.hpp"
#include "search/date_span.hpp"
#include "search/dialogue_act.hpp"
#include "search/query/alike.hpp"
#include "search/query/naive_plan.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"

namespace bmad_mem::test {
namespace {

bool is_question(std::string text) {
  while (!text.empty() && std::string_view(" \t\r\n\"')").find(text.back()) != std::string::npos) {
    text.pop_back();
  }
  return text.ends_with('?');
}

NaiveEntry to_entry(const ScannedEntry& scanned, Analyzer& analyzer) {
  const EntryHead head = entry_head(scanned.type, scanned.value);
  NaiveEntry entry{.type = scanned.type,
                   .id = std::string(head.id),
                   .line = scanned.line,
                   .text = {},
                   .who = std::string(head.who),
                   .topic = std::string(head.topic),
                   .conversation_id = std::string(head.conversation_id),
                   .role = std::string(head.role),
                   .tags = {},
                   .timestamp = head.timestamp,
                   .last_accessed = head.last_accessed,
                   .decay_factor = head.decay_factor,
                   .importance = importance_of(scanned.type, head.severe, head.approved),
                   .pinned = head.pinned,
                   .sensitive = head.sensitive,
                   .words = {},
                   .frequencies = {}};
  entry.asks = scanned.type == EntryType::kConversation &&
               is_question(std::string(scanned.value["content"].string()));
  const EntryRole role = entry.role == "user"        ? EntryRole::kUser
                         : entry.role == "assistant" ? EntryRole::kAssistant
                                                     : EntryRole::kNone;
  entry.states_nothing = scanned.type == EntryType::kConversation && !head.superseded &&
                         states_nothing(scanned.value["content"].string(), role);
  const StatementHead statement = statement_head(scanned.type, scanned.value);
  entry.subject = statement.subject();
  entry.unreviewed = statement.is_unreviewed();
  entry.trusted = statement.trust >= 0.5;
  entry.stated_at = statement.at;
  for (const JsonValue tag : head.tags.elements()) {
    entry.tags.emplace_back(tag.string());
  }
  entry_searchable_text(scanned.type, scanned.value, entry.text);
  for (const NaiveWord& word : words_of(analyzer, entry.text)) {
    if (!word.whole) {
      entry.words.push_back(word.text);
    }
    const std::string term(analyzer.term(word.text, word.whole));
    if (!term.empty()) {
      entry.frequencies[term] += 1;
      entry.length += word.whole ? 0 : 1;
    }
  }
  return entry;
}

double idf(double count, double frequency) {
  return std::log(1 + (count - frequency + 0.5) / (frequency + 0.5));
}

double bm25(double k1, double b, double frequency, double length, double mean_length) {
  return frequency * (k1 + 1) / (frequency + (k1 * (1 - b) + k1 * b / mean_length * length));
}

/// One question to some sessions.
class NaiveSearch {
 public:
  NaiveSearch(std::vector<const NaiveSession*> sessions, const Plan& read,
              const SearchSettings& settings, Analyzer& analyzer)
      : sessions_(std::move(sessions)),
        read_(read),
        settings_(settings),
        analyzer_(analyzer),
        plain_(query_.ranking == TextRanking::kPlain) {}

  Result<std::vector<NaiveHit>> run() {
    NaivePlan plan = make_naive_plan(sessions_, read_, settings_, analyzer_);
    if (!plan.usable) {
      return std::vector<NaiveHit>();
    }
    terms_ = std::move(plan.terms);
    demands_ = std::move(plan.demands);
    phrases_ = std::move(plan.phrases);
    spans_ = std::move(plan.spans);
    speaker_ = std::move(plan.speaker);
    speaker_role_ = std::move(plan.speaker_role);
    has_words_ = plan.has_words;
    names_time_ = plan.names_time;
    gather();
    weak_ = is_speaker_named() && spans_.empty() && demands_.empty() &&
            std::ranges::none_of(terms_, [&](const NaiveTerm& each) { return holders(each.term); });
    count();
    std::vector<NaiveHit> hits = find();
    const std::size_t soft = std::erase_if(demands_, &NaiveDemand::soft);
    if (hits.empty() && (!phrases_.empty() || soft > 0)) {
      phrases_.clear();
      hits = find();
    }
    return hits;
  }

 private:
  [[nodiscard]] std::vector<NaiveHit> find() const {
    std::vector<Scored> found;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      std::optional<Scored> scored = score(i);
      if (scored && scored->hit.relevance >= query_.min_relevance) {
        found.push_back(std::move(*scored));
      }
    }
    std::ranges::stable_sort(found,
                             [&](const Scored& a, const Scored& b) { return is_before(a, b); });
    std::vector<NaiveHit> hits;
    std::set<std::pair<EntryType, std::string>> known;
    std::erase_if(found, [&](const Scored& each) {
      return !known.emplace(each.hit.type, each.hit.id).second;
    });
    const std::size_t limit = query_.filter.limit == 0 ? found.size() : query_.filter.limit;
    if (has_words_ && !settings_.literal && query_.sort == SortOrder::kRelevanceDesc) {
      found.resize(std::min(found.size(), std::max<std::size_t>(limit, 20)));
      lead_with_newest(found);
    }
    for (Scored& each : found) {
      if (hits.size() < limit) {
        each.hit.relevance = std::min(each.hit.relevance, 1.0);
        each.hit.components.text = std::min(each.hit.components.text, 1.0);
        hits.push_back(std::move(each.hit));
      }
    }
    return hits;
  }

  /// A live entry, what it counts for, and the entries of its conversation around it.
  struct Live {
    std::size_t session = 0;
    const NaiveEntry* entry = nullptr;
    std::vector<const NaiveEntry*> window;  // With itself, in order.
    const NaiveEntry* before = nullptr;
  };
  struct Scored {
    NaiveHit hit;
    std::size_t session = 0;
    const NaiveEntry* entry = nullptr;
  };
  struct Idf {
    double entry = 0;
    double window = 0;
    double session = 0;
  };

  /// A request, an announcement, or a question of four words at most.
  static bool is_empty(const NaiveEntry& entry) {
    return entry.states_nothing || (entry.asks && entry.length <= 4);
  }

  /// Of the first 24, those that agree except for a value one below the other, the newest first; of
  /// equal ones that state nothing the newest alone.
  void lead_with_newest(std::vector<Scored>& found) const {
    std::vector<std::uint64_t> asked;
    for (const NaiveTerm& term : terms_) {
      asked.push_back(xxh3(term.word));
    }
    const auto text_of = [&](const Scored& each) {
      const bool is_compared =
          each.hit.type != EntryType::kFact && each.hit.type != EntryType::kPreference;
      return is_compared ? compared_text(each.entry->text, analyzer_, settings_.language, asked)
                         : ComparedText();
    };
    std::vector<std::vector<Scored>> groups;
    std::vector<Scored> repeated;
    std::vector<ComparedText> texts;
    const std::size_t count = std::min<std::size_t>(24, found.size());
    for (std::size_t i = 0; i < count; ++i) {
      const ComparedText text = text_of(found[i]);
      bool is_placed = false;
      for (std::size_t group = 0; group < groups.size() && !is_placed; ++group) {
        Scored& first = groups[group].front();
        const bool is_newer = first.entry->timestamp < found[i].entry->timestamp;
        const Likeness likeness =
            first.hit.type == found[i].hit.type
                ? likeness_of(is_newer ? texts[group] : text, is_newer ? text : texts[group])
                : Likeness::kNone;
        is_placed = true;
        if (likeness == Likeness::kSame && is_empty(*first.entry) && is_empty(*found[i].entry)) {
          if (is_newer) {
            std::swap(first, found[i]);
          }
          repeated.push_back(found[i]);
        } else if (likeness == Likeness::kOtherValue && !is_empty(*first.entry) &&
                   !is_empty(*found[i].entry)) {
          groups[group].push_back(found[i]);
        } else {
          is_placed = false;
        }
      }
      if (!is_placed) {
        groups.push_back({found[i]});
        texts.push_back(text);
      }
    }
    std::vector<Scored> ordered;
    for (std::vector<Scored>& group : groups) {
      std::ranges::stable_sort(group, std::ranges::greater(),
                               [](const Scored& each) { return each.entry->timestamp; });
      ordered.insert(ordered.end(), group.begin(), group.end());
    }
    ordered.insert(ordered.end(), found.begin() + static_cast<std::ptrdiff_t>(count), found.end());
    ordered.insert(ordered.end(), repeated.begin(), repeated.end());
    found = std::move(ordered);
  }

  // The entries.

  void gather() {
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      for (const NaiveEntry& entry : sessions_[i]->entries) {
        if (entry.live) {
          all_.push_back({.session = i, .entry = &entry, .window = {}, .before = nullptr});
          look_around(*sessions_[i], all_.back());
        }
      }
    }
  }

  static void look_around(const NaiveSession& session, Live& live) {
    if (live.entry->type != EntryType::kConversation) {
      live.window = {live.entry};
      return;
    }
    std::vector<const NaiveEntry*> conversation;
    for (const NaiveEntry& other : session.entries) {
      if (other.live && other.type == EntryType::kConversation &&
          other.conversation_id == live.entry->conversation_id) {
        conversation.push_back(&other);
      }
    }
    const auto count = static_cast<std::ptrdiff_t>(conversation.size());
    const auto place = std::ranges::find(conversation, live.entry) - conversation.begin();
    for (std::ptrdiff_t at = place - 2; at <= place + 2; ++at) {
      if (at >= 0 && at < count) {
        live.window.push_back(conversation[static_cast<std::size_t>(at)]);
      }
    }
    if (place > 0) {
      live.before = conversation[static_cast<std::size_t>(place - 1)];
    }
  }

  static double frequency(const NaiveEntry& entry, const std::string& term) {
    const auto found = entry.frequencies.find(term);
    return found == entry.frequencies.end() ? 0 : found->second;
  }
  static double window_frequency(const Live& live, const std::string& term) {
    double sum = 0;
    for (const NaiveEntry* each : live.window) {
      sum += frequency(*each, term);
    }
    return sum;
  }
  static double window_length(const Live& live) {
    double sum = 0;
    for (const NaiveEntry* each : live.window) {
      sum += each->length;
    }
    return sum;
  }
  [[nodiscard]] double session_frequency(std::size_t session, const std::string& term) const {
    double sum = 0;
    for (const Live& live : all_) {
      sum += live.session == session ? frequency(*live.entry, term) : 0;
    }
    return sum;
  }
  [[nodiscard]] double session_length(std::size_t session) const {
    double sum = 0;
    for (const Live& live : all_) {
      sum += live.session == session ? live.entry->length : 0;
    }
    return sum;
  }

  [[nodiscard]] double holders(const std::string& term) const {
    return static_cast<double>(std::ranges::count_if(
        all_, [&](const Live& live) { return frequency(*live.entry, term) > 0; }));
  }

  void keep_rarest_terms() {
    if (terms_.size() <= 48) {
      return;
    }
    std::vector<std::pair<double, std::size_t>> known;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (const double count = holders(terms_[i].term); count > 0) {
        known.emplace_back(count, i);
      }
    }
    std::ranges::sort(known);
    std::set<std::size_t> kept;
    for (std::size_t i = 0; i < std::min<std::size_t>(48, known.size()); ++i) {
      kept.insert(known[i].second);
    }
    std::vector<NaiveTerm> terms;
    for (const std::size_t i : kept) {
      terms.push_back(terms_[i]);
    }
    terms_ = std::move(terms);
  }

  void count() {
    keep_rarest_terms();
    const auto entry_count = static_cast<double>(all_.size());
    double session_count = 0;
    double length = 0;
    double around = 0;
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      session_count += std::ranges::any_of(all_, [&](const Live& e) { return e.session == i; });
      session_lengths_.push_back(session_length(i));
    }
    for (const Live& live : all_) {
      length += live.entry->length;
      around += window_length(live);
    }
    mean_length_ = std::max(1.0, length / std::max(1.0, entry_count));
    mean_window_ = std::max(1.0, around / std::max(1.0, entry_count));
    mean_session_ = std::max(1.0, length / std::max(1.0, session_count));
    for (const auto& [term, weight, stands_in, word] : terms_) {
      Idf idfs{.entry = weight * idf(entry_count, holders(term))};
      session_frequencies_.emplace_back();
      double in_sessions = 0;
      for (std::size_t i = 0; i < sessions_.size(); ++i) {
        session_frequencies_.back().push_back(session_frequency(i, term));
        in_sessions += session_frequencies_.back().back() > 0 ? 1 : 0;
      }
      if (!plain_) {
        const auto windows = std::ranges::count_if(
            all_, [&, &name = term](const Live& live) { return window_frequency(live, name) > 0; });
        idfs.window = weight * idf(entry_count, static_cast<double>(windows));
        idfs.session = weight * idf(session_count, in_sessions);
      }
      full_ += stands_in ? 0 : idfs.entry + idfs.window + idfs.session;
      idfs_.push_back(idfs);
    }
    full_ += is_speaker_named() && !plain_ ? 5 : 0;
    full_ += !spans_.empty() && !plain_ ? 10 : 0;
    full_ = full_ > 0 ? full_ : 1;
  }

  // The score.

  [[nodiscard]] bool is_speaker_named() const {
    return !speaker_.empty() || !speaker_role_.empty();
  }

  [[nodiscard]] double own_score(const NaiveEntry& entry) const {
    double sum = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (const double times = frequency(entry, terms_[i].term); times > 0) {
        sum += idfs_[i].entry * (entry.type == EntryType::kConversation
                                     ? bm25(1.2, 0.9, times, entry.length, mean_length_)
                                     : bm25(0.9, 0.6, times, entry.length, mean_length_));
      }
    }
    return sum;
  }

  [[nodiscard]] double text_score(const Live& live) const {
    const NaiveEntry& entry = *live.entry;
    const double own = own_score(entry);
    if (plain_) {
      return own / full_;
    }
    double window = 0;
    double session = 0;
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      if (const double times = window_frequency(live, terms_[i].term); times > 0) {
        window += idfs_[i].window * (entry.type == EntryType::kConversation
                                         ? bm25(1.2, 0.75, times, window_length(live), mean_window_)
                                         : bm25(0.9, 0.6, times, entry.length, mean_length_));
      }
      if (const double times = session_frequencies_[i][live.session]; times > 0) {
        session += idfs_[i].session *
                   bm25(1.2, 0.75, times, session_lengths_[live.session], mean_session_);
      }
    }
    const double question =
        live.before != nullptr && live.before->asks ? 0.5 * own_score(*live.before) : 0;
    const bool speaks = is_by_speaker(entry);
    double date = 0;
    for (const DateSpan& span : spans_) {
      date = std::max(date, date_match(entry.timestamp, span));
    }
    const double sum = own + window + session + question + (speaks ? 5 : 0) + 10 * date;
    return std::max(sum - (entry.asks && entry.length <= 30 ? 4 : 0), 0.0) / full_;
  }

  [[nodiscard]] bool is_by_speaker(const NaiveEntry& entry) const {
    return speaker_.empty() ? entry.type == EntryType::kConversation && !speaker_role_.empty() &&
                                  entry.role == speaker_role_
                            : entry.who == speaker_;
  }

  [[nodiscard]] bool has_term(const NaiveEntry& entry) const {
    return std::ranges::any_of(
        terms_, [&](const NaiveTerm& each) { return entry.frequencies.contains(each.term); });
  }

  [[nodiscard]] bool is_found(const Live& live) const {
    if (weak_) {
      return !plain_ && is_by_speaker(*live.entry);
    }
    if (!has_words_) {
      return true;
    }
    if (query_.sort != SortOrder::kRelevanceDesc || plain_) {
      if (has_term(*live.entry)) {
        return true;
      }
    } else if (std::ranges::any_of(live.window,
                                   [&](const NaiveEntry* each) { return has_term(*each); })) {
      return true;
    }
    return query_.sort == SortOrder::kRelevanceDesc && !plain_ &&
           std::ranges::any_of(spans_, [&](const DateSpan& span) {
             return live.entry->timestamp >= span.begin && live.entry->timestamp < span.end;
           });
  }

  [[nodiscard]] bool passes_filters(const Live& live) const {
    const NaiveEntry& entry = *live.entry;
    const EntryFilter& filter = query_.filter;
    const auto has_tag = [&](const std::string& tag) { return holds(entry.tags, tag); };
    if ((!filter.types.empty() && !holds(filter.types, entry.type)) ||
        (!filter.agents.empty() && !holds(filter.agents, entry.who)) ||
        (!filter.tags.empty() && std::ranges::none_of(filter.tags, has_tag)) ||
        (!query_.topics.empty() && !holds(query_.topics, entry.topic)) ||
        (filter.since && entry.timestamp < *filter.since) ||
        (filter.until && entry.timestamp > *filter.until) ||
        (filter.pinned_only && !entry.pinned) || (filter.without_sensitive && entry.sensitive)) {
      return false;
    }
    return std::ranges::none_of(read_.filters, [&](const QueryFilter& not_this) {
      switch (not_this.field) {
        case FilterField::kType:
          return entry.type == not_this.type;
        case FilterField::kAgent:
          return entry.who == not_this.value;
        case FilterField::kTag:
          return has_tag(not_this.value);
        case FilterField::kTopic:
          return entry.topic == not_this.value;
        case FilterField::kSession:
          return sessions_[live.session]->id == not_this.value;
        case FilterField::kPinned:
          return entry.pinned;
        default:
          return false;
      }
    });
  }

  [[nodiscard]] bool meets_demands(const NaiveEntry& entry) const {
    return std::ranges::all_of(demands_, [&](const NaiveDemand& demand) {
      const bool is_there =
          demand.phrase.empty()
              ? std::ranges::all_of(demand.terms,
                                    [&](const std::vector<std::string>& any) {
                                      return std::ranges::any_of(any, [&](const std::string& term) {
                                        return entry.frequencies.contains(term);
                                      });
                                    })
              : !std::ranges::search(entry.words, demand.phrase).empty();
      return is_there != demand.excluded;
    });
  }

  [[nodiscard]] bool has_phrases_around(const Live& live) const {
    return std::ranges::all_of(phrases_, [&](const NaiveDemand& demand) {
      return std::ranges::any_of(live.window, [&](const NaiveEntry* each) {
        return !std::ranges::search(each->words, demand.phrase).empty();
      });
    });
  }

  /// Whether another statement about the same holds, or nobody has accepted this one.
  [[nodiscard]] bool is_outdated(const Live& live) const {
    const NaiveEntry& entry = *live.entry;
    const auto rank = [&](const Live& each) {
      return std::tuple(each.entry->trusted, each.entry->stated_at,
                        std::string_view(sessions_[each.session]->id), each.entry->type,
                        each.entry->line);
    };
    return entry.unreviewed ||
           (!entry.subject.empty() && std::ranges::any_of(all_, [&](const Live& other) {
             return other.entry->subject == entry.subject && rank(other) > rank(live);
           }));
  }

  [[nodiscard]] std::optional<Scored> score(std::size_t index) const {
    const Live& live = all_[index];
    const NaiveEntry& entry = *live.entry;
    if (!is_found(live) || !passes_filters(live) || !meets_demands(entry) ||
        !has_phrases_around(live)) {
      return std::nullopt;
    }
    Scored scored{.hit = {.session_id = sessions_[live.session]->id,
                          .type = entry.type,
                          .id = entry.id,
                          .relevance = 0,
                          .components = {}},
                  .session = live.session,
                  .entry = &entry};
    RelevanceComponents& parts = scored.hit.components;
    parts.text = text_score(live);
    parts.importance = entry.importance;
    parts.time = names_time_ ? 1
                             : effective_decay(settings_.decay,
                                               {.type = entry.type,
                                                .timestamp = entry.timestamp,
                                                .initial_factor = entry.decay_factor,
                                                .importance = entry.importance},
                                               settings_.now);
    parts.access = 0.5;
    if (entry.last_accessed) {
      using Hours = std::chrono::duration<double, std::ratio<3600>>;
      const double hours = Hours(settings_.now - *entry.last_accessed).count();
      parts.access = std::max(0.5, std::exp(-0.05 * std::max(0.0, hours)));
    }
    const RelevanceWeights weights = query_.weights.value_or(settings_.weights);
    const RelevanceCombine combine =
        query_.combine.value_or(query_.weights ? RelevanceCombine::kSum : settings_.combine);
    scored.hit.relevance =
        combine == RelevanceCombine::kSum || !has_words_
            ? weights.text * parts.text + weights.time * parts.time +
                  weights.importance * parts.importance + weights.access * parts.access
            : parts.text * (0.96 + 0.04 * parts.time) * (0.80 + 0.20 * parts.importance) *
                  (0.95 + 0.05 * parts.access);
    scored.hit.relevance *= has_words_ && is_empty(entry) ? 0.2 : is_outdated(live) ? 0.5 : 1;
    return scored;
  }

  [[nodiscard]] bool is_before(const Scored& a, const Scored& b) const {
    if (query_.sort == SortOrder::kRelevanceDesc && !weak_) {
      if (a.hit.relevance != b.hit.relevance) {
        return a.hit.relevance > b.hit.relevance;
      }
      if (a.entry->length != b.entry->length) {
        return a.entry->length > b.entry->length;
      }
    }
    if (a.entry->timestamp != b.entry->timestamp) {
      return query_.sort == SortOrder::kTimeAsc && !weak_ ? a.entry->timestamp < b.entry->timestamp
                                                          : a.entry->timestamp > b.entry->timestamp;
    }
    if (a.session != b.session) {
      return a.session < b.session;
    }
    return a.entry->type != b.entry->type ? a.entry->type < b.entry->type
                                          : a.entry->line > b.entry->line;
  }

  std::vector<const NaiveSession*> sessions_;
  const Plan& read_;
  const Query& query_ = read_.query;
  const SearchSettings& settings_;
  Analyzer& analyzer_;
  bool plain_;

  std::vector<NaiveTerm> terms_;
  std::vector<NaiveDemand> demands_;
  std::vector<NaiveDemand> phrases_;
  std::vector<DateSpan> spans_;
  std::string speaker_;
  std::string speaker_role_;
  bool has_words_ = false;
  bool names_time_ = false;
  bool weak_ = false;

  std::vector<Live> all_;  // By session, type and line.
  double mean_length_ = 1;
  double mean_window_ = 1;
  double mean_session_ = 1;
  double full_ = 0;
  std::vector<Idf> idfs_;                                 // By term.
  std::vector<std::vector<double>> session_frequencies_;  // By term and session.
  std::vector<double> session_lengths_;                   // By session.
};

}  // namespace

Result<NaiveStore> NaiveStore::read(FileSystem& files, std::span<const std::string> session_ids,
                                    const std::string& language) {
  BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(language));
  NaiveStore store;
  for (const std::string& id : session_ids) {
    NaiveSession session{.id = id, .entries = {}};
    for (const EntryType type : kEntryTypes) {
      JsonParser parser;
      const auto take = [&](const ScannedEntry& scanned) {
        NaiveEntry entry = to_entry(scanned, analyzer);
        for (NaiveEntry& older : session.entries) {
          older.live = older.live && (older.type != entry.type || older.id != entry.id);
        }
        session.entries.push_back(std::move(entry));
      };
      BMAD_TRY(scan_log(files, session_file(id, entry_type_info(type).log_file), type, parser,
                        {.on_entry = take}));
    }
    store.sessions_.push_back(std::move(session));
  }
  return store;
}

Result<std::vector<NaiveHit>> NaiveStore::search(const Query& query,
                                                 const SearchSettings& settings) const {
  BMAD_TRY_ASSIGN(const Plan plan, read_query(query, settings.now));
  BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(settings.language));
  std::vector<const NaiveSession*> chosen;
  const std::vector<std::string>& wanted = plan.query.filter.sessions;
  for (const NaiveSession& session : sessions_) {
    if (wanted.empty() || holds(wanted, session.id)) {
      chosen.push_back(&session);
    }
  }
  return NaiveSearch(std::move(chosen), plan, settings, analyzer).run();
}

std::map<std::string, std::uint64_t> NaiveStore::topics() const {
  std::map<std::string, std::uint64_t> counts;
  for (const NaiveSession& session : sessions_) {
    for (const NaiveEntry& entry : session.entries) {
      if (entry.live && !entry.topic.empty()) {
        ++counts[entry.topic];
      }
    }
  }
  return counts;
}

}  // namespace bmad_mem::test
