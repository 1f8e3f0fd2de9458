// aging.cpp - how much the entries of a session count at a moment, and writing that down.
#include <algorithm>
#include <cassert>
#include <map>

#include "bmad_mem/json.hpp"
#include "lifecycle/audit_log.hpp"
#include "lifecycle/maintenance.hpp"
#include "model/decay.hpp"
#include "model/entry.hpp"
#include "search/indexing.hpp"
#include "search/search.hpp"
#include "store/access_log.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/seal.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

/// A line and what is to stand in its place.
struct Replacement {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string line;
};

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
    std::map<std::string, double, std::less<>> factors;
    std::map<std::string, Replacement, std::less<>> newest;  // By id: the last line counts.
    Status problem;
    JsonParser parser;
    const auto take = [&](const ScannedEntry& entry) {
      const double factor = factor_of(entry);
      const std::string id(entry_id(entry.value));
      factors[id] = factor;
      if (write_ && problem) {
        Result<std::string> line = with_decay_snapshot(entry.value, entry.text, factor, as_of_);
        if (line) {
          newest[id] = {.offset = entry.offset, .size = entry.line_size, .line = *line + '\n'};
        } else {
          problem = line.error();
        }
      }
    };
    BMAD_TRY(scan_log(*store_.files, path, type, parser, {.on_entry = take}));
    BMAD_TRY(std::move(problem));
    count(type, factors);
    return newest.empty() ? Status() : replace_lines(path, newest);
  }

  double factor_of(const ScannedEntry& entry) const {
    const EntryHead head = entry_head(entry.type, entry.value);
    const Access* access = accesses_.find(head.id);
    std::optional<Timestamp> last = head.last_accessed;
    if (access != nullptr) {
      last = std::max(last, std::optional(access->last));
    }
    return effective_decay(
        settings_,
        {.type = entry.type,
         .timestamp = head.timestamp,
         .initial_factor = head.decay_factor,
         .importance = importance_of(entry.type, head.severe, head.approved),
         .pinned = head.pinned,
         .access_count = head.access_count + (access == nullptr ? 0 : access->count),
         .last_accessed = last},
        as_of_);
  }

  void count(EntryType type, const std::map<std::string, double, std::less<>>& factors) {
    double sum = 0;
    for (const auto& [id, factor] : factors) {
      assert(factor >= 0 && factor <= 1);
      const auto bar = static_cast<std::size_t>(factor * 10);
      ++report_.histogram[std::min(bar, report_.histogram.size() - 1)];
      sum += factor;
    }
    report_.entries += factors.size();
    if (!factors.empty()) {
      report_.mean[static_cast<std::size_t>(type)] = sum / static_cast<double>(factors.size());
    }
  }

  Status replace_lines(const std::string& path,
                       const std::map<std::string, Replacement, std::less<>>& newest) {
    constexpr std::uint64_t kReadSizeMax = std::uint64_t{4} << 30U;
    BMAD_TRY_ASSIGN(const std::string old, read_file(*store_.files, path, kReadSizeMax));
    std::vector<const Replacement*> in_order;
    in_order.reserve(newest.size());
    for (const auto& [id, replacement] : newest) {
      in_order.push_back(&replacement);
    }
    std::ranges::sort(in_order, {}, &Replacement::offset);
    std::string bytes;
    bytes.reserve(old.size() + 64 * in_order.size());
    std::size_t from = 0;
    for (const Replacement* each : in_order) {
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

}  // namespace bmad_mem
