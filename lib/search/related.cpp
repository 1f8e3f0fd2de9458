// related.cpp - what is linked to one entry: references both ways, its topic, its like.
#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "bmad_mem/entry_links.hpp"
#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "search/field_filter.hpp"
#include "search/held_indexes.hpp"
#include "search/reads.hpp"
#include "search/search.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

class RelatedFinder {
 public:
  RelatedFinder(const Store& store, std::span<IndexedSession* const> sessions, std::string_view id,
                const EntryFilter& filter)
      : settings_(search_settings(store)), sessions_(sessions), id_(id), filter_(filter) {}

  Result<std::vector<RelatedEntry>> run() {
    BMAD_TRY_ASSIGN(const std::vector<Entry> entries, entries_with_id(sessions_, id_));
    for (const Entry& entry : entries) {
      BMAD_TRY(add_relatives(entry));
    }
    if (entries.empty()) {
      return Error{.code = ErrorCode::E_INVALID_QUERY,
                   .message = fmt::format("there is no entry {}; `bmad-mem list` shows ids", id_),
                   .field = "id"};
    }
    if (filter_.limit != 0 && found_.size() > filter_.limit) {
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(filter_.limit), found_.end());
    }
    return std::move(found_);
  }

 private:
  Status add_relatives(const Entry& entry) {
    JsonParser parser;
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    for (const std::string_view id : entry_references(value)) {
      BMAD_TRY(add_referenced(entry, id));
    }
    BMAD_TRY(add_referrers());
    if (const std::string topic(entry_topic(value)); !topic.empty()) {
      BMAD_TRY(add_found({.filter = filter_, .topics = {topic}}, Relation::kSameTopic));
    }
    Query like{.filter = filter_, .text_is_prose = true};
    entry_searchable_text(entry.type, value, like.text);
    return like.text.empty() ? Status() : add_found(std::move(like), Relation::kSimilar);
  }

  /// An id means the entry of the same session, or else one of any other.
  Status add_referenced(const Entry& entry, std::string_view id) {
    BMAD_TRY_ASSIGN(std::vector<Entry> named, entries_with_id(sessions_, id));
    const auto is_of_others = [&](const Entry& each) {
      return each.session_id != entry.session_id || each.evicted != entry.evicted;
    };
    if (!std::ranges::all_of(named, is_of_others)) {
      std::erase_if(named, is_of_others);
    } else if (!named.empty()) {
      const Entry& first = named.front();
      const std::pair place(first.session_id, first.evicted);
      std::erase_if(named, [&](const Entry& each) {
        return std::pair(each.session_id, each.evicted) != place;
      });
    }
    for (Entry& each : named) {
      add(std::move(each), Relation::kReferences, 1);
    }
    return {};
  }

  Status add_referrers() {
    for (const SearchedPart& part : parts_of(sessions_)) {
      BMAD_TRY_ASSIGN(const PartPostings found,
                      part.part->part_postings(PostingKind::kTerm, reference_key(id_)));
      for (const SessionPostings& named : found.sessions) {
        IndexedSession& session = *sessions_[part.first + named.session];
        BMAD_TRY(in_session(session, session.load_slots(0, 0)));
        for (const SlotPosting& posting : named.postings) {
          BMAD_TRY_ASSIGN(
              Entry entry,
              in_session(session, load_entry(session, session.slots().ordinal(posting.slot))));
          JsonParser parser;
          BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
          const std::vector<std::string_view> names = entry_references(value);
          if (std::ranges::find(names, id_) != names.end()) {  // Its hash may be another id's, too.
            add(std::move(entry), Relation::kReferencedBy, 1);
          }
        }
      }
    }
    return {};
  }

  /// What `query` finds, by its words alone: what is said beside an entry is not what it is like.
  Status add_found(Query query, Relation relation) {
    query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
    query.ranking = TextRanking::kPlain;
    query.filter.limit += query.filter.limit == 0 ? 0 : 1;  // It finds itself.
    BMAD_TRY_ASSIGN(const SearchResult result, search(sessions_, query, settings_));
    for (const Found& found : result.found) {
      IndexedSession& session = *sessions_[found.session];
      BMAD_TRY_ASSIGN(Entry each, in_session(session, load_entry(session, found.ordinal)));
      add(std::move(each), relation, found.relevance);
    }
    return {};
  }

  /// Keeps `entry`, unless it is known, filtered out, or the asked one itself.
  void add(Entry entry, Relation relation, double relevance) {
    if (entry.id != id_ && passes(entry) &&
        known_.emplace(entry.session_id, entry.type, entry.id).second) {
      found_.push_back({.entry = std::move(entry), .relation = relation, .relevance = relevance});
    }
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
    JsonParser parser;
    const Result<JsonValue> value = parser.parse(entry.json);
    const auto is_tagged = [&](const std::string& tag) { return entry_has_tag(*value, tag); };
    return value && (filter_.tags.empty() || std::ranges::any_of(filter_.tags, is_tagged)) &&
           passes_fields(filter_.fields, entry.type, *value) &&
           passes_workspace(filter_, entry.session_id, *value);
  }

  const SearchSettings settings_;
  std::span<IndexedSession* const> sessions_;
  std::string_view id_;
  const EntryFilter& filter_;
  std::set<std::tuple<std::string, EntryType, std::string>> known_;
  std::vector<RelatedEntry> found_;
};

}  // namespace

Result<std::vector<RelatedEntry>> related_entries(const Store& store, std::string_view id,
                                                  const EntryFilter& filter) {
  BMAD_TRY(check_time_range(filter));
  return with_indexes(store, filter, [&](HeldIndexes& indexes) {
    return RelatedFinder(store, indexes.sessions(), id, filter).run();
  });
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

}  // namespace bmad_mem
