// stale.cpp - statements that may not be true any more: what they name has gone, or nobody has
// asked for them in months.
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/text.hpp"
#include "cli/filters.hpp"
#include "cli/tool.hpp"
#include "exchange/workspace_tree.hpp"
#include "result_shapes.hpp"

namespace bmad_mem::cli {
namespace {

using std::chrono::days;

/// In an entry: when somebody found it still true.
constexpr std::string_view kCheckedField = "checked_at";
constexpr const char* kOldestDays = "a number of days from 0 to 36500";

/// A statement that is looked at.
struct Statement {
  std::string session_id;
  EntryType type = EntryType::kFact;
  std::string id;
  std::vector<std::string> all_ids = {};       ///< With those of the values that it replaced.
  std::vector<std::string> all_sessions = {};  ///< Where these are.
  std::string text;
  Timestamp at{};
  std::optional<Timestamp> last_used;  ///< Only of facts and preferences.
  std::optional<Timestamp> checked;
  Mentions mentions;

  std::vector<std::string> missing_files = {};
  std::vector<std::string> missing_symbols = {};
  std::int64_t unused_days = 0;  ///< 0: not too long.

  [[nodiscard]] bool is_stale() const {
    return !missing_files.empty() || !missing_symbols.empty() || unused_days > 0;
  }
};

std::optional<Timestamp> checked_at(std::string_view json) {
  const ParsedJson entry(json);
  return entry ? try_parse_rfc3339((*entry)[kCheckedField].string()) : std::nullopt;
}

Statement of_item(const KnowledgeItem& item) {
  Statement statement{
      .session_id = item.session_id,
      .type = item.type,
      .id = item.id,
      .text = item.key.empty() ? item.value : item.key + ": " + item.value,
      .at = item.updated_at,
      .last_used = std::max(item.last_accessed.value_or(item.updated_at), item.updated_at),
      .checked = checked_at(item.json),
      .mentions = mentions_in(item.value)};
  for (const KnowledgeVersion& version : item.chain) {
    add_once(statement.all_ids, version.id);
    add_once(statement.all_sessions, version.session_id);
  }
  return statement;
}

Statement of_entry(const Entry& entry) {
  const ParsedJson value(entry.json);
  std::string text;
  for (const std::string_view field : {"decision", "rationale", "description"}) {
    text += std::string(value[field].string()) + '\n';
  }
  return {.session_id = entry.session_id,
          .type = entry.type,
          .id = entry.id,
          .all_ids = {entry.id},
          .all_sessions = {entry.session_id},
          .text = entry.headline,
          .at = entry.timestamp,
          .last_used = std::nullopt,
          .checked = checked_at(entry.json),
          .mentions = mentions_in(text)};
}

Result<std::vector<Statement>> all_statements(MemoryManager& memory) {
  BMAD_TRY_ASSIGN(const std::vector<KnowledgeItem> items,
                  Knowledge(memory).recall({.note_accesses = false, .limit = 0}));
  // What holds in all projects names no files of this one.
  const auto is_of_project = [](const KnowledgeItem& item) { return !item.of_user; };
  std::vector<Statement> statements = mapped_if(items, is_of_project, of_item);
  BMAD_TRY_ASSIGN(const std::vector<Entry> entries,
                  memory.list({.types = {EntryType::kDecision, EntryType::kFinding}, .limit = 0}));
  for (const Entry& entry : entries) {
    if (!entry.evicted) {
      statements.push_back(of_entry(entry));
    }
  }
  return statements;
}

/// What of the project was looked at.
struct ProjectLook {
  std::size_t files_seen = 0;
  bool has_files = false;    ///< All were listed, so it is known which are missing.
  bool has_symbols = false;  ///< All sources were read.
};

/// Fills in which names are missing, as far as the limits let it tell.
ProjectLook look_for_names(const WorkspaceTree& tree, std::vector<Statement>& statements) {
  ProjectLook look{.files_seen = tree.file_count(), .has_files = tree.is_complete()};
  if (!look.has_files) {
    return look;
  }
  std::set<std::string, std::less<>> names;
  for (const Statement& statement : statements) {
    names.insert(statement.mentions.symbols.begin(), statement.mentions.symbols.end());
  }
  const std::optional<std::set<std::string, std::less<>>> missing = tree.missing_names(names);
  look.has_symbols = missing.has_value();
  for (Statement& statement : statements) {
    std::ranges::copy_if(statement.mentions.files, std::back_inserter(statement.missing_files),
                         [&](const std::string& file) { return !tree.has(file); });
    std::ranges::copy_if(
        statement.mentions.symbols, std::back_inserter(statement.missing_symbols),
        [&](const std::string& name) { return missing && missing->contains(name); });
  }
  return look;
}

void note_unused(std::vector<Statement>& statements, days limit, Timestamp now) {
  for (Statement& statement : statements) {
    if (limit.count() > 0 && statement.last_used && *statement.last_used + limit < now) {
      statement.unused_days = std::chrono::floor<days>(now - *statement.last_used).count();
    }
  }
}

/// Does what --keep or --drop says with each of its ids. Whether all were known.
template <typename Use>
Result<bool> for_each_named(Tool& tool, const std::vector<Statement>& statements,
                            std::string_view option, const Use& use) {
  bool are_known = true;
  const std::vector<std::string> ids = mapped(statements, &Statement::id);
  for (const std::string& given : tool.args().all(option)) {
    BMAD_TRY_ASSIGN(const std::string id, whole_name(given, ids, "statements", option));
    const auto found = std::ranges::find(statements, id, &Statement::id);
    if (found == statements.end()) {
      are_known = false;
      tool.report(bad_value(
          option,
          "there is no current statement {}; `bmad-mem stale` and `bmad-mem recall` list them",
          printable(id)));
      continue;
    }
    BMAD_TRY(use(*found));
  }
  return are_known;
}

Result<ExitStatus> keep_and_drop(Tool& tool, MemoryManager& memory,
                                 const std::vector<Statement>& statements) {
  const std::string changes =
      fmt::format(R"({{"{}":"{}"}})", kCheckedField, format_rfc3339(system_clock().now()));
  const auto keep = [&](const Statement& statement) -> Status {
    BMAD_TRY(memory.update_entry(statement.id, changes, {&statement.session_id, 1}));
    tool.note(fmt::format("{} is still true; it is not listed for a while", statement.id));
    return {};
  };
  const auto drop = [&](const Statement& statement) -> Status {
    BMAD_TRY_ASSIGN(
        const DeletionReport report,  // Of all, else an older value would be current.
        memory.delete_entries({.ids = statement.all_ids, .sessions = statement.all_sessions}));
    if (report.entries == 0) {
      return bad_value("drop", "{} is gone already", statement.id);
    }
    tool.note(fmt::format("deleted {}; `bmad-mem undelete {}` restores it", statement.id,
                          fmt::join(statement.all_ids, " ")));
    return {};
  };
  BMAD_TRY_ASSIGN(const bool kept, for_each_named(tool, statements, "keep", keep));
  BMAD_TRY_ASSIGN(const bool dropped, for_each_named(tool, statements, "drop", drop));
  return kept && dropped ? ExitStatus::kDone : ExitStatus::kFailed;
}

}  // namespace

Result<ExitStatus> run_stale(Tool& tool, MemoryManager& memory) {
  const Arguments& args = tool.args();
  BMAD_TRY_ASSIGN(const std::int64_t limit_days,
                  read_number<std::int64_t>(args, "days", 180, kOldestDays, 0, 36'500));
  BMAD_TRY_ASSIGN(const Page page, read_page(args));
  BMAD_TRY_ASSIGN(std::vector<Statement> statements, all_statements(memory));
  if (args.has("keep") || args.has("drop")) {
    return keep_and_drop(tool, memory, statements);
  }
  const Timestamp now = system_clock().now();
  const days hidden(limit_days == 0 ? 180 : limit_days);
  std::erase_if(statements, [&](const Statement& statement) {
    return statement.checked && *statement.checked + hidden > now;
  });
  note_unused(statements, days(limit_days), now);
  std::optional<ProjectLook> look;
  if (const std::string folder = project_folder(memory.root()); !folder.empty()) {
    look = look_for_names(WorkspaceTree(folder), statements);
  }
  std::erase_if(statements, [](const Statement& statement) { return !statement.is_stale(); });
  std::ranges::stable_sort(statements, [](const Statement& a, const Statement& b) {
    return std::pair(a.missing_files.empty() && a.missing_symbols.empty(), a.at) <
           std::pair(b.missing_files.empty() && b.missing_symbols.empty(), b.at);
  });
  const std::span<const Statement> shown = page.of(statements);
  for (const Statement& statement : shown) {
    show(tool, "stale_statement", shaped(shape::stale_statement, statement));
  }
  const ProjectLook seen = look.value_or(ProjectLook());
  return describe(tool, "stale_limits", "no_project", !look, "has_files", seen.has_files,
                  "has_symbols", seen.has_symbols, "files_seen", seen.files_seen, "found",
                  statements.size());
}

}  // namespace bmad_mem::cli
