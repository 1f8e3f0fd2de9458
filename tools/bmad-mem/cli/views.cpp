// views.cpp - knowledge, what was removed, and statistics, as text and as JSON.
#include "cli/views.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <ranges>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/text.hpp"
#include "cli/tool.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {

Result<std::optional<Category>> read_category(const Arguments& args) {
  const std::optional<std::string_view> name = args.maybe("category");
  if (!name) {
    return std::optional<Category>();
  }
  if (const std::optional<Category> category = try_parse_category(*name)) {
    return category;
  }
  const std::string_view meant = nearest_word(*name, kCategoryNames);
  return bad_value("category", "\"{}\" is no category{}; there are {}", printable(*name),
                   meant.empty() ? std::string() : fmt::format(", did you mean {}?", meant),
                   fmt::join(kCategoryNames, ", "));
}

Result<double> read_share(const Arguments& args, std::string_view name, double fallback) {
  return read_number(args, name, fallback, "a number from 0 to 1, such as 0.8", 0.0, 1.0);
}

ExitStatus print_items(Tool& tool, std::span<const KnowledgeItem> items) {
  return show_all(tool, "items", shape::item, items, shaped(shape::shown_item, items));
}

ExitStatus print_remembered(Tool& tool, std::span<const Remembered> all) {
  return show_all(tool, "remembered", shape::remembered_line, all);
}

namespace {

/// The ids, or the sessions, of what was removed, each once.
std::set<std::string_view> names_of(std::span<const RemovedEntry> removed,
                                    std::string RemovedEntry::* name) {
  const auto names = removed | std::views::transform(name);
  return {names.begin(), names.end()};
}

/// The bytes of all these lines together.
std::uint64_t removed_bytes(std::span<const RemovedEntry> removed) {
  return std::accumulate(
      removed.begin(), removed.end(), std::uint64_t{0},
      [](std::uint64_t sum, const RemovedEntry& entry) { return sum + entry.bytes; });
}

}  // namespace

void print_deletion(Tool& tool, const DeletionReport& report, const DeleteOptions& options) {
  if (options.dry_run) {
    show_all(tool, "removed", shape::removed_entry, report.removed);
  }
  const auto ids = names_of(report.removed, &RemovedEntry::id);
  show(tool, "deletion",
       object_of("summary",
                 shaped(shape::deletion_summary, report, options, removed_bytes(report.removed))),
       "ids", ids, "id_words", joined(ids, " "), "sessions",
       names_of(report.removed, &RemovedEntry::session_id));
}

Result<ExitStatus> undelete_and_tell(Tool& tool, MemoryManager& memory,
                                     const UndeleteCriteria& criteria) {
  BMAD_TRY_ASSIGN(const UndeleteReport report, memory.undelete(criteria));
  const bool nothing = report.lines == 0 && report.sessions.empty();
  show(tool, "undelete", shaped(shape::undelete, report));
  tool.report_all(report.damaged);
  if (nothing && report.left_behind.empty() && report.damaged.empty()) {
    return Error{
        .code =
            criteria.ids.empty() ? ErrorCode::E_SESSION_NOT_FOUND : ErrorCode::E_ENTRY_NOT_FOUND,
        .message = "not among the deleted entries; `bmad-mem session list --deleted` lists them"};
  }
  return nothing || !report.left_behind.empty() || !report.damaged.empty() ? ExitStatus::kFailed
                                                                           : ExitStatus::kDone;
}

void print_closed_as_json(Tool& tool, const Result<std::uint64_t>& closed) {
  if (tool.json() && closed && *closed != 0) {
    print_object(tool, "closed_lines", *closed);
  }
}

void note_nothing_found(Tool& tool, const MemoryManager& memory, const EntryFilter& filter,
                        std::string_view said) {
  tool.note(said);
  const auto has_none = [&](const Session& session) {
    std::error_code failed;
    return std::ranges::find(session.tags, "hook") != session.tags.end() &&
           !std::filesystem::exists(
               fmt::format("{}/sessions/{}/events.jsonl", memory.root(), session.session_id),
               failed);
  };
  if (filter.types == std::vector{EntryType::kEvent} &&
      std::ranges::any_of(memory.list_sessions().value_or(std::vector<Session>()), has_none)) {
    tool.note(
        "sessions of hooks have no events here; tool output stays on the machine that recorded it");
  }
}

