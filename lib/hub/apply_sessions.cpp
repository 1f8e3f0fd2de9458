// apply_sessions.cpp - rows of many sessions, several sessions at once.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <future>
#include <system_error>
#include <utility>
#include <vector>

#include "search/packed_session.hpp"
#include "session_feed.hpp"

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
    status = status ? std::move(part.status) : std::move(status);
  }
  for (const SessionRows::value_type* session : alone) {
    BMAD_TRY(status);
    status = apply_rows(store, session->first, session->second, replica, outcome);
  }
  return status;
}

}  // namespace bmad_mem
