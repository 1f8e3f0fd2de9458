// related.cpp - finds the entries that are linked to one or similar to it, and shows their links.
#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/object_text.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "search/cached_indexes.hpp"
#include "search/field_filter.hpp"
#include "search/reads.hpp"
#include "search/search.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// An entry that a typed link leads to.
struct Neighbour {
  Relation relation = Relation::kSolves;  ///< Counted from the entry that was asked for.
  Entry entry;
};

// `sessions` are refreshed and locked. Errors: as entries_with_id().

/// The entries that `id` means where `entry` names it: that of the same session, or else that of
/// one of the others.
Result<std::vector<Entry>> named_entries(std::span<IndexedSession* const> sessions,
                                         const Entry& entry, std::string_view id) {
  BMAD_TRY_ASSIGN(std::vector<Entry> named, entries_with_id(sessions, id));
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
  return named;
}

/// What the typed links of an entry lead to.
Result<std::vector<Neighbour>> named_neighbours(std::span<IndexedSession* const> sessions,
                                                const Entry& entry) {
  std::vector<Neighbour> neighbours;
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
  for (const TypedLink& link : typed_links(*value)) {
    BMAD_TRY_ASSIGN(std::vector<Entry> named, named_entries(sessions, entry, link.id));
    for (Entry& each : named) {
      neighbours.push_back(
          {.relation = relation_of(link.kind, link.is_target), .entry = std::move(each)});
    }
  }
  return neighbours;
}

/// The typed links of `entry`, both ways, in the order of their relations. An entry comes once for
/// each relation.
Result<std::vector<Neighbour>> typed_neighbours(std::span<IndexedSession* const> sessions,
                                                const Entry& entry) {
  BMAD_TRY_ASSIGN(std::vector<Neighbour> neighbours, named_neighbours(sessions, entry));
  BMAD_TRY_ASSIGN(std::vector<Entry> naming, naming_entries(sessions, entry.id));
  JsonParser parser;
  for (Entry& each : naming) {
    BMAD_TRY_ASSIGN(const JsonValue other, parser.parse(each.json));
    for (const TypedLink& link : typed_links(other)) {
      if (link.id == entry.id) {
        neighbours.push_back({.relation = relation_of(link.kind, !link.is_target), .entry = each});
      }
    }
  }
  const auto place = [](const Neighbour& each) {
    return std::tuple(each.relation, std::string_view(each.entry.session_id), each.entry.type,
                      std::string_view(each.entry.id));
  };
  std::ranges::stable_sort(neighbours, {}, place);
  neighbours.erase(std::ranges::unique(neighbours, {}, place).begin(), neighbours.end());
  return neighbours;
}

bool may_have_links(const Entry& entry) { return entry.json.contains("\"links\""); }

/// The line of `entry` with those of its links whose ids `is_shown`.
template <typename IsShown>
std::string with_links(const Entry& entry, const IsShown& is_shown) {
  const ParsedJson value(entry.json);
  const std::vector<TypedLink> all = value ? typed_links(*value) : std::vector<TypedLink>();
  if (std::ranges::all_of(all, is_shown, &TypedLink::id)) {
    return entry.json;
  }
  ObjectText object(*value, entry.json);
  ObjectText links(object.raw(kLinksField));
  for (const LinkKind kind : kLinkKinds) {
    std::vector<std::string_view> ids;
    for (const TypedLink& link : all) {
      if (link.kind == kind && is_shown(link.id)) {
        ids.push_back(link.id);
      }
    }
    links.set_unless_empty(link_member(kind), list_json(ids));
  }
  object.set_unless_empty(kLinksField, links.to_line());
  return object.to_line();
}

EntryLink to_link(Neighbour neighbour) {
  Entry& other = neighbour.entry;
  return {.relation = neighbour.relation,
          .session_id = std::move(other.session_id),
          .type = other.type,
          .id = std::move(other.id),
          .headline = other.sensitive ? std::string() : std::move(other.headline)};
}

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
    BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
    BMAD_TRY(walk_links(entry));
    BMAD_TRY(add_references(entry, *value));
    if (const std::string topic(entry_topic(*value)); !topic.empty()) {
      BMAD_TRY(add_found({.filter = filter_, .topics = {topic}}, Relation::kSameTopic));
    }
    Query like{.filter = filter_, .text_is_prose = true};
    entry_searchable_text(entry.type, *value, like.text);
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
    TableEntry its{.type = entry.type,
                   .text = entry.json,
                   .who = entry.who,
                   .timestamp = entry.timestamp,
                   .pinned = entry.pinned,
                   .sensitive = entry.sensitive};
    const ParsedJson value(entry.json);
    const JsonValue tags = value ? entry_head(entry.type, *value).tags : JsonValue();
    for (const JsonValue tag : tags.elements()) {
      its.tags.emplace_back(tag.string());
    }
    return (filter_.types.empty() || is_among(filter_.types, entry.type)) &&
           !has_expired(entry.expires_at, settings_.now) &&
           bmad_mem::passes(filter_, entry.session_id, its);
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

