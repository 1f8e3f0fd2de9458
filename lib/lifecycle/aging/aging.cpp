// aging.cpp - how much the entries of a session count at a moment, and writing that down; and how
// fast entries of a type fall out of use, from the access logs.
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
#include "bmad_mem/text.hpp"
#include "lifecycle/compaction_plan.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/decay.hpp"
#include "model/entry.hpp"
#include "search/indexing.hpp"
#include "search/search.hpp"
#include "store/access_log.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_hashes.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// The last line of an entry, and its replacement.
struct AgedLine {
  double factor = 1;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string line = {};
};
/// By id.
using AgedLines = std::map<std::string, AgedLine, std::less<>>;

class SessionAging {
 public:
  SessionAging(Store& store, const std::string& session_id, Timestamp as_of, bool write)
      : store_(store),
        session_id_(session_id),
        as_of_(as_of),
        write_(write),
        settings_(search_settings(store).decay) {
    report_.session_id = session_id;
    report_.as_of = as_of;
    report_.model = decay_model_name(settings_.model);
  }

  Result<DecayReport> run() {
    BMAD_TRY_ASSIGN(accesses_, read_accesses(*store_.files, session_id_));
    for (const EntryType type : kEntryTypes) {
      BMAD_TRY(age_log(type));
    }
    return report_;
  }

 private:
  Status age_log(EntryType type) {
    const std::string path = log_path(session_id_, type);
    AgedLines newest;
    Status problem;
    JsonParser parser;
    const auto take = [&](const ScannedEntry& entry) {
      const EntryHead head = entry_head(type, entry.value);
      const DecayInput input = decay_input(type, head, accesses_.find(head.id));
      AgedLine& aged = newest[std::string(head.id)];
      aged = {.factor = effective_decay(settings_, input, as_of_),
              .offset = entry.offset,
              .size = entry.line_size};
      if (write_ && problem) {
        Result<std::string> line =
            with_decay_snapshot(entry.value, entry.text, aged.factor, as_of_);
        problem = line ? Status() : Status(line.error());
        aged.line = line.value_or("") + '\n';
      }
    };
    BMAD_TRY(scan_log(*store_.files, path, type, parser, {.on_entry = take}));
    BMAD_TRY(std::move(problem));
    count(type, newest);
    return write_ && !newest.empty() ? replace_lines(path, newest) : Status();
  }

  void count(EntryType type, const AgedLines& lines) {
    double sum = 0;
    for (const auto& [id, aged] : lines) {
      assert(aged.factor >= 0 && aged.factor <= 1);
      const auto bar = static_cast<std::size_t>(aged.factor * 10);
      ++report_.histogram[std::min(bar, report_.histogram.size() - 1)];
      sum += aged.factor;
    }
    report_.entries += lines.size();
    if (!lines.empty()) {
      report_.mean[static_cast<std::size_t>(type)] = sum / static_cast<double>(lines.size());
    }
  }

  Status replace_lines(const std::string& path, const AgedLines& newest) {
    constexpr std::uint64_t kReadSizeMax = std::uint64_t{4} << 30U;
    BMAD_TRY_ASSIGN(const std::string old, read_file(*store_.files, path, kReadSizeMax));
    std::vector<const AgedLine*> in_order =
        mapped(newest, [](const auto& aged) { return &aged.second; });
    std::ranges::sort(in_order, {}, &AgedLine::offset);
    std::string bytes;
    bytes.reserve(old.size() + 64 * in_order.size());
    std::size_t from = 0;
    for (const AgedLine* each : in_order) {
      if (each->offset + each->size > old.size()) {
        return path_error(ErrorCode::E_CONCURRENT_MOD, store_.files->display_path(path),
                          "another program shortened the log while it was read; try again");
      }
      assert(each->offset >= from && each->line.ends_with('\n') &&
             "entries are lines of their own");
      bytes.append(old, from, each->offset - from).append(each->line);
      from = each->offset + each->size;
    }
    bytes.append(old, from);
    report_.rewritten += in_order.size();
    return replace_log(*store_.files, path, bytes);
  }

  Store& store_;
  const std::string& session_id_;
  Timestamp as_of_;
  bool write_;
  DecaySettings settings_;
  AccessTable accesses_;
  DecayReport report_;
};

constexpr double kRateMax = 10;  // More config.json does not take: half is gone in 100 minutes.

