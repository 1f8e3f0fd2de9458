// retention.hpp - until when an entry may be kept.
#pragma once

#include <cstdint>
#include <optional>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "store/config.hpp"

namespace bmad_mem {

/// For how many days entries of `type` are kept; 0: for ever.
std::int64_t retention_days(EntryType type, const RetentionDays& days);

/// The moment from which an entry is to be removed; nothing when it is kept for ever: it is pinned,
/// or its type is. Compare it with TrustedTime::time and not with the clock.
std::optional<Timestamp> expires_at(EntryType type, Timestamp timestamp, bool pinned,
                                    const RetentionDays& days);

/// The moment before which no entry of a session that was made at `created_at` is to be removed,
/// whatever its time: see docs/decisions/0029. Nothing when every type is kept for ever.
std::optional<Timestamp> first_expiry(Timestamp created_at, const RetentionDays& days);

}  // namespace bmad_mem
