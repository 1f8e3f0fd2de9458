// timeline - how many entries there are in each hour, day, week or month.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

/// A unit of time: how it is asked for, and how much of "2026-01-11 10:05" names one.
struct Unit {
  std::string_view name;
  TimelineUnit unit;
  std::size_t label_size;
};

constexpr std::array<Unit, 4> kUnits = {{{"hour", TimelineUnit::kHour, 16},
                                         {"day", TimelineUnit::kDay, 10},
                                         {"week", TimelineUnit::kWeek, 10},
                                         {"month", TimelineUnit::kMonth, 7}}};
constexpr std::array<std::string_view, 4> kUnitNames = {"hour", "day", "week", "month"};

std::string bucket_as_json(const TimelineBucket& bucket) {
  JsonWriter json;
  json.begin_object().member("begin", format_rfc3339(bucket.begin));
  json.member("entries", bucket.total()).member("sessions", bucket.sessions);
  json.key("types").begin_object();
  for (const EntryType type : kEntryTypes) {
    if (const std::uint64_t count = bucket.entries[static_cast<std::size_t>(type)]; count != 0) {
      json.member(entry_type_name(type), count);
    }
  }
  json.end_object().end_object();
  return json.take();
}

/// A line for each bucket: when, how many, and a bar. The longest bar fills the terminal.
void print_bars(Tool& tool, const Unit& unit, const std::vector<TimelineBucket>& buckets) {
  static constexpr std::size_t kUsualWidth = 80;
  static constexpr std::size_t kBarWidthMin = 10;
  std::uint64_t most = 1;
  for (const TimelineBucket& bucket : buckets) {
    most = std::max(most, bucket.total());
  }
  const std::size_t count_width = format_count(most).size();
  const std::size_t before = unit.label_size + count_width + 4;
  const std::size_t terminal = tool.columns() == 0 ? kUsualWidth : tool.columns();
  const std::size_t bar_width = std::max(terminal, before + kBarWidthMin) - before;
  for (const TimelineBucket& bucket : buckets) {
    const std::uint64_t count = bucket.total();
    const double share = static_cast<double>(count) / static_cast<double>(most);
    tool.out().print("{}  {}  {}\n", format_minute(bucket.begin).substr(0, unit.label_size),
                     padded_left(format_count(count), count_width),
                     tool.style().green(block_bar(share, bar_width)));
  }
}

Result<ExitStatus> run_timeline(Tool& tool) {
  const std::string_view name = tool.args().maybe("by").value_or("day");
  const auto* const unit =
      std::ranges::find_if(kUnits, [&](const Unit& each) { return each.name == name; });
  if (unit == kUnits.end()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("'{}' is no unit; write hour, day, week or month", name),
                 .field = "by"};
  }
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<TimelineBucket> buckets, memory.timeline(filter, unit->unit));
  if (tool.json()) {
    for (const TimelineBucket& bucket : buckets) {
      tool.out().print("{}\n", bucket_as_json(bucket));
    }
    return ExitStatus::kDone;
  }
  print_bars(tool, *unit, buckets);
  if (buckets.empty()) {
    tool.note("there is no such entry");
  }
  return ExitStatus::kDone;
}

constexpr Option kTimelineOptions[] = {
    {.name = "by",
     .value = "UNIT",
     .help = "how long each line is",
     .fallback = "day",
     .completion = Completion::kChoice,
     .choices = kUnitNames},
    kTypeFilter,
    kTagFilter,
    kWhereFilter,
    kAgentFilter,
    kSessionFilter,
    kSinceFilter,
    kUntilFilter,
    kPinnedFilter,
    kArchivedFilter,
    limit_option("only the newest N lines; 0: all"),
};

constexpr Example kTimelineExamples[] = {
    {.command = "bmad-mem timeline", .says = "the newest 20 days on which something was written"},
    {.command = "bmad-mem timeline --by month --type decision --limit 0",
     .says = "when the decisions were made"},
};

}  // namespace

const Command kTimeline = {
    .name = "timeline",
    .group = Group::kRead,
    .summary = "count entries by hour, day, week or month",
    .description =
        "Counts the entries in each hour, day, week or month that has any, oldest first, in UTC. "
        "A week begins on Monday and is named by that day. Filters choose which entries count.",
    .options = kTimelineOptions,
    .examples = kTimelineExamples,
    .run = run_timeline,
};

}  // namespace bmad_mem::cli
