// head_check.cpp - which encrypted entries are gone, or older than they were, and nothing says why.
#include <algorithm>
#include <cassert>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/audit_log.hpp"
#include "lifecycle/repair.hpp"
#include "model/entry.hpp"
#include "search/session_sources.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/line_sealing.hpp"
#include "store/return_lines.hpp"
#include "verify.hpp"

namespace bmad_mem {
namespace {

/// The newest versions of the entries in `head`, in clear or not, and of other encrypted ones: of
/// the sessions `wanted`, or all, wherever they are. Errors: as session_sources().
Result<EncryptedHead> newest_versions(const Store& store, std::span<const std::string> wanted,
                                      const EncryptedHead& head) {
  EncryptedHead newest;
  BMAD_TRY_ASSIGN(std::vector<SessionSource> sources, evicted_sources(store, wanted));
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> sessions, session_sources(store, wanted));
  std::ranges::copy(sessions, std::back_inserter(sources));
  for (const SessionSource& source : sources) {
    BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source.files(store));
    const auto take = [&](const ScannedEntry& entry) {
      const std::tuple key{source.session_id, entry.type, std::string(entry_id(entry.value))};
      if (is_sealed(entry.value) || head.contains(key)) {
        Timestamp& at = newest[key];
        at = std::max(at, entry_written_time(entry.value));
      }
    };
    BMAD_TRY(scan_logs(*files, session_folder(source.session_id),
                       {.on_entry = take, .on_sealed = take}));
  }
  return newest;
}

/// What was removed from sessions by a command, here or where the audit log comes from.
class Removals {
  static constexpr std::string_view kRemovals[] = {"delete", "purge", "compact"};

 public:
  explicit Removals(const Store& store) : store_(store) {}

  /// Of a version of `at`.
  bool name(const std::string& session_id, const std::string& id, Timestamp at) {
    assert(is_session_id(session_id) && "parse_head() skips others");
    if (session_id_ != session_id) {
      session_id_ = session_id;
      gone_ = gone_entries(store_, session_id, /*with_sessions=*/true).value_or(GoneEntries());
      audit_ = read_audit(*store_.files, session_id).value_or(std::vector<AuditRecord>());
    }
    return gone_.hold(id) || gone_.session_until ||
           std::ranges::any_of(audit_, [&](const AuditRecord& record) {
             return record.at >= at && is_among(kRemovals, record.action) &&
                    (record.ids.empty() || record.ids.size() >= kAuditIdsMax ||
                     is_among(record.ids, id));
           });
  }

 private:
  const Store& store_;
  std::string session_id_;
  GoneEntries gone_;
  std::vector<AuditRecord> audit_;
};

/// What `text` says of the sessions `wanted`, or of all. Damaged lines are skipped.
EncryptedHead parse_head(std::string_view text, std::span<const std::string> wanted) {
  EncryptedHead head;
  JsonParser parser;
  for_each_text_line(text, [&](std::string_view line) {
    const JsonValue value = parser.parse(line).value_or(JsonValue());
    const auto type = try_parse_entry_type(value["type"].string());
    const auto at = try_parse_rfc3339(value["at"].string());
    std::string session(value["session"].string());
    if (type && at && is_session_id(session) && (wanted.empty() || is_among(wanted, session))) {
      Timestamp& newest = head[{std::move(session), *type, std::string(entry_id(value))}];
      newest = std::max(newest, *at);
    }
  });
  return head;
}

}  // namespace

void check_head(const Store& store, std::span<const std::string> wanted, VerifyReport& report) {
  const EncryptedHead head = parse_head(store.origins->state_text(kHeadName), wanted);
  report.knows_encrypted = !head.empty() || report.sealed_lines == 0;
  const Result<EncryptedHead> newest =
      head.empty() ? EncryptedHead() : newest_versions(store, wanted, head);
  Removals removals(store);
  std::map<std::tuple<std::string, EntryType, bool>, std::vector<std::string>> lost;
  for (const auto& [key, at] : newest ? head : EncryptedHead()) {  // Else a finding says why.
    const auto& [session_id, type, id] = key;
    const auto now = newest->find(key);
    const bool is_there = now != newest->end();
    if (is_there ? now->second < at : !removals.name(session_id, id, at)) {
      lost[{session_id, type, is_there}].push_back(id);
    }
  }
  for (const auto& [place, ids] : lost) {
    const auto& [session_id, type, is_there] = place;
    constexpr std::size_t kNamedMax = 3;
    FindingList(report, session_id)
        .add(is_there ? FindingKind::kChangedLine : FindingKind::kLostLine,
             store.files->display_path(log_path(session_id, type)), 0,
             fmt::format("encrypted entries {}: {}{}; bring the file back from git or a backup; if "
                         "a pull or another branch did it, `bmad-mem repair --accept` accepts that",
                         is_there ? "are back in an older version"
                                  : "that were here are gone, and no deletion names them",
                         fmt::join(std::span(ids).first(std::min(ids.size(), kNamedMax)), ", "),
                         ids.size() > kNamedMax ? ", ..." : ""));
  }
}

void update_head(const Store& store, std::span<const std::string> accepted) {
  const EncryptedHead before = parse_head(store.origins->state_text(kHeadName), {});
  if (before.empty() && !store.sealing->is_on()) {
    return;
  }
  const Result<EncryptedHead> newest = newest_versions(store, accepted, before);
  if (!newest) {
    return;  // What was there is still to be compared.
  }
  Removals removals(store);
  static_cast<void>(store.origins->change_state(kHeadName, [&](const std::string& text) {
    EncryptedHead head = parse_head(text, {});
    std::erase_if(head, [&](const auto& each) {
      const auto& [session_id, type, id] = each.first;
      return accepted.empty()
                 ? !newest->contains(each.first) && removals.name(session_id, id, each.second)
                 : is_among(accepted, session_id);
    });
    std::string lines;
    for (const auto& [key, at] : *newest) {
      head[key] = std::max(head[key], at);
    }
    for (const auto& [key, at] : head) {
      lines += head_line(key, at);
    }
    return lines;
  }));
}

}  // namespace bmad_mem
