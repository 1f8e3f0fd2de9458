// retention.hpp - until when an entry may be kept, and which ones wait to go.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "store/config.hpp"
#include "store/manifest.hpp"

namespace bmad_mem {

struct Store;

/// The days that hold for a session: those of its project, by name, or by the path or the last part
/// of its workspace, or else those of all.
const RetentionDays& retention_of(const Config& config, const Manifest& manifest);

/// From when on the days count for entries that are older: the session's making, or the moment when
/// what had been closed before was imported (docs/decisions/0029).
Timestamp retention_start(const Manifest& manifest);

/// The moment from which an entry is to be removed; nothing when it is kept for ever: it is pinned,
/// or its type is. Compare it with SteadyTime::time and not with the clock.
std::optional<Timestamp> expires_at(EntryType type, Timestamp timestamp, bool pinned,
                                    const RetentionDays& days);

/// The moment before which no entry of a session that was made at `created_at` is to be removed,
/// whatever its time: see docs/decisions/0029. Nothing when every type is kept for ever.
std::optional<Timestamp> first_expiry(Timestamp created_at, const RetentionDays& days);

/// What is past its retention in a root that git tracks: there maintenance takes no single line out
/// of a file, since each clone does that on another day, so readers pass over it. Threads: safe.
class PastRetention {
 public:
  /// `store` outlives it.
  explicit PastRetention(const Store& store) : store_(store) {}

  /// Whether readers pass over such an entry at `now`. Only of what is old enough by its own time
  /// is the manifest of its session read, once, and git's index.
  [[nodiscard]] bool hides(const std::string& session_id, EntryType type, Timestamp timestamp,
                           bool pinned, Timestamp now) const;

 private:
  /// When a session was made, and the days that hold for it.
  using Rule = std::pair<Timestamp, RetentionDays>;

  const Store& store_;
  mutable std::mutex mutex_;         ///< Guards all below.
  mutable Timestamp looked_at_{};    ///< When git was asked last,
  mutable bool is_tracked_ = false;  ///< and what it said.
  mutable std::map<std::string, std::optional<Rule>, std::less<>> rules_;  ///< By session.
};

}  // namespace bmad_mem
