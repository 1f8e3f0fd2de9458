// versions.cpp - corrections and pins: a newer version of an entry, with some members changed and
// all others kept.
//
//   {"id":"dec-1","decision":"A","rationale":"R","tags":["x"]}     the newest version
//   {"decision":"B","tags":null}                                   changes
//   {"id":"dec-1","decision":"B","rationale":"R","updated_at":…}   the version that is appended
//
// Two writers that change different members at the same time both succeed: the second finds under
// the session's lock that the newest version has changed, and merges again.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/summary_file.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "search/holding.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// As statements are ranked: by time, then by session.
std::pair<Timestamp, std::string> version_rank(const Entry& entry) {
  const ParsedJson value(entry.json);
  return {value ? entry_version_time(*value) : entry.timestamp, entry.session_id};
}

/// Whether they are versions of one statement, which several sessions made.
bool are_about_the_same(std::span<const Entry> entries) {
  JsonParser parser;
  std::set<std::string> subjects;
  for (const Entry& entry : entries) {
    const Result<JsonValue> value = parser.parse(entry.json);
    subjects.insert(value ? statement_head(entry.type, *value).subject() : std::string());
  }
  return subjects.size() == 1 && !subjects.begin()->empty();
}

/// What an agent would make of a statement of the person, as a candidate: once, however often.
Result<Entry> propose(Store& store, const Entry& old, const std::string& line) {
  assert(is_statement(old.type));
  BMAD_TRY_ASSIGN(const ParsedJson entry, parse_json(line));
  ObjectText object(*entry, line);
  object.remove("updated_at");
  object.remove(kWrittenField);
  const std::string id = candidate_id(fmt::format("{}\n{}", old.id, object.to_line()));
  BMAD_TRY_ASSIGN(std::vector<Entry> known,
                  find_entries(store, {&id, 1}, {&old.session_id, 1}, false));
  if (!known.empty()) {
    return std::move(known.front());
  }
  object.set_string("id", id);
  object.set_string("timestamp", format_rfc3339(store.clock.now()));
  object.set("source", R"({"kind":"assistant","trust":0.6})");  // As of what an agent states.
  object.set_string("review", "candidate");
  object.set_string("replaces", old.id);
  object.remove("pinned");
  object.remove(kLinksField);
  const std::string candidate = object.to_line();
  const std::string_view view = candidate;
  BMAD_TRY(add_lines(store, old.session_id, old.type, {&view, 1}, {}));
  BMAD_TRY_ASSIGN(known, find_entries(store, {&id, 1}, {&old.session_id, 1}, false));
  return known.empty() ? Result<Entry>(invalid_query("id", "was deleted meanwhile"))
                       : std::move(known.front());
}

/// The entry's line, pinned or not. updated_at stays: what it says is as old as before.
Result<std::string> line_with_pin(const Entry& entry, bool pinned, Timestamp now) {
  assert(entry.pinned != pinned);
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
  ObjectText object(*value, entry.json);
  if (pinned) {
    object.set("pinned", "true");
  } else {
    object.remove("pinned");
  }
  return as_next_version(entry.json, object.to_line(), now);
}

/// The ids that the lines bring along.
std::vector<std::string> ids_of(std::span<const std::string_view> lines) {
  std::vector<std::string> ids;
  JsonParser parser;
  for (const std::string_view line : lines) {
    if (!line.contains("\"id\"")) {
      continue;
    }
    if (const Result<JsonValue> entry = parser.parse(line); entry && !entry_id(*entry).empty()) {
      ids.emplace_back(entry_id(*entry));
    }
  }
  return ids;
}

/// Takes out of `entries` what `to` has as it is. Errors: E_CONCURRENT_MOD when another entry
/// there has such an id.
Status leave_out_moved(const Store& to, std::vector<Entry>& entries) {
  const std::vector<std::string> ids = mapped(entries, &Entry::id);
  BMAD_TRY_ASSIGN(const std::vector<Entry> there, find_entries(to, ids, {}, false));
  for (const Entry& known : there) {
    const auto ours = std::ranges::find(entries, known.id, &Entry::id);
    if (ours != entries.end() && ours->json != known.json) {
      return field_error(ErrorCode::E_CONCURRENT_MOD, "id",
                         fmt::format("another entry {} is in {} already", known.id, to.root));
    }
    std::erase_if(entries, [&](const Entry& entry) { return entry.id == known.id; });
  }
  return {};
}

/// Errors: E_INVALID_QUERY for what is encrypted here and would be in clear there.
Status check_stays_encrypted(const Store& from, const Store& to, const Entry& entry) {
  BMAD_TRY_ASSIGN(const ParsedJson value, parse_json(entry.json));
  BMAD_TRY_ASSIGN(const std::optional<std::string> here,
                  from.encryption->encrypt(entry.session_id, entry.type, *value, entry.json));
  BMAD_TRY_ASSIGN(const std::optional<std::string> there,
                  to.encryption->encrypt({}, entry.type, *value, entry.json));
  if (here && !there) {
    return invalid_query("id", fmt::format("{} is encrypted here and would be in clear in {}; run "
                                           "`bmad-mem encrypt on` there first",
                                           entry.id, to.root));
  }
  return {};
}

