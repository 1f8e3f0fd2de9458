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
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/object_text.hpp"
#include "bmad_mem/json_parser.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "model/statement.hpp"
#include "model/validate.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

Error bad_change(std::string_view field, std::string message) {
  return {.code = ErrorCode::E_INVALID_QUERY,
          .message = std::move(message),
          .field = std::string(field)};
}

/// As statements are ranked: by time, then by session.
std::pair<Timestamp, std::string> version_rank(const Entry& entry) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(entry.json);
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

}  // namespace

Result<Entry> entry_to_change(const Store& store, const std::string& id,
                              std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(std::vector<Entry> found, find_entries(store, {&id, 1}, sessions, false));
  if (found.empty()) {
    return Error{
        .code = ErrorCode::E_SESSION_NOT_FOUND,
        .message = fmt::format("there is no entry {}; `bmad-mem list` shows the newest", id),
        .field = "id"};
  }
  if (found.size() > 1 && are_about_the_same(found)) {
    return std::move(*std::ranges::max_element(found, {}, version_rank));
  }
  if (found.size() > 1) {
    return bad_change(
        "session_id",
        fmt::format("{} sessions have an entry {} ({}, {}{}); say which one", found.size(), id,
                    found[0].session_id, found[1].session_id, found.size() > 2 ? ", ..." : ""));
  }
  return std::move(found.front());
}

Result<Entry> update_entry(Store& store, const std::string& id, std::string_view changes,
                           std::span<const std::string> sessions) {
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue change, parser.parse(changes));
  return change_entry(store, id, sessions, [&](const Entry& old) {
    return changed_line(old.json, change, changes, store.clock.now());
  });
}

Result<Entry> change_entry(Store& store, const std::string& id,
                           std::span<const std::string> sessions, const MakeVersion& make) {
  constexpr int kTries = 100;  // Of as many that change one entry in turn each gets one.
  Result<Entry> old = entry_to_change(store, id, sessions);
  for (int i = 0; old && i < kTries; ++i) {
    BMAD_TRY(check_read(store, old->type));  // Before anything is said of it.
    BMAD_TRY(check_write(store, old->type));
    BMAD_TRY_ASSIGN(const std::string line, make(*old));
    const std::string session_id = old->session_id;
    JsonParser old_parser;
    BMAD_TRY_ASSIGN(const JsonValue before, old_parser.parse(old->json));
    if (line == ObjectText(before, old->json).to_line()) {
      return old;
    }
    bool is_outdated = false;
    const auto is_newest = [&]() -> Status {
      BMAD_TRY_ASSIGN(const std::vector<Entry> now,
                      find_entries(store, {&id, 1}, {&session_id, 1}, false));
      is_outdated = now.empty() || now.front().json != old->json;
      return is_outdated ? Status(bad_change("id", "changed meanwhile")) : Status();
    };
    const std::string_view view = line;
    const Result<BatchReport> added =
        add_lines(store, session_id, old->type, {&view, 1}, {}, is_newest);
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
  return Error{.code = ErrorCode::E_CONCURRENT_MOD,
               .message = fmt::format("entry {} is changed all the time by others; try again", id),
               .field = "id"};
}

namespace {

/// The entry's line, pinned or not. updated_at stays: what it says is as old as before.
Result<std::string> line_with_pin(const Entry& entry, bool pinned) {
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
  ObjectText object(value, entry.json);
  if (pinned) {
    object.set("pinned", "true");
  } else {
    object.remove("pinned");
  }
  return object.to_line();
}

}  // namespace

Result<PinReport> pin_entries(Store& store, std::span<const std::string> ids, bool pinned,
                              std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(std::vector<Entry> all, find_entries(store, ids, sessions, false));
  PinReport report;
  std::map<std::pair<std::string, EntryType>, std::vector<std::string>> lines;
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
      BMAD_TRY_ASSIGN(entry.json, line_with_pin(entry, pinned));
      entry.pinned = pinned;
      lines[{entry.session_id, entry.type}].push_back(entry.json);
      report.changed.push_back(entry);
    }
    if (!is_known) {
      report.unknown_ids.push_back(id);
    }
  }
  for (const auto& [place, texts] : lines) {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    BMAD_TRY(add_lines(store, place.first, place.second, views, {}));
  }
  return report;
}

Result<MoveReport> move_entries(Store& from, Store& to, std::span<const std::string> ids) {
  BMAD_TRY_ASSIGN(std::vector<Entry> all, find_entries(from, ids, {}, false));
  MoveReport report;
  std::map<EntryType, std::vector<std::string_view>> lines;
  for (const std::string& id : ids) {
    if (std::ranges::find(all, id, &Entry::id) == all.end()) {
      report.unknown_ids.push_back(id);
    }
  }
  for (const Entry& entry : all) {
    BMAD_TRY(check_read(from, entry.type));
    BMAD_TRY(check_write(from, entry.type));
    BMAD_TRY(check_write(to, entry.type));
    lines[entry.type].push_back(entry.json);
  }
  if (all.empty()) {
    return report;
  }
  BMAD_TRY_ASSIGN(const UsualSession session, usual_session(to, {}, {}));
  report.session_id = session.session_id;
  for (const auto& [type, views] : lines) {
    // Whoever was stopped between both steps finds the very same lines there.
    BMAD_TRY(add_lines(to, session.session_id, type, views, {.known = KnownEntries::kRefuse}));
  }
  DeletionCriteria criteria;
  for (const Entry& entry : all) {
    criteria.ids.push_back(entry.id);
  }
  BMAD_TRY(delete_entries(from, criteria, {}));
  report.moved = std::move(all);
  return report;
}

}  // namespace bmad_mem
