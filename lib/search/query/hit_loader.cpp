// hit_loader.cpp - reads the lines of what was found, with snippets and neighbours.
#include <algorithm>
#include <cassert>
#include <optional>

#include "bmad_mem/json.hpp"
#include "match_finder.hpp"
#include "model/entry.hpp"
#include "search/field_filter.hpp"
#include "search/search.hpp"
#include "store/access.hpp"

namespace bmad_mem {
namespace {

Entry to_entry(const IndexedSession& session, EntryType type, Ordinal ordinal, JsonValue value,
               IndexedSession::LoadedLine line) {
  const OddEntry* odd = session.odd(ordinal);
  Entry entry = to_entry(session.session_id(), type, value);
  entry.json = std::move(line.text);
  entry.line = line.number;
  entry.versions = odd == nullptr ? 1 : odd->versions;
  entry.archived = session.is_archived();
  entry.evicted = session.is_evicted();
  return entry;
}

/// Reads the lines of what was found.
class HitLoader {
 public:
  HitLoader(std::span<IndexedSession* const> sessions, const SearchResult& result,
            const Query& query, const SearchSettings& settings)
      : sessions_(sessions), result_(result), query_(query), settings_(settings) {}

  /// Entry `index` of the result with its line, a snippet, and Query::context entries before and
  /// after it in its conversation. Errors: as IndexedSession::line().
  Result<Hit> load(std::size_t index) {
    assert(index < result_.found.size());
    const Found& found = result_.found[index];
    Hit hit{.relevance = std::min(found.relevance, 1.0),
            .components = found.components,
            .combine = result_.combine,
            .weights = result_.weights,
            .outdated = found.outdated,
            .said_before = found.said_before,
            .weak = result_.weak,
            .nearness = found.nearness};
    hit.components.text = std::min(hit.components.text, 1.0);
    if (!result_.explanations.empty()) {
      assert(result_.explanations.size() == result_.found.size());
      hit.explanation = result_.explanations[index];
    }
    if (query_.ids_only) {
      BMAD_TRY_ASSIGN(hit.entry, entry_without_text(found));
    } else {
      BMAD_TRY(load_text(found, hit));
    }
    return hit;
  }

 private:
  /// What the index knows of it.
  Result<Entry> entry_without_text(const Found& found) const {
    IndexedSession& session = *sessions_[found.session];
    BMAD_TRY(session.load_slots(0, 0));
    const std::uint32_t slot = session.slots().slot(found.ordinal);
    BMAD_TRY(session.load_slots(slot, slot + 1));
    const std::uint32_t flags = session.slots().flags[slot];
    const OddEntry* odd = (flags & kFlagOdd) != 0 ? session.odd(found.ordinal) : nullptr;
    BMAD_TRY_ASSIGN(const IndexRow row, session.row(found.ordinal));
    Entry entry{.session_id = session.session_id(),
                .type = found.type,
                .id = row.id_of(found.type),
                .timestamp = found.timestamp,
                .line = row.row.line,
                .versions = odd == nullptr ? 1 : odd->versions,
                .pinned = (flags & kFlagPinned) != 0,
                .sensitive = (flags & kFlagSensitive) != 0,
                .archived = session.is_archived(),
                .evicted = session.is_evicted()};
    if (entry.id.empty()) {
      BMAD_TRY_ASSIGN(entry.id, session.id(found.type, found.ordinal));
    }
    return entry;
  }

  Status load_text(const Found& found, Hit& hit) {
    if (tools_ == nullptr) {
      BMAD_TRY_ASSIGN(tools_, reading_tools(settings_.language));
      finder_.emplace(tools_->analyzer, tools_->known_terms, result_.terms);
    }
    const IndexedSession& session = *sessions_[found.session];
    IndexedSession::LoadedLine line;
    if (found.line != nullptr) {
      line = *found.line;
    } else {
      BMAD_TRY_ASSIGN(line, session.line(found.ordinal));
    }
    BMAD_TRY_ASSIGN(const JsonValue value, tools_->parser.parse(line.text));
    if (query_.snippet_size > 0) {
      tools_->text.clear();
      entry_searchable_text(found.type, value, tools_->text, kTextBreak);
      Snippet snippet =
          make_snippet(*finder_, tools_->text, query_.snippet_size, query_.snippet_passages);
      hit.snippet = std::move(snippet.text);
      hit.highlights = std::move(snippet.highlights);
    }
    hit.entry = to_entry(session, found.type, found.ordinal, value, std::move(line));
    return query_.context > 0 ? load_context(found, hit) : Status();
  }