/// The value below which a chi-squared variable with `degrees` stays with the probability whose
/// standard normal deviate is `z`. Wilson and Hilferty 1931; within 1 % from 2 degrees x
/// kLearnedEndsMin on.
double chi_squared(double degrees, double z) {
  assert(degrees > 0);
  const double ninth = 2 / (9 * degrees);
  return degrees * std::pow(1 - ninth + z * std::sqrt(ninth), 3);
}

/// Adds the useful lives of the entries of a session, each by its newest version.
Status add_session(const Store& store, const std::string& session_id, Timestamp now,
                   std::array<LearnedRate, kEntryTypeCount>& rates) {
  BMAD_TRY_ASSIGN(const AccessTable accesses, read_accesses(*store.files, session_id));
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    std::map<std::string, DecayInput, std::less<>> spans;
    const auto take = [&](const ScannedEntry& scanned) {
      const EntryHead head = entry_head(type, scanned.value);
      spans.insert_or_assign(std::string(head.id), decay_input(type, head, accesses.find(head.id)));
    };
    BMAD_TRY(scan_log(*store.files, log_path(session_id, type), type, parser, {.on_entry = take}));
    LearnedRate& of_type = rates[static_cast<std::size_t>(type)];
    for (const auto& [id, span] : spans) {
      if (!span.last_accessed || span.pinned) {
        continue;  // What is pinned never decays; what nobody asked for says nothing of when.
      }
      ++of_type.used;
      of_type.days += days_between(span.timestamp, *span.last_accessed);
      of_type.ended += days_between(*span.last_accessed, now) > kLearnedSilentDays ? 1 : 0;
    }
    assert(of_type.ended <= of_type.used);
  }
  return {};
}

/// The rate of the useful lives that are counted in `learned`.
void learn_rate(LearnedRate& learned) {
  constexpr double kDeviate95 = 1.959964;
  learned.is_enough = learned.ended >= kLearnedEndsMin && learned.days > 0;
  if (learned.is_enough) {
    const auto ends = static_cast<double>(learned.ended);
    learned.rate = std::min(ends / learned.days, kRateMax);
    learned.low = chi_squared(2 * ends, -kDeviate95) / (2 * learned.days);
    learned.high = chi_squared(2 * ends + 2, kDeviate95) / (2 * learned.days);
    assert(learned.low <= learned.high);
  }
}

}  // namespace

Result<std::vector<DecayReport>> age_sessions(Store& store, std::span<const std::string> wanted,
                                              std::optional<Timestamp> as_of, bool write) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions(wanted));
  const Timestamp moment = as_of.value_or(store.clock.now());
  std::vector<DecayReport> reports;
  for (const std::string& session_id : sessions) {
    std::optional<FileLock::Guard> guard;
    if (write) {
      Result<FileLock::Guard> locked = store.lock_session(session_id, "decay");
      if (!locked && locked.error().code == ErrorCode::E_NEWER_VERSION && wanted.empty()) {
        BMAD_TRY(store.leave_out(session_id, std::move(locked).error()));
        continue;
      }
      BMAD_TRY_ASSIGN(guard, std::move(locked));
    }
    Result<DecayReport> aged = SessionAging(store, session_id, moment, write).run();
    if (!aged) {
      BMAD_TRY(write || wanted.size() == 1 ? Status(std::move(aged).error())
                                           : store.leave_out(session_id, std::move(aged).error()));
      continue;
    }
    DecayReport report = *std::move(aged);
    if (report.rewritten > 0) {
      BMAD_TRY(append_audit(
          store, {.session_id = session_id, .action = "decay", .count = report.rewritten}));
      guard.reset();
      refresh_index(store, session_id);
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::vector<DecayTableLine> list_decay(const Store& store) {
  return decay_table(search_settings(store).decay);
}

Result<std::vector<LearnedRate>> learn_decay(const Store& store) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.selected_sessions({}));
  const Timestamp now = store.clock.now();
  std::array<LearnedRate, kEntryTypeCount> rates{};
  for (const std::string& session_id : sessions) {
    if (Status added = add_session(store, session_id, now, rates); !added) {
      BMAD_TRY(store.leave_out(session_id, std::move(added).error()));
    }
  }
  const DecaySettings settings = search_settings(store).decay;
  for (const EntryType type : kEntryTypes) {
    const auto number = static_cast<std::size_t>(type);
    learn_rate(rates[number]);
    rates[number].type = type;
    rates[number].configured = settings.rates_per_day[number];
    rates[number].is_setting = type == EntryType::kConversation || type == EntryType::kDecision ||
                               type == EntryType::kFinding || type == EntryType::kPreference;
  }
  return std::vector<LearnedRate>(rates.begin(), rates.end());
}

}  // namespace bmad_mem
