// audit - who removed or moved what, and when.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "removed_view.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 8> kActionNames = {"delete",  "undelete", "purge", "compact",
                                                          "archive", "restore",  "decay", "redact"};

/// Ids that a line for people shows.
constexpr std::size_t kIdsShown = 3;

std::string record_as_json(const AuditRecord& record) {
  JsonWriter json;
  json.begin_object().member("at", format_rfc3339(record.at));
  json.member("session_id", record.session_id).member("agent_id", record.agent_id);
  json.member("action", record.action).member("count", record.count);
  add_texts(json, "ids", record.ids);
  json.member("detail", record.detail).end_object();
  return json.take();
}

std::string ids_text(const AuditRecord& record) {
  std::string out;
  for (std::size_t i = 0; i < record.ids.size() && i < kIdsShown; ++i) {
    out += (i == 0 ? "" : ", ") + printable(record.ids[i]);
  }
  if (record.ids.size() > kIdsShown) {
    out += ", …";
  }
  return out;
}

/// Columns that are aligned to the left, as text is: table.hpp is for numbers.
void print_records(Tool& tool, const std::vector<AuditRecord>& records) {
  std::vector<std::array<std::string, 6>> rows = {
      {"time", "session", "who", "action", "count", "ids"}};
  for (const AuditRecord& record : records) {
    rows.push_back({format_minute(record.at), record.session_id, printable(record.agent_id),
                    record.action, format_count(record.count), ids_text(record)});
  }
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], text_width(row[i]));
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    const std::string detail = i == 0 ? "detail" : printable(records[i - 1].detail);
    std::string line =
        fmt::format("{}  {}  {}  {}  {}  {}", row[0] + std::string(widths[0] - row[0].size(), ' '),
                    padded(row[1], widths[1]), padded(row[2], widths[2]), padded(row[3], widths[3]),
                    padded_left(row[4], widths[4]), padded(row[5], widths[5]));
    line += "  " + detail;
    line.erase(line.find_last_not_of(' ') + 1);
    tool.out().print("{}\n", i == 0 ? tool.style().bold(line) : line);
  }
}

Result<AuditFilter> read_audit_filter(const Arguments& args) {
  BMAD_TRY_ASSIGN(EntryFilter filter, read_filter(args, system_clock().now()));
  AuditFilter audit{.sessions = std::move(filter.sessions),
                    .actions = {},
                    .since = filter.since,
                    .until = filter.until,
                    .limit = filter.limit};
  audit.actions.assign(args.all("action").begin(), args.all("action").end());
  return audit;
}

Result<ExitStatus> run_audit(Tool& tool) {
  for (const std::string& action : tool.args().all("action")) {
    if (std::ranges::find(kActionNames, action) == kActionNames.end()) {
      return tool.wrong_usage(
          fmt::format("--action takes {}, not '{}'", fmt::join(kActionNames, ", "), action));
    }
  }
  BMAD_TRY_ASSIGN(const AuditFilter filter, read_audit_filter(tool.args()));
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<AuditRecord> records, memory.audit(filter));
  if (tool.json()) {
    for (const AuditRecord& record : records) {
      tool.out().print("{}\n", record_as_json(record));
    }
  } else if (records.empty()) {
    tool.note("nothing was removed or moved");
  } else {
    print_records(tool, records);
    if (filter.limit != 0 && records.size() == filter.limit) {
      tool.note(
          fmt::format("these are the newest {}; there may be more (--limit N)", filter.limit));
    }
  }
  return ExitStatus::kDone;
}

constexpr Option kAuditOptions[] = {
    kSessionFilter,
    {.name = "action",
     .value = "ACTION",
     .help = "only this",
     .repeatable = true,
     .completion = Completion::kChoice,
     .choices = kActionNames},
    kSinceFilter,
    kUntilFilter,
    limit_option("the newest so many; 0: all"),
};

constexpr Example kAuditExamples[] = {
    {.command = "bmad-mem audit --since 7d", .says = "what went this week, and who did it"},
    {.command = "bmad-mem audit --action delete --action purge --limit 0",
     .says = "every deletion there was"},
};

}  // namespace

const Command kAudit = {
    .name = "audit",
    .group = Group::kCare,
    .summary = "show who removed or moved what, and when",
    .description =
        "Shows what was deleted, brought back, purged, compacted, archived and restored, oldest "
        "first: time (UTC), session, who, how many, ids, and by which kind of criteria. Never "
        "content. Archived and deleted sessions are among them.",
    .options = kAuditOptions,
    .examples = kAuditExamples,
    .run = run_audit,
};

}  // namespace bmad_mem::cli
