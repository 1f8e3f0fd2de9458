// summary stats - how often summaries were written, and how often compaction was free.
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/summary.hpp"
#include "commands/commands.hpp"
#include "session_choice.hpp"
#include "tool.hpp"

namespace bmad_mem::cli {
namespace {

std::string stats_as_json(const std::string& session, const SummaryStats& stats) {
  JsonWriter json;
  json.begin_object().member("session_id", session);
  json.member("updates", stats.updates).member("failures", stats.failures);
  json.member("compactions", stats.compactions).member("resumed", stats.resumed);
  json.key("declined").begin_object();
  for (const auto& [reason, count] : stats.declined) {
    json.member(reason, count);
  }
  json.end_object();
  json.member("tokens_in", stats.tokens_in).member("tokens_out", stats.tokens_out);
  json.member("cache_read_tokens", stats.cache_read_tokens);
  json.member("cache_written_tokens", stats.cache_written_tokens).end_object();
  return json.take();
}

void print_stats(Tool& tool, const SummaryStats& stats) {
  tool.out().print("updates      {}, failed {}\n", format_count(stats.updates),
                   format_count(stats.failures));
  tool.out().print("tokens       {} in, {} out; cache: {} read, {} written\n",
                   format_count(stats.tokens_in), format_count(stats.tokens_out),
                   format_count(stats.cache_read_tokens), format_count(stats.cache_written_tokens));
  tool.out().print("compactions  {} free, {} of them resumed\n", format_count(stats.compactions),
                   format_count(stats.resumed));
  for (const auto& [reason, count] : stats.declined) {
    tool.out().print("declined     {}  {}\n", format_count(count), printable(reason));
  }
}

Result<ExitStatus> run_summary_stats(Tool& tool) {
  BMAD_TRY_ASSIGN(MemoryManager memory, tool.open());
  BMAD_TRY_ASSIGN(const std::string session, choose_session(tool, memory));
  BMAD_TRY_ASSIGN(const SummaryStats stats, Summaries(memory).stats(session));
  if (tool.args().has("records")) {
    for (const std::string& record : stats.records) {
      tool.out().print("{}\n", record);
    }
  } else if (tool.json()) {
    tool.out().print("{}\n", stats_as_json(session, stats));
  } else {
    print_stats(tool, stats);
  }
  return ExitStatus::kDone;
}

constexpr Option kSummaryStatsOptions[] = {
    kSessionOption,
    {.name = "records", .help = "print the records themselves, one JSON object a line"},
};
constexpr Example kSummaryStatsExamples[] = {
    {.command = "bmad-mem summary stats", .says = "was it worth its tokens?"},
    {.command = "bmad-mem summary stats --records", .says = "each update, failure and compaction"},
};

}  // namespace

const Command kSummaryStats = {
    .name = "summary stats",
    .group = Group::kKnow,
    .summary = "show how often summaries were written and compaction was free",
    .description =
        "Counts what happened on this machine: updates and the tokens they took, failures, and "
        "what became of each compaction. The counts are local; git does not see them.",
    .options = kSummaryStatsOptions,
    .examples = kSummaryStatsExamples,
    .run = run_summary_stats,
};

}  // namespace bmad_mem::cli
