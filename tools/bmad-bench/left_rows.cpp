// left_rows.cpp - memories of several shapes as ordinary writes have left them: no
// rebuild-index, no question before the first one here.
//
//   write the entries | the first question | query, get, list ... in turn | hooks | MCP | sizes
//
// What is asked of which shape, and what it may take, is in the tables below. Whole processes are
// measured above an empty one; hooks are not, since an agent waits for all of them.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "machine.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

struct Shape {
  std::string_view name;
  std::string_view text;
  std::uint64_t entries;
  std::uint64_t sessions;
};

constexpr std::string_view kSealed = "10mb-sealed";

constexpr auto kShapes = std::to_array<Shape>({
    {"10mb", "10 MB in one session", 16'835, 1},
    {kSealed, "10 MB of sealed lines in one session", 10'650, 1},
    {"10k", "10,000 entries in 10 sessions", 10'000, 10},
    {"100k-20", "100,000 entries in 20 sessions", 100'000, 20},
    {"100k-200", "100,000 entries in 200 sessions", 100'000, 200},
    {"100k-2000", "100,000 entries in 2,000 sessions", 100'000, 2'000},
    {"100k-10000", "100,000 entries in 10,000 sessions", 100'000, 10'000},
    {"1m", "1,000,000 entries in 200 sessions", 1'000'000, 200},
});

constexpr const char* kQuery = "query";
constexpr const char* kAfterAppend = "query, one append later";
constexpr const char* kNothing = "context of nothing";
constexpr const char* kHook = "prompt hook with context";
constexpr const char* kStart = "`hook` with SessionStart";
constexpr const char* kRecord = "`hook` with PostToolUse";
constexpr const char* kMcpSearch = "MCP memory_search, p95";
constexpr const char* kMcpGet = "MCP memory_get, p95";
constexpr const char* kMcpMemory = "MCP, resident after these calls";
constexpr const char* kIndexSize = "index/ against the logs";

/// What is asked of a shape, and what it may take; 0: nothing is said.
struct Wanted {
  std::string_view shape;
  std::string_view what;
  double required = 0;
  double aim = 0;
  double required_mb = 0;  ///< Of the peak resident memory of the process.
  double aim_mb = 0;
};

constexpr auto kWanted = std::to_array<Wanted>({
    {"10mb", kQuery, 1.2, 0.4},
    {"10mb", kAfterAppend, 1.6, 0.6},
    {"10mb", kMcpSearch, 1.1, 0.4},
    {"10mb", kMcpMemory, 20, 12},
    {"10mb", kIndexSize, 0.40, 0.25},
    {kSealed, kQuery, 60, 30},
    {"10k", kQuery},
    {"10k", "get ID"},
    {"10k", "list"},
    {"10k", "context"},
    {"10k", "recall"},
    {"100k-20", kQuery, 3, 1},
    {"100k-20", "context", 20, 10},
    {"100k-20", kNothing},
    {"100k-20", kHook, 25},
    {"100k-20", kStart},
    {"100k-20", kRecord, 6},
    {"100k-20", kIndexSize, 0.40, 0.25},
    {"100k-200", kHook, 15, 5},
    {"100k-200", "get ID", 2, 0.5, 16},
    {"100k-200", "history ID", 2, 0.5, 16},
    {"100k-200", kMcpSearch, 1.5, 0.6},
    {"100k-200", kIndexSize, 0.40, 0.25},
    {"100k-2000", kQuery, 15, 5},
    {"100k-2000", kHook, 25, 10},
    {"100k-2000", kIndexSize, 0.40, 0.25},
    {"100k-10000", kQuery, 50, 20, 64},
    {"100k-10000", kHook},
    {"100k-10000", kIndexSize, 0.40, 0.25},
    {"1m", kQuery, 8, 2, 48, 16},
    {"1m", "get ID", 2, 0.5, 16},
    {"1m", "history ID", 2, 0.5, 16},
    {"1m", "list", 4, 1, 64},
    {"1m", "context", 12, 4, 64},
    {"1m", "recall", 12, 4, 64},
    {"1m", kHook, 25, 8},
    {"1m", kMcpSearch, 4, 1.5},
    {"1m", kMcpGet, 2, 0.5},
    {"1m", kMcpMemory, 64, 24},
    {"1m", kIndexSize, 0.40, 0.25},
});

/// The shapes between which growth is told, and by how much an answer may take longer.
constexpr std::string_view kSmall = "10k";
constexpr std::string_view kLarge = "1m";
constexpr Target kGrowth = at_most(3, 1.5);

/// A call of the tool, given the words and the id of a round.
struct Call {
  std::string_view name;
  Arguments (*arguments)(const SearchWords& words, const std::string& id);
};

Arguments query_of(const SearchWords& words, const std::string& /*id*/) {
  return {"query", joined(words), "--limit", "20"};
}

constexpr auto kCalls = std::to_array<Call>({
    {kAfterAppend, query_of},
    {"get ID", [](auto& /*words*/, auto& id) { return Arguments{"get", id}; }},
    {"history ID", [](auto& /*words*/, auto& id) { return Arguments{"history", id}; }},
    {"list", [](auto& /*words*/, auto& /*id*/) { return Arguments{"list"}; }},
    {"context",
     [](auto& words, auto& /*id*/) { return Arguments{"context", "--task", joined(words)}; }},
    {kNothing, [](auto& /*words*/, auto& /*id*/) { return Arguments{"context"}; }},
    {"recall", [](auto& /*words*/, auto& /*id*/) { return Arguments{"recall"}; }},
    {kQuery, query_of},  // Last: the others are asked the same, and beside it.
});

std::optional<Target> target_of(double required, double aim) {
  return required > 0
             ? std::optional(at_most(required, aim > 0 ? std::optional(aim) : std::nullopt))
             : std::nullopt;
}

/// An event of a session as Claude Code hands it over, without what we don't read.
std::string hook_event(const std::string& session, std::string_view name,
                       std::string_view members) {
  return fmt::format(R"({{"session_id":"{}","transcript_path":"/dev/null","cwd":"/",)"
                     R"("permission_mode":"default","hook_event_name":"{}",{}}})",
                     session, name, members);
}

/// A call of a compiler with a screen of output.
std::string tool_event(const std::string& session, std::size_t round, const std::string& words) {
  std::string lines;
  for (std::size_t i = 0; i < 25; ++i) {
    lines += fmt::format("src/file_{}.cpp:{}: note: {}\\n", i, round + i, words);
  }
  return hook_event(
      session, "PostToolUse",
      fmt::format(R"("tool_name":"Bash","tool_input":{{"command":"make -j2 target_{0}",)"
                  R"("description":"Build"}},"tool_response":{{"stdout":"{1}","stderr":"",)"
                  R"("interrupted":false}},"tool_use_id":"toolu_{0}","duration_ms":812)",
                  round, lines));
}

/// Milliseconds of what was asked of a shape, for the growth.
using Medians = std::map<std::pair<std::string_view, std::string_view>, double>;

/// Asks one shape.
class Left {
 public:
  Left(const Run& run, const Shape& shape, Medians& medians)
      : run_(run), store_(run.store), shape_(shape), medians_(medians) {}

  Rows rows() {
    tell(fmt::format("asking {}", shape_.text));
    if (shape_.name == kSealed) {
      ::setenv("BMAD_MEM_KEY", std::string(64, 'a').c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
      run_process(run_.call({"seal", "on", "--yes"}));
    }
    add("the first question", "ms", {run_process(call(kCalls.back(), 0))})
        .noting(fmt::format("{}: {} entries in {} bytes of logs{}", shape_.text, store_.ids.size(),
                            store_.log_bytes, shape_.name == kSealed ? " before" : ""));
    ask_processes();
    ask_hooks();
    ask_mcp();
    add_size();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] const Wanted* wanted(std::string_view what) const {
    const auto* found = std::ranges::find_if(kWanted, [&](const Wanted& each) {
      return each.shape == shape_.name && each.what == what;
    });
    return found == kWanted.end() ? nullptr : found;
  }

  [[nodiscard]] Arguments call(const Call& what, std::size_t round) const {
    return run_.call(what.arguments(store_.words(round), store_.id(round)));
  }

  /// With the target of that name.
  Row& add(std::string_view what, std::string unit, Values ours) {
    const Wanted* const bound = wanted(what);
    return rows_
        .emplace_back(fmt::format("{}: {}", shape_.name, what), std::move(unit), std::move(ours))
        .wants(bound != nullptr ? target_of(bound->required, bound->aim) : std::nullopt);
  }

  void add_memory(const Call& what) {
    const Wanted& bound = *wanted(what.name);
    if (bound.required_mb > 0) {
      Values peaks;
      for (std::size_t i = 0; i < 3; ++i) {
        peaks.push_back(peak_mb_of(run_.helpers, call(what, i)));
      }
      add(fmt::format("{}, peak resident memory", what.name), "MB", std::move(peaks))
          .wants(target_of(bound.required_mb, bound.aim_mb));
    }
  }

  void ask_processes() {
    std::vector<const Call*> calls;
    std::vector<Step> steps;
    for (const Call& each : kCalls) {
      if (wanted(each.name) != nullptr) {
        check_says_something(call(each, 0));
        calls.push_back(&each);
        steps.push_back({std::string(each.name), [&](std::size_t round) {
                           if (each.name == kAfterAppend) {
                             append();
                           }
                           return run_process(call(each, round));
                         }});
      }
    }
    if (wanted(kQuery) != nullptr && shape_.name != kSealed) {
      std::ranges::move(others(), std::back_inserter(steps));
    }
    const std::vector<Values> times = above_empty(run_, steps, run_.times(40));
    for (std::size_t i = 0; i < calls.size(); ++i) {
      medians_[{shape_.name, calls[i]->name}] = percentile(times[i], 0.5);
      add(calls[i]->name, "ms", times[i])
          .noting(fmt::format("{} times, above an empty static C program", times[i].size()));
      add_memory(*calls[i]);
    }
    for (std::size_t i = calls.size(); i < steps.size(); ++i) {
      add("query beside " + steps[i].name, "ms", times[calls.size() - 1])
          .beside(steps[i].name, times[i]);
    }
  }

  /// As another process would, which is gone when the question comes.
  void append() const {
    MemoryManager memory = store_.open();
    must(memory.add_conversation(
        store_.sessions.front(),
        {.role = "user", .content = "Is this found at once?", .agent_id = "builder"}));
  }

  /// Of a query: the peers that have an index of this memory, and ripgrep.
  [[nodiscard]] std::vector<Step> others() const {
    std::vector<Step> steps;
    for (const PeerKind kind : kPeerKinds) {
      if (store_.has(kind)) {
        steps.push_back(process_step(std::string(peer_name(kind)), [this, kind](std::size_t round) {
          return peer_call(kind, store_.words(round));
        }));
      }
    }
    for (const char* path : {"/usr/bin/rg", "/usr/local/bin/rg"}) {
      if (std::filesystem::exists(path)) {
        steps.push_back(process_step("ripgrep", [this, path](std::size_t round) {
          return ripgrep_call(path, store_.words(round));
        }));
        break;
      }
    }
    return steps;
  }

  [[nodiscard]] Arguments peer_call(PeerKind kind, const SearchWords& words) const {
    Arguments arguments = {
        run_.helpers + (kind == PeerKind::kFts5 ? "/bmad_bench_fts5" : "/bmad_bench_xapian"),
        store_.peer_path(kind)};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return arguments;
  }

  [[nodiscard]] Arguments ripgrep_call(const char* path, const SearchWords& words) const {
    Arguments arguments = {path, "--no-config", "-i", "-g", "*.jsonl"};
    for (const std::string& word : words) {
      arguments.insert(arguments.end(), {"-e", word});
    }
    arguments.push_back(store_.root + "/sessions");
    return arguments;
  }

  /// Fires the hook with `event`, adds its milliseconds to `times`, and returns what it printed.
  std::string fire_hook(const std::string& event, Values& times) const {
    const std::string input = store_.folder + "/event.json";
    std::ofstream(input, std::ios::trunc) << event << '\n';
    std::string said;
    times.push_back(
        milliseconds([&] { said = output_of(run_.call({"hook", "claude-code"}), input); }));
    return said;
  }

  /// What a prompt waits for in a session that has begun, with the time that hooks have.
  void ask_hooks() {
    if (wanted(kHook) == nullptr) {
      return;
    }
    Values starts;
    Values prompts;
    Values tools;
    double told = 0;
    for (std::size_t round = 0; round < run_.times(30); ++round) {
      const std::string session = fmt::format("left-{}-{}", ::getpid(), round);
      const std::string words = joined(store_.words(round));
      fire_hook(hook_event(session, "SessionStart", R"("source":"startup")"), starts);
      const std::string said =
          fire_hook(hook_event(session, "UserPromptSubmit",
                               fmt::format(R"("prompt":"Please look into {}")", words)),
                    prompts);
      told += said.contains("additionalContext") ? 1 : 0;
      fire_hook(tool_event(session, round, words), tools);
    }
    add(kHook, "ms", prompts);
    add("prompts that are told something", "%", {100 * told / static_cast<double>(prompts.size())})
        .wants(at_least(100));
    if (wanted(kRecord) != nullptr) {
      add(kStart, "ms", starts);
      add(kRecord, "ms", tools).noting("what is recorded is durable");
    }
  }

  void ask_mcp() {
    if (wanted(kMcpSearch) == nullptr) {
      return;
    }
    McpClient client(run_.tool, store_.root);
    const auto times_of = [&](const char* tool, std::size_t calls, const auto& arguments_of) {
      Values times;
      for (std::size_t i = 0; i < calls; ++i) {
        const std::string arguments = arguments_of(i);
        times.push_back(milliseconds([&] { client.call(tool, arguments); }));
      }
      return times;
    };
    const Values search = times_of("memory_search", run_.times(1000), [&](std::size_t i) {
      return fmt::format(R"({{"query":"{}"}})", joined(store_.words(i)));
    });
    add("MCP memory_search, p50", "ms", {percentile(search, 0.50)})
        .noting(fmt::format("{} calls, one after another", search.size()));
    add(kMcpSearch, "ms", {percentile(search, 0.95)});
    if (wanted(kMcpMemory) != nullptr) {
      add(kMcpMemory, "MB", {client.resident_mb()});
    }
    if (wanted(kMcpGet) != nullptr) {
      const Values get = times_of("memory_get", run_.times(200), [&](std::size_t i) {
        return fmt::format(R"({{"ids":["{}"]}})", store_.id(i));
      });
      add(kMcpGet, "ms", {percentile(get, 0.95)})
          .noting(fmt::format("p50: {:.3f} ms", percentile(get, 0.50)));
    }
  }

  void add_size() {
    if (wanted(kIndexSize) == nullptr) {
      return;
    }
    const auto share = [&](std::uint64_t bytes) {
      return Values{static_cast<double>(bytes) / static_cast<double>(store_.log_bytes)};
    };
    Row& row = add(kIndexSize, "", share(bytes_in(store_.root + "/index")));
    if (store_.has(PeerKind::kFts5)) {
      row.beside("FTS5", share(std::filesystem::file_size(store_.peer_path(PeerKind::kFts5))));
    }
  }

  const Run& run_;
  const SearchStore& store_;
  const Shape& shape_;
  Medians& medians_;
  Rows rows_;
};

Rows rows_of_shape(const Run& run, const Shape& shape, Medians& medians) {
  constexpr double kEntryBytes = 594;
  const double part = std::min(1.0, static_cast<double>(run.options.bytes) / 10e6);
  const auto bytes =
      static_cast<std::uint64_t>(static_cast<double>(shape.entries) * part * kEntryBytes);
  const std::string& folder = run.options.keep.empty() ? run.folder : run.options.keep;
  Run of_shape = run;
  of_shape.store =
      SearchStore::prepare(folder + '/' + std::string(shape.name),
                           {.seed = run.options.seed,
                            .bytes = bytes,
                            .session_bytes = std::max<std::uint64_t>(bytes / shape.sessions, 1000),
                            .alone = run.options.alone,
                            .as_left = true});
  return Left(of_shape, shape, medians).rows();
}

void add_growth(const Medians& medians, Rows& rows) {
  constexpr double kLeast = 0.01;  // Noise can make a start as cheap as that of the empty program.
  for (const std::string_view name : {"query", "get ID", "list", "context", "recall"}) {
    const auto small = medians.find({kSmall, name});
    const auto large = medians.find({kLarge, name});
    if (small != medians.end() && large != medians.end()) {
      rows.push_back(Row(fmt::format("growth from {} to {}: {}", kSmall, kLarge, name), "times",
                         {std::max(large->second, kLeast) / std::max(small->second, kLeast)})
                         .wants(kGrowth));
    }
  }
}

}  // namespace

std::vector<std::string> left_shapes() {
  std::vector<std::string> names;
  std::ranges::transform(kShapes, std::back_inserter(names),
                         [](const Shape& shape) { return std::string(shape.name); });
  return names;
}

Rows left_rows(const Run& run) {
  Rows rows;
  Medians medians;
  const std::vector<std::string>& chosen = run.options.shapes;
  for (const Shape& shape : kShapes) {
    const bool is_chosen = chosen.empty() ? run.options.large || &shape == &kShapes.front()
                                          : std::ranges::find(chosen, shape.name) != chosen.end();
    if (!is_chosen) {
      continue;
    }
    try {
      std::ranges::move(rows_of_shape(run, shape, medians), std::back_inserter(rows));
    } catch (const Error& error) {
      rows.push_back(Row::not_measured(std::string(shape.name), error.to_string()));
    }
  }
  add_growth(medians, rows);
  return rows;
}

}  // namespace bmad_mem::bench