/// Nothing for what can go to another memory. Errors: E_ACCESS_DENIED; E_INVALID_QUERY for an
/// artifact whose document is in its session's folder.
Status check_may_move(const Store& from, const Store& to, const Entry& entry) {
  BMAD_TRY(check_read(from, entry.type));
  BMAD_TRY(check_write(from, entry.type));
  BMAD_TRY(check_write(to, entry.type));
  if (entry.type == EntryType::kArtifact &&
      from.files->info(artifact_path(entry.session_id, entry.id))) {
    return invalid_query("id",
                         fmt::format("the document of {} stays with its session; store it there "
                                     "with `bmad-mem artifact add FILE`",
                                     entry.id));
  }
  return check_stays_encrypted(from, to, entry);
}

Status check_are_two(FileSystem& from, FileSystem& to) {
  BMAD_TRY_ASSIGN(const FileInfo source, from.info("."));
  BMAD_TRY_ASSIGN(const FileInfo target, to.info("."));
  return source.same_file(target) ? path_error(ErrorCode::E_INVALID_QUERY, from.display_path(""),
                                               "entries can't move from a memory to itself")
                                  : Status();
}

}  // namespace

Result<Entry> entry_to_change(const Store& store, const std::string& id,
                              std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(std::vector<Entry> found, find_entries(store, {&id, 1}, sessions, false));
  if (found.empty()) {
    return no_entry(store, id);
  }
  std::vector<Entry*> shown;
  for (Entry& entry : found) {
    shown.push_back(&entry);
  }
  show_valid_versions(store, shown);
  if (found.size() > 1 && are_about_the_same(found)) {
    return std::move(*std::ranges::max_element(found, {}, version_rank));
  }
  if (found.size() > 1) {
    return invalid_query(
        "session_id",
        fmt::format("{} sessions have an entry {} ({}, {}{}); say which one", found.size(), id,
                    found[0].session_id, found[1].session_id, found.size() > 2 ? ", ..." : ""));
  }
  return std::move(found.front());
}

Result<Entry> update_entry(Store& store, const std::string& id, std::string_view changes,
                           std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(const ParsedJson change, parse_json(changes));
  const bool restates = change["content"].present() || change["value"].present();
  return change_entry(store, id, sessions, [&](const Entry& old) -> Result<std::string> {
    if (!old.newer.empty() && !restates) {
      return field_error(ErrorCode::E_CONCURRENT_MOD, "id",
                         fmt::format("entry {} has a newer version by somebody else, \"{}\": "
                                     "`bmad-mem review --foreign` and `bmad-mem trust` "
                                     "accept it, and an edit of its text replaces it",
                                     old.id, old.newer));
    }
    return changed_line(old.json, *change, changes, store.clock.now());
  });
}

Result<Entry> change_entry(Store& store, const std::string& id,
                           std::span<const std::string> sessions, const MakeVersion& make) {
  constexpr int kTries = 100;  // Of as many that change one entry in turn each gets one.
  Result<Entry> old = entry_to_change(store, id, sessions);
  for (int i = 0; old && i < kTries; ++i) {
    BMAD_TRY(check_read(store, old->type));  // Before anything is said of it.
    BMAD_TRY(check_write(store, old->type));
    BMAD_TRY_ASSIGN(std::string line, make(*old));
    const std::string session_id = old->session_id;
    BMAD_TRY_ASSIGN(const ParsedJson before, parse_json(old->json));
    if (line == ObjectText(*before, old->json).to_line()) {
      return old;
    }
    BMAD_TRY_ASSIGN(line, as_next_version(old->json, line, store.clock.now()));
    bool is_outdated = false;
    bool has_dropped_summary = false;
    const auto is_newest = [&]() -> Status {
      BMAD_TRY_ASSIGN(std::vector<Entry> now,
                      find_entries(store, {&id, 1}, {&session_id, 1}, false));
      if (!now.empty()) {
        Entry* const shown = &now.front();
        show_valid_versions(store, {&shown, 1});
      }
      is_outdated = now.empty() || now.front().json != old->json;
      if (is_outdated) {
        return invalid_query("id", "changed meanwhile");
      }  // What it quotes may be a secret from now on.
      BMAD_TRY_ASSIGN(has_dropped_summary, drop_rule_summary(*store.files, session_id));
      return {};
    };
    const std::string_view view = line;
    const bool is_same = says_the_same(old->json, line);
    const Origin origin = store.origins->origin_of(session_id, old->json);
    if (!is_same && is_statement(old->type) && is_authored_here(origin) &&
        store.origins->provenance() != nullptr &&
        ActingAs::current(store.writes_as) == Origin::kAgent) {
      return propose(store, *old, line);
    }
    const ActingAs writer(is_same ? origin : ActingAs::current(store.writes_as));
    const Result<BatchReport> added =
        add_lines(store, session_id, old->type, {&view, 1}, {}, is_newest);
    if (has_dropped_summary) {
      renew_rule_summary(store, session_id);
    }
    if (!added && !is_outdated) {
      Error error = added.error();
      error.line = 0;  // Places in a line that the caller has never seen.
      error.column = 0;
      return error;
    }
    Result<Entry> now = entry_to_change(store, id, {&session_id, 1});
    if (added && !now) {  // It is durable: what can't be read must not look like a failure.
      old->json = line;
      ++old->versions;
      return old;
    }
    old = std::move(now);
    if (added) {
      return old;
    }
  }
  if (!old) {
    return old;
  }
  return field_error(ErrorCode::E_CONCURRENT_MOD, "id",
                     fmt::format("entry {} is changed all the time by others; try again", id));
}

