// agent_rows.cpp - what an agent waits for: its context and its hooks, as whole processes over
// 100,000 entries.
#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "machine.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {

std::string hook_event(const std::string& session, std::string_view name,
                       std::string_view members) {
  return fmt::format(R"({{"session_id":"{}","transcript_path":"/dev/null","cwd":"/",)"
                     R"("permission_mode":"default","hook_event_name":"{}",{}}})",
                     session, name, members);
}

HookAnswer fire_hook(const Arguments& hook, const std::string& folder, const std::string& event) {
  const std::string input = folder + "/event.json";
  std::ofstream file(input, std::ios::trunc);
  file << event << '\n';
  file.close();
  if (!file) {
    throw system_error("write", input);
  }
  const double begin = wall_seconds();
  const std::string said = output_of(hook, input);
  return HookAnswer{.wall_ms = (wall_seconds() - begin) * 1e3,
                    .told = said.contains("additionalContext")};
}

/// Beside a query and above an empty program.
Rows context_rows(const Run& run) {
  const auto task = [&](std::size_t round) {
    return run.call({"context", "--agent", "architect", "--task", joined(run.store.words(round))});
  };
  check_says_something(task(0));
  const std::vector<Values> times = above_empty(
      run,
      {process_step("context", task),
       process_step("context of nothing", [&](std::size_t) { return run.call({"context"}); }),
       process_step(
           "query",
           [&](std::size_t round) { return run.call({"query", joined(run.store.words(round))}); })},
      run.times(100));
  return Rows{Row("cold `bmad-mem context` of a task", "ms", times[0])
                  .beside("cold `bmad-mem query`", times[2])
                  .wants(at_most(20, 10))
                  .noting(fmt::format("{} processes, above an empty C program", times[0].size())),
              Row("cold `bmad-mem context` of nothing", "ms", times[1])};
}

namespace {

struct Hook {
  const char* what;
  std::string (*event)(std::size_t round, const SearchWords& words);
  std::optional<Target> target;
};

constexpr const char* kSession = "bench";

std::string session_start(std::size_t /*round*/, const SearchWords& /*words*/) {
  return hook_event(kSession, "SessionStart", R"("source":"startup")");
}

/// Like a call of a compiler: a screen of output.
std::string tool_use(std::size_t round, const SearchWords& words) {
  std::string lines;
  for (std::size_t i = 0; i < 25; ++i) {
    lines += fmt::format("src/file_{}.cpp:{}: note: {}\\n", i, round + i, joined(words));
  }
  return hook_event(
      kSession, "PostToolUse",
      fmt::format(R"("tool_name":"Bash","tool_input":{{"command":"make -j2 target_{0}",)"
                  R"("description":"Build"}},"tool_response":{{"stdout":"{1}","stderr":"",)"
                  R"("interrupted":false}},"tool_use_id":"toolu_{0}","duration_ms":812)",
                  round, lines));
}

std::string prompt(std::size_t round, const SearchWords& words) {
  return hook_event(
      kSession, "UserPromptSubmit",
      fmt::format(R"("prompt_id":"p{}","prompt":"Please look into {}")", round, joined(words)));
}

constexpr auto kHooks = std::to_array<Hook>({
    {"record: `hook` with PostToolUse", tool_use, at_most(6)},
    {"prompt: `hook` with UserPromptSubmit", prompt, at_most(25)},
    {"`hook` with SessionStart", session_start, {}},
});

/// A hook that tells nothing, or records nothing, would be fast.
void check_work(const Run& run, const Arguments& hook) {
  for (const auto event : {session_start, tool_use, prompt}) {
    const HookAnswer answer = fire_hook(hook, run.folder, event(1'000'000, run.store.words(0)));
    if (event != tool_use && !answer.told) {
      throw Error{.message = "the hook told nothing"};
    }
  }
  const MemoryManager memory = run.store.open();
  const SessionStatistics statistics = must(memory.statistics("cc-bench"));
  ensure(statistics.entries() == kHooks.size(), "the hooks recorded something else");
}

}  // namespace

/// Beside a process of the same program that does nothing.
Rows hook_rows(const Run& run) {
  // What comes late would be left out, and that would be fast.
  const Arguments hook =
      run.call({"hook", "claude-code", "--budget-ms", "10000", "--limit-ms", "60000"});
  check_work(run, hook);
  constexpr const char* kNothing = "`bmad-mem version`";
  std::vector<Step> steps = {
      process_step(kNothing, [&](std::size_t) { return Arguments{run.tool, "version"}; })};
  for (const Hook& each : kHooks) {
    steps.push_back({each.what, [&](std::size_t round) -> double {
                       const HookAnswer answer =
                           fire_hook(hook, run.folder, each.event(round, run.store.words(round)));
                       return answer.wall_ms;
                     }});
  }
  const std::vector<Values> times = in_turn(steps, run.times(200));
  Rows rows;
  for (std::size_t i = 0; i < kHooks.size(); ++i) {
    rows.push_back(
        Row(kHooks[i].what, "ms", times[i + 1]).beside(kNothing, times[0]).wants(kHooks[i].target));
  }
  rows.front().noting(
      fmt::format("{} whole processes each; what is recorded is durable", times[0].size()));
  return rows;
}

}  // namespace bmad_mem::bench
