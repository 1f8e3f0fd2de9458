#include <algorithm>
#include <map>
#include <optional>

#include "bmad_mem/json_parser.hpp"
#include "match_finder.hpp"
#include "model/entry.hpp"
#include "search/search.hpp"

namespace bmad_mem {
namespace {

Entry to_entry(const IndexedSession& session, EntryType type, Ordinal ordinal, JsonValue value,
               IndexedSession::LoadedLine line) {
  const EntryHead head = entry_head(type, value);
  const OddEntry* odd = session.odd(ordinal);
  return Entry{.session_id = session.session_id(),
               .type = type,
               .id = std::string(head.id),
               .timestamp = head.timestamp,
               .who = std::string(head.who),
               .headline = entry_headline(type, value),
               .json = std::move(line.text),
               .line = line.number,
               .versions = odd == nullptr ? 1 : odd->versions,
               .pinned = head.pinned,
               .sensitive = head.sensitive,
               .archived = session.is_archived(),
               .evicted = session.is_evicted()};
}

}  // namespace

struct HitLoader::Impl {
  std::span<IndexedSession* const> sessions;
  const SearchResult& result;
  const Query& query;
  std::string_view language;
  ReadingTools* tools = nullptr;  // Taken for the first hit.
  std::optional<MatchFinder> finder;
  std::map<std::size_t, IndexedSession::OpenLogs> logs;  // By session.

  [[nodiscard]] Result<Entry> entry_without_text(const Found& found) const;
  Status load_text(const Found& found, Hit& hit);
  Result<Hit> load(const Found& found);
  Status load_context(const Found& found, Hit& hit);
  Status add_neighbour(IndexedSession& session, std::uint32_t slot, std::vector<Entry>& entries);
};

HitLoader::HitLoader(std::span<IndexedSession* const> sessions, const SearchResult& result,
                     const Query& query, std::string_view language)
    : impl_(new Impl{.sessions = sessions,
                     .result = result,
                     .query = query,
                     .language = language,
                     .finder = {},
                     .logs = {}}) {}
HitLoader::~HitLoader() = default;

Result<Hit> HitLoader::load(std::size_t index) {
  const Found& found = impl_->result.found[index];
  BMAD_TRY_ASSIGN(Hit hit, in_session(*impl_->sessions[found.session], impl_->load(found)));
  if (!impl_->result.explanations.empty()) {
    hit.explanation = impl_->result.explanations[index];
  }
  return hit;
}

Result<Hit> HitLoader::Impl::load(const Found& found) {
  Hit hit{.entry = {},
          .relevance = std::min(found.relevance, 1.0),
          .components = found.components,
          .combine = result.combine,
          .weights = result.weights,
          .outdated = found.outdated,
          .weak = result.weak,
          .snippet = {},
          .highlights = {},
          .before = {},
          .after = {},
          .explanation = {}};
  hit.components.text = std::min(hit.components.text, 1.0);
  if (query.ids_only) {
    BMAD_TRY_ASSIGN(hit.entry, entry_without_text(found));
  } else {
    BMAD_TRY(load_text(found, hit));
  }
  return hit;
}

/// What the index knows of it.
Result<Entry> HitLoader::Impl::entry_without_text(const Found& found) const {
  IndexedSession& session = *sessions[found.session];
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
              .who = {},
              .headline = {},
              .json = {},
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

Status HitLoader::Impl::load_text(const Found& found, Hit& hit) {
  if (tools == nullptr) {
    BMAD_TRY_ASSIGN(tools, reading_tools(language));
    finder.emplace(tools->analyzer, tools->known_terms, result.terms);
  }
  // Hits without end may come from more sessions than a process may have files open.
  constexpr std::size_t kOpenSessionsMax = 32;
  if (logs.size() >= kOpenSessionsMax && !logs.contains(found.session)) {
    logs.clear();
  }
  const IndexedSession& session = *sessions[found.session];
  IndexedSession::LoadedLine line;
  if (found.line != nullptr) {
    line = *found.line;
  } else {
    BMAD_TRY_ASSIGN(line, session.line(found.ordinal, logs[found.session]));
  }
  BMAD_TRY_ASSIGN(const JsonValue value, tools->parser.parse(line.text));
  if (query.snippet_size > 0) {
    tools->text.clear();
    entry_searchable_text(found.type, value, tools->text, kTextBreak);
    Snippet snippet = make_snippet(*finder, tools->text, query.snippet_size);
    hit.snippet = std::move(snippet.text);
    hit.highlights = std::move(snippet.highlights);
  }
  hit.entry = to_entry(session, found.type, found.ordinal, value, std::move(line));
  return query.context > 0 ? load_context(found, hit) : Status();
}

Status HitLoader::Impl::load_context(const Found& found, Hit& hit) {
  IndexedSession& session = *sessions[found.session];
  const SlotView slots = session.slots();
  const std::uint32_t slot = slots.slot(found.ordinal);
  BMAD_TRY(session.load_slots(slot, slot + 1));
  for (std::uint32_t at = slot; hit.before.size() < query.context && slots.reach[at].before > 0;) {
    BMAD_TRY(add_neighbour(session, --at, hit.before));
  }
  std::ranges::reverse(hit.before);
  for (std::uint32_t at = slot; hit.after.size() < query.context && slots.reach[at].after > 0;) {
    BMAD_TRY(add_neighbour(session, ++at, hit.after));
  }
  return {};
}

/// Of the filters only this one holds for neighbours, too: it keeps entries from being seen.
Status HitLoader::Impl::add_neighbour(IndexedSession& session, std::uint32_t slot,
                                      std::vector<Entry>& entries) {
  BMAD_TRY(session.load_slots(slot, slot + 1));
  const SlotView slots = session.slots();
  if (query.filter.without_sensitive && (slots.flags[slot] & kFlagSensitive) != 0) {
    return {};
  }
  BMAD_TRY_ASSIGN(Entry entry, load_entry(session, slots.ordinal(slot)));
  entries.push_back(std::move(entry));
  return {};
}

Result<Entry> load_entry(const IndexedSession& session, Ordinal ordinal) {
  IndexedSession::OpenLogs logs;
  return load_entry(session, ordinal, logs);
}

Result<Entry> load_entry(const IndexedSession& session, Ordinal ordinal,
                         IndexedSession::OpenLogs& logs) {
  BMAD_TRY_ASSIGN(IndexedSession::LoadedLine line, session.line(ordinal, logs));
  const EntryType type = line.type;
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(line.text));
  return to_entry(session, type, ordinal, value, std::move(line));
}

}  // namespace bmad_mem
