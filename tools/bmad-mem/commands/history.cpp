// history - all versions of one entry, and what changed from each to the next.
#include <algorithm>
#include <vector>

#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "entry_view.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// Longer changes have the old and the new value one below the other.
constexpr std::size_t kOneLineMax = 70;

const FieldText* find_field(const std::vector<FieldText>& fields, std::string_view name) {
  const auto found =
      std::ranges::find_if(fields, [&](const FieldText& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

/// When the version was made: an update may keep the entry's time and say its own besides.
std::string version_time(const Entry& entry) {
  const std::vector<FieldText> fields = entry_fields(entry);
  const FieldText* updated = find_field(fields, "updated_at");
  return updated == nullptr ? format_rfc3339(entry.timestamp) : printable(updated->value);
}

/// The fields that are new, other or gone in `now`, as a person reads them.
std::vector<FieldText> changes(const std::vector<FieldText>& before,
                               const std::vector<FieldText>& now) {
  std::vector<FieldText> out;
  for (const FieldText& field : now) {
    const FieldText* old = find_field(before, field.name);
    if (old == nullptr) {
      out.push_back({"+ " + field.name, field.value});
    } else if (old->value != field.value) {
      const bool is_long = old->value.size() + field.value.size() > kOneLineMax;
      out.push_back({"~ " + field.name,
                     fmt::format("{}{}-> {}", old->value, is_long ? '\n' : ' ', field.value)});
    }
  }
  for (const FieldText& field : before) {
    if (find_field(now, field.name) == nullptr) {
      out.push_back({"- " + field.name, field.value});
    }
  }
  return out;
}

/// The first version shows all fields, a later one what is new; the time stands in the heading.
void print_version(Tool& tool, const Entry& entry, const Entry* before, std::size_t number,
                   std::size_t count) {
  tool.out().print("{} of {}, {}{}{}\n", tool.style().bold(fmt::format("version {}", number)),
                   count, version_time(entry), entry.who.empty() ? "" : ", by ",
                   printable(entry.who));
  std::vector<FieldText> fields =
      before == nullptr ? entry_fields(entry) : changes(entry_fields(*before), entry_fields(entry));
  std::erase_if(fields, [](const FieldText& field) {
    return field.name == "id" || field.name == "timestamp" || field.name == "~ timestamp";
  });
  std::size_t width = 0;
  for (const FieldText& field : fields) {
    width = std::max(width, text_width(field.name));
  }
  for (const FieldText& field : fields) {
    print_field(tool, printable(field.name), field.value, width);
  }
  if (fields.empty()) {
    tool.out().write("  nothing changed but the time\n");
  }
}

Result<ExitStatus> run_history(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  const std::string_view id = tool.args().positional(0);
  BMAD_TRY_ASSIGN(const std::vector<Entry> versions,
                  memory.history(id, tool.args().all("session")));
  if (versions.empty()) {
    return Error{
        .code = ErrorCode::E_SESSION_NOT_FOUND,
        .message = fmt::format("there is no entry {}; `bmad-mem list` shows the newest", id)};
  }
  const auto in_session = [&](const Entry& other) {
    return std::ranges::count_if(
        versions, [&](const Entry& entry) { return entry.session_id == other.session_id; });
  };
  std::size_t number = 0;
  const Entry* before = nullptr;
  for (const Entry& entry : versions) {
    if (before != nullptr && before->session_id != entry.session_id) {
      before = nullptr;
    }
    number = before == nullptr ? 1 : number + 1;
    const auto count = static_cast<std::size_t>(in_session(entry));
    if (tool.json()) {
      tool.out().print("{}\n", entry_json_line(entry, fmt::format(R"("version":{},"versions":{})",
                                                                  number, count)));
    } else {
      if (before == nullptr) {
        tool.out().print("{} {} in {}\n", tool.style().bold(entry_type_name(entry.type)),
                         tool.style().id(entry.id), entry.session_id);
      }
      print_version(tool, entry, before, number, count);
    }
    before = &entry;
  }
  return ExitStatus::kDone;
}

constexpr Positional kHistoryPositionals[] = {{.name = "ID", .help = "the id of an entry"}};

constexpr Option kHistoryOptions[] = {kSessionFilter};

constexpr Example kHistoryExamples[] = {
    {.command = "bmad-mem history dec-01kaxx8v04q7m2s", .says = "how a decision came about"},
};

}  // namespace

const Command kHistory = {
    .name = "history",
    .group = Group::kRead,
    .summary = "show all versions of an entry",
    .description =
        "Shows every version of an entry, oldest first: the first with all its fields, each later "
        "one with what changed: + new, ~ other, - gone. To update an entry is to add one with the "
        "same id.",
    .positionals = kHistoryPositionals,
    .options = kHistoryOptions,
    .examples = kHistoryExamples,
    .run = run_history,
};

}  // namespace bmad_mem::cli
