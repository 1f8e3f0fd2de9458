// learned_rates.cpp - how fast entries of a type fall out of use, from the access logs.
//
//   created      returned   returned                        now
//      |------------|----------|- - - - - - - - - - - - - - -|
//      |<---- useful for ----->|<-- more than kLearnedSilentDays -->|     ended
//      |<---- useful for ----->|< less >|                          goes on: censored, it is useful
//                              |       now                         for at least so long
//
// e^(-rate x days) of the exponential model is the share of entries that are still of use after so
// many days, so the rate is that of an exponential lifetime.
#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <cmath>
#include <map>

#include "bmad_mem/json.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/entry.hpp"
#include "search/search.hpp"
#include "store/access_log.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr double kRateMax = 10;  // More config.json does not take: half is gone in 100 minutes.

double days_from_to(Timestamp from, Timestamp to) {
  using Days = std::chrono::duration<double, std::ratio<86400>>;
  return std::max(0.0, Days(to - from).count());
}

/// The value below which a chi-squared variable with `degrees` stays with the probability whose
/// standard normal deviate is `z`. Wilson and Hilferty 1931; within 1 % from 2 degrees x
/// kLearnedEndsMin on.
double chi_squared(double degrees, double z) {
  assert(degrees > 0);
  const double ninth = 2 / (9 * degrees);
  return degrees * std::pow(1 - ninth + z * std::sqrt(ninth), 3);
}

/// The useful lives of the entries of a type.
struct UsefulLives {
  std::uint64_t used = 0;  ///< Entries that were returned at all.
  std::uint64_t ended = 0;
  double days = 0;
};

/// An entry, by its newest version.
struct LifeSpan {
  Timestamp created{};
  std::optional<Timestamp> last_used;
  bool pinned = false;
};

Status add_session(const Store& store, const std::string& session_id, Timestamp now,
                   std::array<UsefulLives, kEntryTypeCount>& lives) {
  BMAD_TRY_ASSIGN(const AccessTable accesses, read_accesses(*store.files, session_id));
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    std::map<std::string, LifeSpan, std::less<>> spans;
    const auto take = [&](const ScannedEntry& scanned) {
      const EntryHead head = entry_head(type, scanned.value);
      LifeSpan span{
          .created = head.timestamp, .last_used = head.last_accessed, .pinned = head.pinned};
      if (const Access* const access = accesses.find(head.id); access != nullptr) {
        span.last_used = std::max(span.last_used, std::optional(access->last));
      }
      spans.insert_or_assign(std::string(head.id), span);
    };
    BMAD_TRY(scan_log(*store.files, log_path(session_id, type), type, parser, {.on_entry = take}));
    UsefulLives& of_type = lives[static_cast<std::size_t>(type)];
    for (const auto& [id, span] : spans) {
      if (!span.last_used || span.pinned) {
        continue;  // What is pinned never decays; what nobody asked for says nothing of when.
      }
      ++of_type.used;
      of_type.days += days_from_to(span.created, *span.last_used);
      of_type.ended += days_from_to(*span.last_used, now) > kLearnedSilentDays ? 1 : 0;
    }
    assert(of_type.ended <= of_type.used);
  }
  return {};
}

}  // namespace

LearnedRate learned_rate(std::uint64_t used, std::uint64_t ended, double days) {
  assert(ended <= used && days >= 0);
  constexpr double kDeviate95 = 1.959964;
  LearnedRate learned{.used = used, .ended = ended, .days = days};
  learned.is_enough = ended >= kLearnedEndsMin && days > 0;
  if (learned.is_enough) {
    const auto ends = static_cast<double>(ended);
    learned.rate = std::min(ends / days, kRateMax);
    learned.low = chi_squared(2 * ends, -kDeviate95) / (2 * days);
    learned.high = chi_squared(2 * ends + 2, kDeviate95) / (2 * days);
    assert(learned.low <= learned.high);
  }
  return learned;
}

Result<std::vector<LearnedRate>> learn_decay(const Store& store) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions({}));
  const Timestamp now = store.clock.now();
  std::array<UsefulLives, kEntryTypeCount> lives{};
  for (const std::string& session_id : sessions) {
    if (Status added = add_session(store, session_id, now, lives); !added) {
      BMAD_TRY(store.leave_out(session_id, std::move(added).error()));
    }
  }
  const DecaySettings settings = search_settings(store).decay;
  std::vector<LearnedRate> rates;
  for (const EntryType type : kEntryTypes) {
    const auto number = static_cast<std::size_t>(type);
    LearnedRate& rate = rates.emplace_back(
        learned_rate(lives[number].used, lives[number].ended, lives[number].days));
    rate.type = type;
    rate.configured = settings.rates_per_day[number];
    rate.is_setting = type == EntryType::kConversation || type == EntryType::kDecision ||
                      type == EntryType::kFinding || type == EntryType::kPreference;
  }
  return rates;
}

}  // namespace bmad_mem