  Status load_context(const Found& found, Hit& hit) {
    IndexedSession& session = *sessions_[found.session];
    const SlotView slots = session.slots();
    const std::uint32_t slot = slots.slot(found.ordinal);
    BMAD_TRY(session.load_slots(slot, slot + 1));
    assert(slot < slots.size() && "a slot that was found is live");
    for (std::uint32_t at = slot;
         hit.before.size() < query_.context && slots.reach[at].before > 0;) {
      BMAD_TRY(add_neighbour(session, --at, hit.before));
    }
    std::ranges::reverse(hit.before);
    for (std::uint32_t at = slot; hit.after.size() < query_.context && slots.reach[at].after > 0;) {
      BMAD_TRY(add_neighbour(session, ++at, hit.after));
    }
    return {};
  }

  /// Of the filters only these hold for neighbours, too: they keep entries from being seen.
  Status add_neighbour(IndexedSession& session, std::uint32_t slot, std::vector<Entry>& entries) {
    BMAD_TRY(session.load_slots(slot, slot + 1));
    const SlotView slots = session.slots();
    const std::uint32_t flags = slots.flags[slot];
    if ((query_.filter.without_sensitive && (flags & kFlagSensitive) != 0) ||
        is_hidden_at(session, flags, slots.ordinal(slot), settings_.now)) {
      return {};
    }
    BMAD_TRY_ASSIGN(Entry entry, load_entry(session, slots.ordinal(slot)));
    entries.push_back(std::move(entry));
    return {};
  }

  std::span<IndexedSession* const> sessions_;
  const SearchResult& result_;
  const Query& query_;
  const SearchSettings& settings_;
  ReadingTools* tools_ = nullptr;  // Taken for the first hit.
  std::optional<MatchFinder> finder_;
};

}  // namespace

Result<std::vector<Hit>> load_hits(const Store& store, std::span<IndexedSession* const> sessions,
                                   const SearchResult& result, const Query& query,
                                   const SearchSettings& settings) {
  HitLoader loader(sessions, result, query, settings);
  std::vector<Hit> hits;
  hits.reserve(result.found.size());
  for (std::size_t i = 0; i < result.found.size(); ++i) {
    if (settings.is_late()) {
      return query_timeout(query);
    }
    const std::size_t session = result.found[i].session;
    BMAD_TRY_ASSIGN(Hit hit, in_session(*sessions[session], loader.load(i)));
    hit.entry.of_user = settings.kind_of(session) == MemoryKind::kUser;
    for (std::vector<Entry>* const neighbours : {&hit.before, &hit.after}) {
      for (Entry& neighbour : *neighbours) {
        neighbour.of_user = hit.entry.of_user;
      }
    }
    drop_unreadable(store, hit.before);
    drop_unreadable(store, hit.after);
    hits.push_back(std::move(hit));
  }
  return hits;
}

Result<Entry> load_entry(const IndexedSession& session, Ordinal ordinal) {
  BMAD_TRY_ASSIGN(IndexedSession::LoadedLine line, session.line(ordinal));
  const EntryType type = line.type;
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(line.text));
  return to_entry(session, type, ordinal, *value, std::move(line));
}

Result<std::vector<Entry>> entries_with_id(std::span<IndexedSession* const> sessions,
                                           std::string_view id) {
  std::vector<Entry> entries;
  for (const SearchedPart& part : parts_of(sessions)) {
    BMAD_TRY_ASSIGN(const std::vector<IndexPart::PartEntry> found, part.part->part_find(id));
    for (const IndexPart::PartEntry& each : found) {
      IndexedSession& session = *sessions[part.first + each.session];
      BMAD_TRY(in_session(session, session.load_slots(0, 0)));
      const auto hidden = session.hidden();
      if (hidden == nullptr || (*hidden)[session.slots().slot(each.ordinal)] == 0) {
        BMAD_TRY_ASSIGN(Entry entry, in_session(session, load_entry(session, each.ordinal)));
        entries.push_back(std::move(entry));
      }
    }
  }
  return entries;
}

}  // namespace bmad_mem
