// deleted_session.cpp - applies rows of the feed to a session that was deleted as a whole.
#include <algorithm>
#include <cassert>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "bmad_mem/trust.hpp"
#include "lifecycle/deletion.hpp"
#include "session_feed.hpp"
#include "session_lines.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// A manifest of which nothing is known but that there is one.
constexpr const char* kUnknownManifest = "{}";

void take_out(SessionMirror& mirror, std::uint64_t seq) {
  if (const std::optional<OutLine> line = mirror.take_out(seq)) {
    mirror.out.emplace(seq, *line);
  }
}

/// Whether one of the lines is kept here: another session may have the same id.
Result<bool> has_any(const Store& store, const std::string& session_id,
                     std::span<const FeedRow> rows) {
  if (rows.empty()) {
    return false;
  }
  BMAD_TRY_ASSIGN(const std::vector<LeftLine> left, read_left_lines(store, session_id));
  std::set<LineKey> keys;
  for (const LeftLine& line : left) {
    keys.insert(line.key());
  }
  return std::ranges::any_of(rows, [&](const FeedRow& row) {
    return row.op == FeedOp::kLine && row.line && keys.contains({row.log, xxh3(*row.line)});
  });
}

Status apply_row(Store& store, SessionMirror& mirror, const FeedRow& row) {
  switch (row.op) {
    case FeedOp::kLine:  // Not deleted there yet: somebody may begin the session again here.
      if (row.line) {
        mirror.out.insert_or_assign(row.seq, OutLine{.log = row.log, .hash = xxh3(*row.line)});
      }
      return {};
    case FeedOp::kDelete:
    case FeedOp::kEvict:
      take_out(mirror, row.target);
      if (const auto out = mirror.out.find(row.target); out != mirror.out.end()) {
        out->second.is_deleted = out->second.is_deleted || row.op == FeedOp::kDelete;
      }
      return {};
    case FeedOp::kRedact: {
      take_out(mirror, row.target);
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("sync"));
      return redact_out_line(store, mirror, row);
    }
    case FeedOp::kPurge: {
      const ActingAs person(Origin::kPerson);
      BMAD_TRY(delete_entries(store, {.ids = {row.entry_id}, .sessions = {mirror.session_id}},
                              {.purge = true}));
      take_out(mirror, row.target);
      mirror.out.erase(row.target);
      return {};
    }
    case FeedOp::kManifest:
      mirror.manifest = row.line.value_or(kUnknownManifest);
      return {};
    case FeedOp::kSession:
      mirror.leave();
      return {};
  }
  return {};
}

}  // namespace

Result<bool> is_deleted_here(const Store& store, const std::string& session_id,
                             std::span<const FeedRow> rows) {
  BMAD_TRY_ASSIGN(const bool is_there, is_session_there(*store.files, session_id));
  if (is_there || is_archived(store, session_id)) {
    return false;
  }
  BMAD_TRY_ASSIGN(const SessionMirror mirror, load_session_mirror(*store.files, session_id));
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
  if (std::ranges::none_of(record.deletions, &Deletion::whole_session)) {
    return false;
  }
  if (!mirror.manifest.empty() || mirror.is_behind) {
    return true;
  }
  return mirror.seq == 0 ? has_any(store, session_id, rows) : false;  // Else the hub knows.
}

Result<bool> is_begun_again(const Store& store, const SessionMirror& mirror) {
  BMAD_TRY_ASSIGN(const DeletionRecord record,
                  load_deletion_record(*store.files, mirror.session_id));
  if (std::ranges::none_of(record.deletions, &Deletion::whole_session)) {
    return false;
  }
  std::set<LineKey> known;
  for (const auto& [seq, line] : mirror.out) {
    if (!line.is_deleted) {
      known.emplace(line.log, line.hash);
    }
  }
  for (const EntryType type : kEntryTypes) {
    const std::vector<FeedLine>& of_log = mirror.logs.at(static_cast<std::size_t>(type));
    BMAD_TRY_ASSIGN(const SessionLines lines,
                    SessionLines::read(*store.files, mirror.session_id, type, of_log));
    assert(lines.missing().size() <= of_log.size());
    if (lines.missing().size() < of_log.size()) {
      return false;
    }
    for (const FeedLine& line : of_log) {
      known.emplace(type, line.hash);
    }
  }
  BMAD_TRY_ASSIGN(const std::vector<LeftLine> left, read_left_lines(store, mirror.session_id));
  return std::ranges::any_of(
      left, [&](const LeftLine& line) { return line.of_session && known.contains(line.key()); });
}

Status apply_to_deleted(Store& store, const std::string& session_id, std::span<const FeedRow> rows,
                        std::string_view replica, FeedOutcome& outcome) {
  BMAD_TRY_ASSIGN(SessionMirror mirror, load_session_mirror(*store.files, session_id));
  mirror.is_behind = false;
  const auto deletion =
      std::ranges::find(rows.rbegin(), rows.rend(), FeedOp::kSession, &FeedRow::op);
  if (deletion != rows.rend()) {
    rows = rows.first(static_cast<std::size_t>(rows.rend() - deletion));
  }
  for (const FeedRow& row : rows) {
    if (row.seq > mirror.seq) {
      const bool is_operation = row.op != FeedOp::kLine && row.replica != replica;
      outcome.operations += is_operation ? 1 : 0;
      BMAD_TRY(apply_row(store, mirror, row));
      mirror.seq = row.seq;
    }
  }
  if (deletion == rows.rend() && mirror.manifest.empty()) {
    mirror.manifest = kUnknownManifest;  // The hub has the session, and has to hear of its end.
  }
  return save_session_mirror(*store.files, mirror);
}

Status redact_out_line(Store& store, SessionMirror& mirror, const FeedRow& row) {
  assert(row.op == FeedOp::kRedact);
  const auto out = mirror.out.find(row.target);
  if (out == mirror.out.end() || !row.line) {
    return {};
  }
  BMAD_TRY(redact_left_line(store, mirror.session_id, {row.log, out->second.hash}, *row.line));
  out->second.hash = xxh3(*row.line);
  return {};
}

}  // namespace bmad_mem