bool note_closed(Tool& tool, const MemoryManager& memory, const EntryFilter& filter) {
  const Result<std::uint64_t> closed = memory.closed_entries(filter);
  print_closed_as_json(tool, closed);
  if (!closed && tool.json()) {
    tool.leave_out(closed.error());
  }
  describe(tool, "closed", "problem", closed ? "" : closed.error().to_string(), "lines",
           closed.value_or(0));
  return !closed || *closed > 0;
}

void note_encrypted(Tool& tool, const MemoryManager& memory,
                    const std::vector<std::string>& sessions) {
  const Result<std::uint64_t> lines = memory.encrypted_lines(sessions);
  describe(tool, "encrypted", "lines", lines.value_or(0));
}

namespace {

constexpr std::size_t kTenthsWidth = 30;

/// A line for each tenth of [0,1], the highest first: how many entries have a factor in it.
std::vector<RawJson> tenths_of(const DecayReport& report) {
  const auto most =
      static_cast<double>(std::max<std::uint64_t>(1, std::ranges::max(report.histogram)));
  std::vector<RawJson> lines;
  for (std::size_t i = report.histogram.size(); i-- > 0;) {
    const std::uint64_t count = report.histogram[i];
    lines.push_back(raw_object("from", fmt::format("{:.1f}", static_cast<double>(i) / 10), "to",
                               fmt::format("{:.1f}", static_cast<double>(i + 1) / 10), "entries",
                               count, "bar",
                               block_bar(static_cast<double>(count) / most, kTenthsWidth)));
  }
  return lines;
}

}  // namespace

void print_statistics(Tool& tool, const SessionStatistics& statistics, const SessionLife& life) {
  std::uint64_t bytes = 0;
  std::uint64_t torn_bytes = 0;
  for (const TypeStatistics& type : statistics.types) {
    bytes += type.bytes;
    torn_bytes += type.torn_bytes;
  }
  const double share =
      static_cast<double>(statistics.size_bytes) / static_cast<double>(statistics.size_max_bytes);
  show(tool, "statistics", shaped(shape::session_statistics, statistics, life), "bytes", bytes,
       "torn_bytes", torn_bytes, "share", only_if(statistics.size_max_bytes != 0, share), "tenths",
       tenths_of(life.decay.value_or(DecayReport())));
}

void print_statistics(Tool& tool, const GlobalStatistics& statistics,
                      std::span<const std::string> states, const MaintenanceReport& maintenance) {
  std::vector<RawJson> lines;
  for (std::size_t i = 0; i < states.size(); ++i) {
    lines.push_back(raw_object(shaped(shape::session_statistics, statistics.sessions[i],
                                      SessionLife{.state = states[i]})));
  }
  const Totals totals = totals_of(statistics);
  for (const RawJson& line : tool.json() ? lines : std::vector<RawJson>()) {
    tool.out().print("{}\n", line.text);
  }
  show(tool, "all_statistics", object_of("total", shaped(shape::total, totals, maintenance)),
       "sessions", lines);
}

void print_decay(Tool& tool, const DecayReport& report, bool write) {
  show(tool, "decay",
       object_of("session_id", report.session_id, shaped(shape::decay, report), "rewritten",
                 only_if(write, report.rewritten)),
       "tenths", tenths_of(report), "write", write);
}

void note_maintenance(Tool& tool, MemoryManager& memory) {
  describe(tool, "maintained", "done", shaped(shape::action, memory.maintained_by_the_way()));
}

void print_decay_table(Tool& tool, std::span<const DecayTableLine> lines) {
  if (tool.json()) {
    const auto by_age = [](const DecayTableLine& line) {
      std::vector<std::pair<std::string, RawJson>> factors;
      for (std::size_t i = 0; i < line.factors.size(); ++i) {
        factors.emplace_back(fmt::format("{}", kDecayTableAges[i]), rounded(line.factors[i]));
      }
      return factors;
    };
    print_objects(tool, shape::decay_table_line, lines, by_age);
    return;
  }
  while (!lines.empty()) {
    const auto is_other = [&](const DecayTableLine& line) {
      return line.model != lines.front().model;
    };
    const auto end = std::ranges::find_if(lines, is_other) - lines.begin();
    const std::span<const DecayTableLine> table = lines.first(static_cast<std::size_t>(end));
    lines = lines.subspan(table.size());
    describe(tool, "decay_table", "model", table.front().model, "is_used", table.front().is_used,
             "lines", shaped(shape::decay_curve_line, table));
    tool.out().write(lines.empty() ? "" : "\n");
  }
}

