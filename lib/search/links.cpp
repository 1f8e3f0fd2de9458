// links.cpp - typed links between entries: followed, and shown without what has gone.
#include "links.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "base/object_text.hpp"
#include "bmad_mem/entry_links.hpp"
#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_parser.hpp"
#include "model/entry.hpp"
#include "search/held_indexes.hpp"
#include "search/reads.hpp"
#include "search/search.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Relation relation_of(LinkKind kind, bool is_target) {
  static_assert(static_cast<int>(Relation::kRefinedBy) - static_cast<int>(Relation::kSolves) ==
                2 * static_cast<int>(LinkKind::kRefines) + 1);
  return static_cast<Relation>(static_cast<int>(Relation::kSolves) + 2 * static_cast<int>(kind) +
                               (is_target ? 1 : 0));
}

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
        JsonParser parser;
        BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
        const std::vector<std::string_view> names = entry_references(value);
        if (std::ranges::find(names, id) != names.end()) {  // Its hash may be another id's, too.
          naming.push_back(std::move(entry));
        }
      }
    }
  }
  return naming;
}

namespace {

/// What the typed links of an entry lead to.
Result<std::vector<Neighbour>> named_neighbours(std::span<IndexedSession* const> sessions,
                                                const Entry& entry) {
  std::vector<Neighbour> neighbours;
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
  for (const TypedLink& link : typed_links(value)) {
    BMAD_TRY_ASSIGN(std::vector<Entry> named, named_entries(sessions, entry, link.id));
    for (Entry& each : named) {
      neighbours.push_back(
          {.relation = relation_of(link.kind, link.is_target), .entry = std::move(each)});
    }
  }
  return neighbours;
}

}  // namespace

Result<std::vector<Neighbour>> typed_neighbours(std::span<IndexedSession* const> sessions,
                                                const Entry& entry) {
  BMAD_TRY_ASSIGN(std::vector<Neighbour> neighbours, named_neighbours(sessions, entry));
  JsonParser parser;
  BMAD_TRY_ASSIGN(std::vector<Entry> naming, naming_entries(sessions, entry.id));
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
  const auto same = std::ranges::unique(neighbours, {}, place);
  neighbours.erase(same.begin(), same.end());
  return neighbours;
}

namespace {

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

}  // namespace

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
  const auto show = [&](HeldIndexes& indexes) -> Result<std::vector<std::vector<EntryLink>>> {
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

}  // namespace bmad_mem