Result<std::vector<Entry>> naming_entries(std::span<IndexedSession* const> sessions,
                                          std::string_view id) {
  std::vector<Entry> naming;
  for (const SearchedPart& part : parts_of(sessions)) {
    BMAD_TRY_ASSIGN(const PartPostings found,
                    part.part->part_postings(PostingKind::kTerm, reference_key(id)));
    for (const SessionPostings& named : found.sessions) {
      IndexedSession& session = *sessions[part.first + named.session];
      BMAD_TRY(in_session(session, session.load_slots(0, 0)));
      const auto hidden = session.hidden();
      for (const SlotPosting& posting : named.postings) {
        if (hidden != nullptr && (*hidden)[posting.slot] != 0) {
          continue;
        }
        BMAD_TRY_ASSIGN(
            Entry entry,
            in_session(session, load_entry(session, session.slots().ordinal(posting.slot))));
        BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
        const std::vector<std::string_view> names = entry_references(*value);
        if (std::ranges::find(names, id) != names.end()) {  // Its hash may be another id's, too.
          naming.push_back(std::move(entry));
        }
      }
    }
  }
  return naming;
}

void show_links(const Store& store, std::span<Entry* const> entries,
                std::span<const std::string> sessions, bool fill) {
  const auto is_of_user = [](const Entry* entry) { return entry->of_user; };
  const Store* const user = store.user_root.empty() ? nullptr : store.user_store();
  if (user != nullptr && std::ranges::any_of(entries, is_of_user)) {  // Theirs are over there.
    std::vector<Entry*> own(entries.begin(), entries.end());
    const auto users = std::ranges::stable_partition(own, std::not_fn(is_of_user));
    show_links(*user, users, {}, fill);
    show_links(store, {own.begin(), users.begin()}, sessions, fill);
    return;
  }
  const bool have_links =
      std::ranges::any_of(entries, [](const Entry* entry) { return may_have_links(*entry); });
  if (entries.empty() || (!have_links && !fill)) {
    return;
  }
  EntryFilter filter;
  if (!have_links) {  // Else what they name may be anywhere.
    filter.sessions.assign(sessions.begin(), sessions.end());
  }
  const auto show = [&](CachedIndexes& indexes) -> Result<std::vector<std::vector<EntryLink>>> {
    std::vector<std::vector<EntryLink>> all;
    for (const Entry* const entry : entries) {
      std::vector<EntryLink>& links = all.emplace_back();
      if (fill || may_have_links(*entry)) {
        // Those that name it are shown with `fill` alone.
        BMAD_TRY_ASSIGN(std::vector<Neighbour> found,
                        fill ? typed_neighbours(indexes.sessions(), *entry)
                             : named_neighbours(indexes.sessions(), *entry));
        for (Neighbour& each : found) {
          if (!store.access || store.access->may_read(each.entry.type)) {
            links.push_back(to_link(std::move(each)));
          }
        }
      }
    }
    return all;
  };
  Result<std::vector<std::vector<EntryLink>>> shown = with_indexes(store, filter, show);
  if (!shown) {  // What can't be found out must not keep the entries back.
    shown = std::vector<std::vector<EntryLink>>(entries.size());
  }
  assert(shown->size() == entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    Entry& entry = *entries[i];
    std::vector<EntryLink>& links = (*shown)[i];
    if (may_have_links(entry)) {
      entry.json = with_links(entry, [&](std::string_view id) {
        return std::ranges::find(links, id, &EntryLink::id) != links.end();
      });
    }
    if (fill) {
      entry.links = std::move(links);
    }
  }
}

Result<std::vector<RelatedEntry>> related_entries(const Store& store, std::string_view id,
                                                  const EntryFilter& filter, std::size_t depth) {
  BMAD_TRY(check_time_range(filter));
  const auto find = [&](CachedIndexes& indexes) {
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

Relation relation_of(LinkKind kind, bool is_target) {
  static_assert(static_cast<int>(Relation::kRefinedBy) - static_cast<int>(Relation::kSolves) ==
                2 * static_cast<int>(LinkKind::kRefines) + 1);
  return static_cast<Relation>(static_cast<int>(Relation::kSolves) + 2 * static_cast<int>(kind) +
                               (is_target ? 1 : 0));
}

std::string_view relation_name(Relation relation) {
  static constexpr std::array<std::string_view, 12> kNames = {
      "references", "referenced_by", "same_topic", "similar",       "solves",  "solved_by",
      "causes",     "caused_by",     "supersedes", "superseded_by", "refines", "refined_by"};
  assert(static_cast<std::size_t>(relation) < kNames.size());
  return kNames[static_cast<std::size_t>(relation)];
}

}  // namespace bmad_mem
