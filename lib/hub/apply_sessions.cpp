// apply_sessions.cpp - rows are checked, and applied: of many sessions, several at once.
#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstddef>
#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "hub/mirror_state.hpp"
#include "model/entry.hpp"
#include "search/indexing.hpp"
#include "search/packed_session.hpp"
#include "session_feed.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {
namespace {

/// Sessions that are written at once. They wait for the disk, not for processors.
constexpr std::size_t kAtOnceMax = 8;

}  // namespace

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
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      Part& part = parts[i];
      part.status =
          apply_rows(store, part.session->first, part.session->second, replica, part.outcome);
    }
  };
  {
    std::vector<std::future<void>> helpers;  // Each waits for its end.
    try {
      for (std::size_t i = 1; i < std::min(parts.size(), kAtOnceMax); ++i) {
        helpers.push_back(std::async(std::launch::async, work));
      }
    } catch (const std::system_error&) {  // There are no more threads; those there are will do.
    }
    work();
    std::ranges::for_each(helpers, &std::future<void>::get);  // Throws what one has thrown.
  }
  assert(next >= parts.size() && "each part was taken by a thread");
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

namespace {

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
