// apply_sessions.cpp - rows are checked, and applied: of many sessions, several at once.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "hub/mirror_state.hpp"
#include "model/entry.hpp"
#include "model/validate.hpp"
#include "search/indexing.hpp"
#include "search/packed_session.hpp"
#include "session_feed.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"

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

Error wrong_row(const FeedRow& row, std::string_view what) {
  return {
      .code = ErrorCode::E_STORAGE_CORRUPT,
      .message = fmt::format("the hub sent row {} of session {:?}, {}; nothing was changed, and "
                             "nothing behind it is applied",
                             row.seq, row.session_id.substr(0, kSessionIdSizeMax), what)};
}

Status check_row(const FeedRow& row, JsonParser& parser) {
  if (!is_session_id(row.session_id)) {
    return wrong_row(row, "which is no id of a session");
  }
  if (static_cast<std::size_t>(row.log) >= kEntryTypeCount || row.op > FeedOp::kManifest) {
    return wrong_row(row, "of a kind that this bmad-mem does not know");
  }
  if (!row.line || (row.op != FeedOp::kLine && row.op != FeedOp::kRedact)) {
    return {};
  }
  if (row.line->size() > kEntrySizeMax || row.line->find('\n') != std::string::npos) {
    return wrong_row(row, "which is longer than a line may be, or several");
  }
  const Result<JsonValue> entry = parser.parse(*row.line);
  if (!entry || check_entry(row.log, *entry) || entry_id(*entry) != row.entry_id) {
    return wrong_row(row,
                     fmt::format("which is no entry of {}", entry_type_info(row.log).log_file));
  }
  return {};
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
    BMAD_TRY_ASSIGN(const std::vector<FeedRow> page, hub.pull(range));
    if (page.empty()) {
      break;
    }
    for (const FeedRow& row : page) {
      BMAD_TRY(check_row(row, parser));
    }
    BMAD_TRY(apply_rows(store, session_id, page, /*replica=*/{}, outcome));
    range.after = page.back().seq;
  }
  BMAD_TRY_ASSIGN(SessionMirror mirror, load_session_mirror(*store.files, session_id));
  mirror.is_behind = false;
  return mirror.seq == 0 ? remove_durably(*store.files, hub_session_path(session_id))
                         : save_session_mirror(*store.files, mirror);
}

}  // namespace bmad_mem