void print_findings(Tool& tool, std::span<const Finding> findings, std::string_view name) {
  for (const Finding& finding : findings) {
    if (tool.json() && !name.empty()) {
      print_object(tool, name, shaped(shape::finding, finding));
    } else {
      show(tool, "finding", shaped(shape::finding, finding));
    }
  }
}

namespace {

constexpr std::array<std::pair<FindingKind, std::string_view>, 5> kWords = {
    {{FindingKind::kChangedLine, "changed"},
     {FindingKind::kAddedLine, "added"},
     {FindingKind::kLostLine, "removed"},
     {FindingKind::kMovedLine, "moved"},
     {FindingKind::kDoubledLine, "doubled"}}};

std::string_view word_of(const HandEdit& edit) {
  return std::ranges::find(kWords, edit.place.kind, [](const auto& each) { return each.first; })
      ->second;
}

void print_edit(Tool& tool, const HandEdit& edit) {
  const std::string_view by = edit.by_agent ? "agent" : "person";
  show(tool, "hand_edit", object_of("edit", shaped(shape::hand_edit, edit, word_of(edit), by)),
       "is_unknown", edit.before.empty() && edit.old != 0);
}

Result<ExitStatus> settle(Tool& tool, MemoryManager& memory, std::span<const HandEdit> edits,
                          bool restore) {
  const ActingAs person(Origin::kPerson);
  BMAD_TRY_ASSIGN(const std::vector<HandEdit> left, memory.settle_hand_edits(edits, restore));
  describe(tool, "settled", "restore", restore, "done", edits.size() - left.size(), "left",
           left.size());
  return left.empty() ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace

std::string hand_edits_text(std::span<const HandEdit> edits) {
  std::string kinds;
  for (const auto& [kind, word] : kWords) {
    const auto count =
        std::ranges::count(edits, kind, [](const HandEdit& edit) { return edit.place.kind; });
    if (count > 0) {
      kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, word);
    }
  }
  const auto by_agents = std::ranges::count(edits, true, &HandEdit::by_agent);
  return edits.empty()
             ? std::string()
             : fmt::format("{} by hand ({}{})",
                           format_count(edits.size(), "line was changed", "lines were changed"),
                           kinds,
                           by_agents == 0 ? ""
                                          : fmt::format("; {} while an agent's session "
                                                        "was open",
                                                        by_agents));
}

std::vector<HandEdit> look_for_hand_edits(Tool& tool, MemoryManager& memory) {
  const bool is_agent = tool.writes_as() == Origin::kAgent;
  static_cast<void>(
      memory.look_for_hand_edits(is_agent ? HandLook::kChangedByAgent : HandLook::kAll));
  return memory.hand_edits();
}

Result<ExitStatus> review_hand_edits(Tool& tool, MemoryManager& memory) {
  if (look_for_hand_edits(tool, memory).empty()) {
    return tool.note("no line that was changed by hand waits for your decision");
  }
  const std::vector<HandEdit> edits = memory.hand_edits(/*with_texts=*/true);
  const bool restores = tool.args().has("restore");
  if (tool.args().has("yes") ||
      (restores && is_asked(tool) && is_confirmed(tool, "restore all of them?"))) {
    BMAD_TRY(check_is_person(tool, restores ? "restore all?" : "accept all?"));
    std::ranges::for_each(edits, [&](const HandEdit& edit) { print_edit(tool, edit); });
    return settle(tool, memory, edits, restores);
  }
  const bool asks = !tool.json() && is_asked(tool) && ::isatty(STDOUT_FILENO) == 1;
  for (const HandEdit& edit : edits) {
    print_edit(tool, edit);
    static_cast<void>(tool.out().flush());
    const std::string answer = asks ? asked(tool, "[a]ccept, [r]estore, [s]kip or [q]uit? ") : "s";
    if (answer.starts_with('q') || answer.empty()) {
      return ExitStatus::kDone;
    }
    if (answer.starts_with('a') || answer.starts_with('r')) {
      BMAD_TRY(check_is_person(tool, "decide about this line?"));
      BMAD_TRY(settle(tool, memory, {&edit, 1}, answer.starts_with('r')));
    }
  }
  if (!asks) {
    tool.note(
        "`bmad-mem review --hand --yes` accepts all, with --restore it restores the lines of "
        "before");
  }
  return ExitStatus::kDone;
}

}  // namespace bmad_mem::cli
