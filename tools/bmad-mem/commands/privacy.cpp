// privacy - what is kept, for how long, and what was taken out.
#include "bmad_mem/privacy.hpp"

#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "redaction_view.hpp"
#include "table.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

std::string kept_for(std::int64_t days) {
  return days == 0 ? std::string("for ever")
                   : format_count(static_cast<std::uint64_t>(days), "day", "days");
}

std::uint64_t sum_of(const RedactionCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [rule, count] : counts) {
    sum += count;
  }
  return sum;
}

void print_json(Tool& tool, const PrivacyReport& report) {
  JsonWriter json;
  json.begin_object().member("redacts", report.redacts).member("sessions", report.sessions);
  json.key("kept").begin_array();
  for (const KeptEntries& kept : report.kept) {
    json.begin_object().member("type", entry_type_name(kept.type));
    json.member("entries", kept.entries).member("bytes", kept.bytes);
    json.member("sensitive", kept.sensitive).member("retention_days", kept.retention_days);
    json.member("expired", kept.expired);
    if (kept.oldest) {
      json.member("oldest", format_rfc3339(*kept.oldest));
    }
    json.end_object();
  }
  json.end_array();
  add_counts(json, "redacted", report.redacted);
  json.key("sensitive").begin_array();
  for (const SensitiveEntry& entry : report.sensitive) {
    json.begin_object().member("session_id", entry.session_id);
    json.member("type", entry_type_name(entry.type)).member("id", entry.id).end_object();
  }
  json.end_array().key("deleted").begin_array();
  for (const Deletion& deletion : report.deleted) {
    json.begin_object().member("session_id", deletion.session_id);
    json.member("entries", deletion.entries).member("whole_session", deletion.whole_session);
    json.member("purged_after", format_rfc3339(deletion.expires_at)).end_object();
  }
  json.end_array().member("archived_sessions", report.archived_sessions);
  json.member("evicted_entries", report.evicted_entries).end_object();
  tool.out().print("{}\n", json.text());
}

void print_kept(Tool& tool, const PrivacyReport& report, Timestamp now) {
  std::vector<TableRow> rows = {
      {"TYPE", "ENTRIES", "SIZE", "OLDEST", "KEPT", "EXPIRED", "SENSITIVE"}};
  for (const KeptEntries& kept : report.kept) {
    if (kept.entries > 0) {
      rows.push_back({std::string(entry_type_name(kept.type)), format_count(kept.entries),
                      format_size(kept.bytes), kept.oldest ? format_age(*kept.oldest, now) : "",
                      kept_for(kept.retention_days), format_count(kept.expired),
                      format_count(kept.sensitive)});
    }
  }
  if (rows.size() == 1) {
    tool.out().print("nothing is kept\n");
    return;
  }
  print_table(tool, rows);
}

void print_redacted(Tool& tool, const PrivacyReport& report) {
  tool.out().print(
      "\n{}{}\n", format_count(sum_of(report.redacted), "secret", "secrets"),
      report.redacts ? " taken out before writing" : " taken out; redaction is off in config.json");
  print_counts(tool, report.redacted);
}

void print_sensitive(Tool& tool, const PrivacyReport& report) {
  if (report.sensitive.empty()) {
    return;
  }
  constexpr std::size_t kShownMax = 20;
  tool.out().print(
      "\n{} kept from models\n",
      format_count(report.sensitive.size(), "sensitive entry is", "sensitive entries are"));
  for (std::size_t i = 0; i < std::min(report.sensitive.size(), kShownMax); ++i) {
    const SensitiveEntry& entry = report.sensitive[i];
    tool.out().print("  {}  {}  {}\n", tool.style().id(entry.id), entry_type_name(entry.type),
                     entry.session_id);
  }
  if (report.sensitive.size() > kShownMax) {
    tool.out().print("  and {} more; --json lists all\n",
                     format_count(report.sensitive.size() - kShownMax));
  }
}

void print_elsewhere(Tool& tool, const PrivacyReport& report, Timestamp now) {
  if (report.archived_sessions > 0 || report.evicted_entries > 0) {
    tool.out().print("\n{} and {} in archive/\n",
                     format_count(report.archived_sessions, "session", "sessions"),
                     format_count(report.evicted_entries, "evicted entry", "evicted entries"));
  }
  if (report.deleted.empty()) {
    return;
  }
  tool.out().print("\ndeleted, and still to be brought back:\n");
  for (const Deletion& deletion : report.deleted) {
    tool.out().print("  {}  {}, purged {}\n", tool.style().id(deletion.session_id),
                     deletion.whole_session ? std::string("the whole session")
                                            : format_count(deletion.entries, "entry", "entries"),
                     format_age(deletion.expires_at, now));
  }
}

Result<ExitStatus> run_privacy(Tool& tool) {
  BMAD_TRY_ASSIGN(const MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const PrivacyReport report, memory.privacy_report(tool.args().all("session")));
  if (tool.json()) {
    print_json(tool, report);
  } else {
    const Timestamp now = system_clock().now();
    print_kept(tool, report, now);
    print_redacted(tool, report);
    print_sensitive(tool, report);
    print_elsewhere(tool, report, now);
  }
  for (const Error& problem : report.problems) {
    tool.report(problem);
  }
  return report.problems.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

constexpr Option kPrivacyOptions[] = {kSessionFilter};

constexpr Example kPrivacyExamples[] = {
    {.command = "bmad-mem privacy", .says = "what this memory keeps"},
    {.command = "bmad-mem privacy --session $S --json", .says = "one session, for a program"},
};

}  // namespace

const Command kPrivacy = {
    .name = "privacy",
    .group = Group::kCare,
    .summary = "show what is kept, for how long, and what was taken out",
    .description =
        "Shows for each type of entry how much is kept, since when, for how long, and how much "
        "is past that; how many secrets were taken out before anything was written, by rule; "
        "which entries are sensitive and thus kept from models; what was moved to archive/; and "
        "what was deleted and when it goes for good.",
    .options = kPrivacyOptions,
    .examples = kPrivacyExamples,
    .exit_status = "0 done, 1 failed, or something could not be read, 2 wrong usage.",
    .run = run_privacy,
};

}  // namespace bmad_mem::cli
