// topics - what there is memory of.
#include <string>
#include <vector>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "commands/commands.hpp"
#include "filters.hpp"
#include "table.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

std::string topic_as_json(const TopicCount& topic) {
  JsonWriter json;
  json.begin_object().member("topic", topic.topic).member("entries", topic.entries);
  json.member("sessions", topic.sessions).member("newest", format_rfc3339(topic.newest));
  json.end_object();
  return json.take();
}

Result<ExitStatus> run_topics(Tool& tool) {
  BMAD_TRY_ASSIGN(const EntryFilter filter, read_filter(tool.args(), system_clock().now()));
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::vector<TopicCount> topics, memory.topics(filter));
  if (tool.json()) {
    for (const TopicCount& topic : topics) {
      tool.out().print("{}\n", topic_as_json(topic));
    }
    return ExitStatus::kDone;
  }
  std::vector<TableRow> rows = {{"topic", "entries", "sessions", "newest"}};
  for (const TopicCount& topic : topics) {
    rows.push_back({printable(topic.topic), format_count(topic.entries),
                    format_count(topic.sessions), format_minute(topic.newest)});
  }
  if (topics.empty()) {
    tool.note("no entry has a topic");
  } else {
    print_table(tool, rows);
  }
  return ExitStatus::kDone;
}

constexpr Option kTopicsOptions[] = {
    kTypeFilter,     kTagFilter,
    kWhereFilter,    kAgentFilter,
    kSessionFilter,  kSinceFilter,
    kUntilFilter,    kPinnedFilter,
    kArchivedFilter, limit_option("at most so many topics; 0: all"),
};

constexpr Example kTopicsExamples[] = {
    {.command = "bmad-mem topics", .says = "the topics with the most entries"},
    {.command = "bmad-mem topics --since 7d --limit 0", .says = "all that came up this week"},
    {.command = "bmad-mem query topic:database_selection", .says = "the entries of one of them"},
};

}  // namespace

const Command kTopics = {
    .name = "topics",
    .group = Group::kRead,
    .summary = "list the topics, those with the most entries first",
    .description =
        "Lists the topics of the entries, those with the most entries first: how many entries in "
        "how many sessions, and the time of the newest (UTC). Filters choose which entries count.",
    .options = kTopicsOptions,
    .examples = kTopicsExamples,
    .run = run_topics,
};

}  // namespace bmad_mem::cli