Result<BatchReport> add_versions(Store& store, const std::string& session_id, EntryType type,
                                 std::span<const std::string_view> lines,
                                 const BatchOptions& options) {
  bool has_dropped_summary = false;
  const auto drop_summary = [&]() -> Status {
    if (!store.files->info(session_file(session_id, kSummaryName))) {
      return {};  // So it is nearly always.
    }
    const std::vector<std::string> ids = ids_of(lines);
    if (ids.empty()) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::vector<Entry> known,
                    find_entries(store, ids, {&session_id, 1}, false));
    if (known.empty()) {
      return {};
    }
    BMAD_TRY_ASSIGN(const bool is_dropped, drop_rule_summary(*store.files, session_id));
    has_dropped_summary = has_dropped_summary || is_dropped;
    return {};
  };
  Result<BatchReport> report = add_lines(store, session_id, type, lines, options, drop_summary);
  if (has_dropped_summary) {
    renew_rule_summary(store, session_id);
  }
  return report;
}

Result<PinReport> pin_entries(Store& store, std::span<const std::string> ids, bool pinned,
                              std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(std::vector<Entry> all, find_entries(store, ids, sessions, false));
  PinReport report;
  std::map<std::tuple<std::string, EntryType, Origin>, std::vector<std::string>> lines;
  for (const std::string& id : ids) {
    bool is_known = false;
    for (Entry& entry : all) {
      if (entry.id != id) {
        continue;
      }
      is_known = true;
      BMAD_TRY(check_write(store, entry.type));  // Before anything is said of it, or written.
      if (entry.pinned == pinned) {
        report.unchanged.push_back(entry);
        continue;
      }
      // Who pins it has not said it.
      const Origin origin = store.origins->origin_of(entry.session_id, entry.json);
      BMAD_TRY_ASSIGN(entry.json, line_with_pin(entry, pinned, store.clock.now()));
      entry.pinned = pinned;
      lines[{entry.session_id, entry.type, origin}].push_back(entry.json);
      report.changed.push_back(entry);
    }
    if (!is_known) {
      report.unknown_ids.push_back(id);
    }
  }
  for (const auto& [place, texts] : lines) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    const auto& [session_id, type, origin] = place;
    const ActingAs writer(origin);
    BMAD_TRY(add_lines(store, session_id, type, views, {}));
  }
  return report;
}

Result<MoveReport> move_entries(Store& from, Store& to, std::span<const std::string> ids) {
  constexpr int kTries = 10;  // Somebody may edit an entry while it moves.
  BMAD_TRY(check_are_two(*from.files, *to.files));
  MoveReport report;
  BMAD_TRY_ASSIGN(report.moved, find_entries(from, ids, {}, false));
  for (const std::string& id : ids) {
    if (std::ranges::find(report.moved, id, &Entry::id) == report.moved.end()) {
      report.unknown_ids.push_back(id);
    }
  }
  if (report.moved.empty()) {
    return report;
  }
  for (const Entry& entry : report.moved) {
    BMAD_TRY(check_may_move(from, to, entry));
  }
  std::vector<Entry> missing = report.moved;
  BMAD_TRY(leave_out_moved(to, missing));  // Of a move that was stopped all may be there.
  BMAD_TRY_ASSIGN(const UsualSession session, usual_session(to, {}, {}));
  report.session_id = session.session_id;
  for (int i = 0; i < kTries && !missing.empty(); ++i) {
    for (const Entry& entry : missing) {
      const ActingAs writer(from.origins->origin_of(entry.session_id, entry.json));
      const std::string_view line = entry.json;
      BMAD_TRY(add_lines(to, session.session_id, entry.type, {&line, 1}, {}));
    }
    std::vector<Entry> now;
    BMAD_TRY_ASSIGN(now, find_entries(from, ids, {}, false));
    missing = now;
    std::erase_if(missing, [&](const Entry& entry) {
      return std::ranges::any_of(report.moved,
                                 [&](const Entry& each) { return each.json == entry.json; });
    });
    report.moved = std::move(now);
  }
  DeletionCriteria criteria;
  std::ranges::transform(report.moved, std::back_inserter(criteria.ids), &Entry::id);
  const ActingAs mover(Origin::kPerson);  // Nothing is lost: it may go from here, whose it is.
  BMAD_TRY(delete_entries(from, criteria, {}));
  return report;
}

}  // namespace bmad_mem
