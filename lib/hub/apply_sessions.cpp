// apply_sessions.cpp - rows are checked, and applied: of many sessions, several at once; and to a
// session that was deleted as a whole.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "base/parallel.hpp"
#include "bmad_mem/trust.hpp"
#include "hub/mirror_state.hpp"
#include "lifecycle/deletion.hpp"
#include "model/entry.hpp"
#include "search/indexing.hpp"
#include "session_feed.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {
namespace {

/// A manifest of which nothing is known but that there is one.
constexpr const char* kUnknownManifest = "{}";

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
      mirror.put_out(row.target, row.op == FeedOp::kDelete);
      return {};
    case FeedOp::kRedact: {
      mirror.put_out(row.target, /*is_deleted=*/false);
      BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_root("sync"));
      return redact_out_line(store, mirror, row);
    }
    case FeedOp::kPurge: {
      const ActingAs person(Origin::kPerson);
      BMAD_TRY(delete_entries(store, {.ids = {row.entry_id}, .sessions = {mirror.session_id}},
                              {.purge = true}));
      mirror.take_out(row.target);
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

/// Sessions that are written at once. They wait for the disk, not for processors.
constexpr std::size_t kAtOnceMax = 8;

/// Why no mirror can apply `row`; empty when nothing speaks against it.
std::string what_is_wrong(const FeedRow& row, JsonParser& parser) {
  if (!is_session_id(row.session_id)) {
    return "its session has no id of one";
  }
  if (static_cast<std::size_t>(row.log) >= kEntryTypeCount || row.op > FeedOp::kManifest) {
    return "it is of a kind that this bmad-mem does not know";
  }
  const bool has_target =
      row.op == FeedOp::kDelete || row.op == FeedOp::kRedact || row.op == FeedOp::kEvict;
  if (has_target && (row.target == 0 || row.target >= row.seq)) {
    return "it is about no row before it";
  }
  if (row.op == FeedOp::kPurge && !is_entry_id(row.entry_id)) {
    return "it purges what has no id of an entry";
  }
  if (!row.line) {
    return {};
  }
  if (row.op == FeedOp::kManifest) {
    const Result<Manifest> manifest = parse_manifest(*row.line, "the hub's");
    return manifest && manifest->session_id == row.session_id ? ""
                                                              : "it is no manifest of its session";
  }
  if (row.op != FeedOp::kLine && row.op != FeedOp::kRedact) {
    return {};
  }
  if (row.line->size() > kEntrySizeMax || row.line->contains('\n')) {
    return "it is longer than a line may be, or several";
  }
  const Result<JsonValue> entry = parser.parse(*row.line);
  const bool is_entry = entry && !check_entry(row.log, *entry) && entry_id(*entry) == row.entry_id;
  return is_entry ? "" : fmt::format("it is no entry of {}", entry_type_info(row.log).log_file);
}

/// Takes the rows out of `rows` that can't be applied, and adds each to `skipped`.
void skip_wrong_rows(std::vector<FeedRow>& rows, JsonParser& parser,
                     std::vector<SkippedRow>& skipped) {
  std::erase_if(rows, [&](const FeedRow& row) {
    std::string why = what_is_wrong(row, parser);
    const bool is_wrong = !why.empty();
    if (is_wrong) {
      skipped.push_back(
          {row.seq, row.who, row.session_id.substr(0, kSessionIdSizeMax), std::move(why)});
    }
    return is_wrong;
  });
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
Status apply_sessions(Store& store, const SessionRows& sessions, std::string_view replica,
                      FeedOutcome& outcome) {
  struct Part {
    const SessionRows::value_type* session;
    FeedOutcome outcome = {};
    Status status = {};
  };
  std::vector<Part> parts;
  std::vector<const SessionRows::value_type*> alone;
  for (const SessionRows::value_type& session : sessions) {
    const bool only_adds = std::ranges::all_of(session.second, [](const FeedRow& row) {
      return row.op == FeedOp::kLine || row.op == FeedOp::kManifest;
    });
    if (only_adds && !is_archived(store, session.first)) {
      parts.push_back({.session = &session});
    } else {
      alone.push_back(&session);
    }
  }
  assert(parts.size() + alone.size() == sessions.size());
  const auto apply = [&](std::size_t i) {
    Part& part = parts[i];
    part.status =
        apply_rows(store, part.session->first, part.session->second, replica, part.outcome);
  };
  for_each_parallel(parts.size(), apply, std::min(parts.size(), kAtOnceMax));
  Status status;
  for (Part& part : parts) {
    outcome += part.outcome;
    if (status) {
      status = std::move(part.status);
    }
  }
  for (const SessionRows::value_type* session : alone) {
    BMAD_TRY(status);
    status = apply_rows(store, session->first, session->second, replica, outcome);
  }
  return status;
}

Result<std::optional<std::vector<FeedRow>>> next_rows(Hub& hub, PullRange& range,
                                                      JsonParser& parser,
                                                      std::vector<SkippedRow>& skipped) {
  BMAD_TRY_ASSIGN(std::vector<FeedRow> rows, hub.pull(range));
  if (rows.empty()) {
    return std::nullopt;
  }
  for (const FeedRow& row : rows) {
    const bool is_wanted = !range.session_id || row.session_id == *range.session_id;
    if (row.seq <= range.after || row.seq > range.until.value_or(row.seq) || !is_wanted) {
      return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                   .message = fmt::format("the hub sent row {} after row {}; nothing was changed",
                                          row.seq, range.after)};
    }
    range.after = row.seq;
  }
  skip_wrong_rows(rows, parser, skipped);
  return rows;
}

Result<std::vector<SkippedRow>> skipped_rows(Hub& hub) {
  std::vector<SkippedRow> skipped;
  JsonParser parser;
  PullRange range;
  while (true) {
    BMAD_TRY_ASSIGN(const auto rows, next_rows(hub, range, parser, skipped));
    if (!rows) {
      return skipped;
    }
  }
}

Status drop_skipped_row(Hub& hub, std::uint64_t seq) {
  BMAD_TRY_ASSIGN(std::vector<FeedRow> rows, hub.rows({&seq, 1}));
  std::vector<SkippedRow> skipped;
  JsonParser parser;
  skip_wrong_rows(rows, parser, skipped);
  if (!skipped.empty()) {
    return hub.drop_row(seq);
  }
  return rows.empty()
             ? field_error(ErrorCode::E_SESSION_NOT_FOUND, "drop",
                           fmt::format("the feed has no row {}; `bmad-mem hub rows` lists "
                                       "those that can be dropped",
                                       seq))
             : field_error(ErrorCode::E_INVALID_FORMAT, "drop",
                           fmt::format("row {} can be applied, and mirrors have it; `bmad-mem "
                                       "purge` removes entries",
                                       seq));
}

void refresh_changed(Store& store, FeedOutcome& outcome) {
  refresh_indexes(store, std::exchange(outcome.changed, {}));
}

Status apply_again(Store& store, Hub& hub, const std::string& session_id, std::uint64_t until,
                   FeedOutcome& outcome) {
  BMAD_TRY(save_session_mirror(*store.files, {.session_id = session_id, .is_behind = true}));
  PullRange range{.after = 0, .until = until, .session_id = session_id};
  JsonParser parser;
  while (true) {
    std::vector<SkippedRow> known;  // They were said when they came.
    BMAD_TRY_ASSIGN(const auto rows, next_rows(hub, range, parser, known));
    if (!rows) {
      break;
    }
    BMAD_TRY(apply_rows(store, session_id, *rows, /*replica=*/{}, outcome));
  }
  BMAD_TRY_ASSIGN(SessionMirror mirror, load_session_mirror(*store.files, session_id));
  mirror.is_behind = false;
  return mirror.seq == 0 ? remove_durably(*store.files, hub_session_path(session_id))
                         : save_session_mirror(*store.files, mirror);
}

}  // namespace bmad_mem
