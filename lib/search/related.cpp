// related.cpp - what is linked to one entry: typed links, references both ways, its topic, its
// like.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

#include "bmad_mem/entry_links.hpp"
#include "bmad_mem/json_parser.hpp"
#include "links.hpp"
#include "model/entry.hpp"
#include "search/field_filter.hpp"
#include "search/held_indexes.hpp"
#include "search/reads.hpp"
#include "search/search.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// The least cosine of what is alike without a common word. Of 5,915 pairs of statements about
/// something else 2 % are as near; of 25 that say the same in other words, 21.
constexpr double kAlikeMin = 0.6;

class RelatedFinder {
 public:
  RelatedFinder(const Store& store, std::span<IndexedSession* const> sessions, std::string_view id,
                const EntryFilter& filter, std::size_t depth)
      : settings_(search_settings(store)),
        sessions_(sessions),
        id_(id),
        filter_(filter),
        depth_(depth) {
    settings_.near_min = kAlikeMin;
  }

  /// None when there is no such entry.
  Result<std::optional<std::vector<RelatedEntry>>> run() {
    BMAD_TRY_ASSIGN(const std::vector<Entry> entries, entries_with_id(sessions_, id_));
    for (const Entry& entry : entries) {
      BMAD_TRY(add_relatives(entry));
    }
    if (entries.empty()) {
      return std::optional<std::vector<RelatedEntry>>();
    }
    if (filter_.limit != 0 && found_.size() > filter_.limit) {
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(filter_.limit), found_.end());
    }
    return std::optional(std::move(found_));
  }

 private:
  Status add_relatives(const Entry& entry) {
    JsonParser parser;
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    BMAD_TRY(walk_links(entry));
    BMAD_TRY(add_references(entry, value));
    if (const std::string topic(entry_topic(value)); !topic.empty()) {
      BMAD_TRY(add_found({.filter = filter_, .topics = {topic}}, Relation::kSameTopic));
    }
    Query like{.filter = filter_, .text_is_prose = true};
    entry_searchable_text(entry.type, value, like.text);
    return like.text.empty() ? Status() : add_found(std::move(like), Relation::kSimilar);
  }

  /// Follows typed links, the nearest first. What does not pass the filter leads no further.
  Status walk_links(const Entry& entry) {
    std::vector<Entry> level = {entry};
    for (std::size_t depth = 1; depth <= depth_ && !level.empty(); ++depth) {
      std::vector<Entry> next;
      for (const Entry& from : level) {
        BMAD_TRY_ASSIGN(std::vector<Neighbour> neighbours, typed_neighbours(sessions_, from));
        for (Neighbour& each : neighbours) {
          if (add(each.entry, each.relation, 1)) {
            found_.back().depth = depth;
            found_.back().via = from.id;
            next.push_back(std::move(each.entry));
          }
        }
      }
      level = std::move(next);
    }
    return {};
  }

  Status add_references(const Entry& entry, JsonValue value) {
    for (const std::string_view id : entry_references(value)) {
      BMAD_TRY_ASSIGN(std::vector<Entry> named, named_entries(sessions_, entry, id));
      for (Entry& each : named) {
        add(std::move(each), Relation::kReferences, 1);
      }
    }
    BMAD_TRY_ASSIGN(std::vector<Entry> naming, naming_entries(sessions_, id_));
    for (Entry& each : naming) {
      add(std::move(each), Relation::kReferencedBy, 1);
    }
    return {};
  }

  /// What `query` finds, by its words alone: what is said beside an entry is not what it is like.
  Status add_found(Query query, Relation relation) {
    query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
    query.ranking = TextRanking::kPlain;
    query.filter.limit += query.filter.limit == 0 ? 0 : 1;  // It finds itself.
    BMAD_TRY_ASSIGN(const SearchResult result, search_sessions(sessions_, query, settings_));
    for (const Found& found : result.found) {
      IndexedSession& session = *sessions_[found.session];
      BMAD_TRY_ASSIGN(Entry each, in_session(session, load_entry(session, found.ordinal)));
      add(std::move(each), relation, found.relevance);
    }
    return {};
  }

  /// Keeps `entry`, unless it is known, filtered out, or the asked one itself. Says whether.
  bool add(Entry entry, Relation relation, double relevance) {
    const bool is_new = entry.id != id_ && passes(entry) &&
                        known_.emplace(entry.session_id, entry.type, entry.id).second;
    if (is_new) {
      found_.push_back({.entry = std::move(entry), .relation = relation, .relevance = relevance});
    }
    return is_new;
  }

  /// For those that no search has found and filtered.
  [[nodiscard]] bool passes(const Entry& entry) {
    const auto has = [](const auto& list, const auto& item) {
      return list.empty() || std::ranges::find(list, item) != list.end();
    };
    if (!has(filter_.types, entry.type) || !has(filter_.agents, entry.who) ||
        (filter_.since && entry.timestamp < *filter_.since) ||
        (filter_.until && entry.timestamp > *filter_.until) ||
        has_expired(entry.expires_at, settings_.now) || (filter_.pinned_only && !entry.pinned) ||
        (filter_.without_sensitive && entry.sensitive)) {
      return false;
    }
    if (filter_.tags.empty() && filter_.fields.empty() && !filter_.workspace) {
      return true;
    }
    const ParsedJson value(entry.json);
    const auto is_tagged = [&](const std::string& tag) { return entry_has_tag(*value, tag); };
    return value && (filter_.tags.empty() || std::ranges::any_of(filter_.tags, is_tagged)) &&
           passes_fields(filter_.fields, entry.type, *value) &&
           passes_workspace(filter_, entry.session_id, *value);
  }

  SearchSettings settings_;
  std::span<IndexedSession* const> sessions_;
  std::string_view id_;
  const EntryFilter& filter_;
  std::size_t depth_;
  std::set<std::tuple<std::string, EntryType, std::string>> known_;
  std::vector<RelatedEntry> found_;
};

}  // namespace

Result<std::vector<RelatedEntry>> related_entries(const Store& store, std::string_view id,
                                                  const EntryFilter& filter, std::size_t depth) {
  BMAD_TRY(check_time_range(filter));
  const auto find = [&](HeldIndexes& indexes) {
    return RelatedFinder(store, indexes.sessions(), id, filter, depth).run();
  };
  BMAD_TRY_ASSIGN(std::optional<std::vector<RelatedEntry>> related,
                  with_indexes(store, filter, find));
  if (!related) {
    return no_entry(store, id);
  }
  std::vector<Entry*> entries;
  for (RelatedEntry& each : *related) {
    entries.push_back(&each.entry);
  }
  show_links(store, entries);
  return *std::move(related);
}

std::string_view relation_name(Relation relation) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "references", "referenced_by", "same_topic", "similar",       "solves",  "solved_by",
      "causes",     "caused_by",     "supersedes", "superseded_by", "refines", "refined_by"};
  return kNames[static_cast<std::size_t>(relation)];
}

}  // namespace bmad_mem
