// hooks_command.cpp - `bmad-bench hooks`: what an agent waits for its hooks, as whole processes
// over 100,000 entries, beside a process of the same program that does nothing.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "commands.hpp"
#include "environment.hpp"
#include "report.hpp"
#include "scratch_folder.hpp"
#include "search_store.hpp"
#include "spawn.hpp"

namespace bmad_mem::bench {
namespace {

/// Of 100,000 entries.
constexpr double kBytesFull = 59e6;
constexpr std::size_t kRoundsFull = 200;

/// An event as Claude Code hands it over, without what we don't read.
std::string event_text(std::string_view name, std::string_view members) {
  return fmt::format(
      "{{\"session_id\":\"bench\",\"transcript_path\":\"/tmp/t.jsonl\",\"cwd\":\"/\","
      "\"permission_mode\":\"default\",\"hook_event_name\":\"{}\",{}}}\n",
      name, members);
}

std::string session_start(std::size_t /*round*/, const SearchWords& /*words*/) {
  return event_text("SessionStart", R"("source":"startup")");
}

/// Like a call of a compiler: a screen of output.
std::string tool_use(std::size_t round, const SearchWords& words) {
  std::string lines;
  for (std::size_t i = 0; i < 25; ++i) {
    lines += fmt::format("src/file_{}.cpp:{}: note: {}\\n", i, round + i, joined(words));
  }
  return event_text(
      "PostToolUse",
      fmt::format(R"("tool_name":"Bash","tool_input":{{"command":"make -j2 target_{0}",)"
                  R"("description":"Build"}},"tool_response":{{"stdout":"{1}","stderr":"",)"
                  R"("interrupted":false}},"tool_use_id":"toolu_{0}","duration_ms":812)",
                  round, lines));
}

std::string prompt(std::size_t round, const SearchWords& words) {
  return event_text(
      "UserPromptSubmit",
      fmt::format(R"("prompt_id":"p{}","prompt":"Please look into {}")", round, joined(words)));
}

struct Hook {
  const char* what;
  std::string (*event)(std::size_t round, const SearchWords& words);
  double required_ms;  ///< 0: none.
  std::vector<double> milliseconds;
};

struct Bench {
  std::vector<std::string> nothing;  ///< `bmad-mem version`.
  std::vector<std::string> hook;
  std::string event_file;
  std::vector<double> nothing_ms;
  std::array<Hook, 3> hooks = {{
      {"record: `hook` with PostToolUse", tool_use, 6, {}},
      {"prompt: `hook` with UserPromptSubmit", prompt, 25, {}},
      {"`hook` with SessionStart", session_start, 0, {}},
  }};
};

Status write_event(const Bench& bench, const std::string& text) {
  std::ofstream file(bench.event_file, std::ios::trunc);
  file << text;
  file.close();
  return file ? Status() : Status(system_error("write", bench.event_file));
}

/// A hook that tells nothing, or records nothing, would be fast.
Status check_work(const Bench& bench, const SearchStore& store) {
  for (const auto event : {session_start, tool_use, prompt}) {
    BMAD_TRY(write_event(bench, event(1'000'000, store.queries.front())));
    BMAD_TRY_ASSIGN(const std::string told, output_of(bench.hook, bench.event_file));
    if (event != tool_use && !told.contains("additionalContext")) {
      return Error{.message = "the hook told nothing: " + told};
    }
  }
  BMAD_TRY_ASSIGN(const MemoryManager memory, store.open());
  BMAD_TRY_ASSIGN(const SessionStatistics statistics, memory.statistics("cc-bench"));
  return statistics.entries() == 3 ? Status()
                                   : Status(Error{.message = "the hooks recorded something else"});
}

Status run_in_turn(Bench& bench, const SearchStore& store, std::size_t rounds) {
  for (std::size_t round = 0; round < rounds; ++round) {
    const SearchWords& words = store.queries[round % store.queries.size()];
    BMAD_TRY_ASSIGN(const ProcessCost nothing, run_process(bench.nothing));
    bench.nothing_ms.push_back(nothing.wall * 1e3);
    for (std::size_t turn = 0; turn < bench.hooks.size(); ++turn) {
      Hook& hook = bench.hooks[(round + turn) % bench.hooks.size()];
      BMAD_TRY(write_event(bench, hook.event(round, words)));
      BMAD_TRY_ASSIGN(const ProcessCost cost, run_process(bench.hook, bench.event_file));
      hook.milliseconds.push_back(cost.wall * 1e3);
    }
  }
  return {};
}

std::vector<Row> rows_of(const Bench& bench) {
  const Summary nothing = summarize(bench.nothing_ms);
  std::vector<Row> rows;
  for (const Hook& hook : bench.hooks) {
    Row row{.what = hook.what,
            .unit = "ms",
            .ours = summarize(hook.milliseconds),
            .baseline_name = "`bmad-mem version`",
            .baseline = nothing};
    if (hook.required_ms > 0) {
      row.target = Target{
          .of = TargetOf::kOurs, .better = Better::kLower, .required = hook.required_ms, .aim = {}};
    }
    rows.push_back(std::move(row));
  }
  rows.front().note =
      fmt::format("{} whole processes each; what is recorded is durable", bench.nothing_ms.size());
  return rows;
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

void tell(const std::string& what) { std::fputs((what + " ...\n").c_str(), stderr); }

}  // namespace

Result<bool> run_hooks(const HooksBenchOptions& options) {
  ScratchFolder scratch;
  BMAD_TRY(scratch.make_in(options.directory));
  const auto bytes = static_cast<std::uint64_t>(kBytesFull * std::min(1.0, options.effort));
  BMAD_TRY_ASSIGN(const SearchStore store,
                  SearchStore::prepare(scratch.path() + "/store",
                                       {.seed = options.seed,
                                        .bytes = bytes,
                                        .session_bytes = options.session_bytes,
                                        .queries = 50,
                                        .alone = true},
                                       tell));
  const std::string tool =
      options.tool.empty() ? folder_of_this_program() + "/bmad-mem" : options.tool;
  Bench bench{.nothing = {tool, "version"},
              // What comes late would be left out, and that would be fast.
              .hook = {tool, "hook", "claude-code", "--root", store.root, "--budget-ms", "10000",
                       "--limit-ms", "60000"},
              .event_file = scratch.path() + "/event.json",
              .nothing_ms = {}};
  const auto rounds = static_cast<std::size_t>(static_cast<double>(kRoundsFull) * options.effort);
  BMAD_TRY(check_work(bench, store));
  BMAD_TRY(run_in_turn(bench, store, std::max<std::size_t>(rounds, 3)));
  const std::vector<Row> rows = rows_of(bench);
  const Environment environment = environment_of(scratch.path());
  if (options.json) {
    JsonWriter json;
    json.begin_object().key("environment");
    write_environment(json, environment);
    json.member("entries", store.entries).member("sessions", std::uint64_t{store.sessions.size()});
    json.key("rows");
    write_rows(json, rows);
    json.end_object();
    print(json_pretty(json.text()) + '\n');
    return true;
  }
  print(environment_text(environment));
  print(fmt::format("data          {} entries in {} sessions; seed {}\n\n", store.entries,
                    store.sessions.size(), options.seed));
  print(table_text(rows));
  return true;
}

}  // namespace bmad_mem::bench
