// search_left_rows.cpp - memories of several shapes as ordinary writes have left them: no
// rebuild-index, no question before the first one here.
//
//   write the entries | the first question | query, get, list ... in turn | hooks | MCP | sizes
//
// What is asked of which shape, and what it may take, is in the tables below. Whole processes are
// measured above an empty one; hooks are not, since an agent waits for all of them.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "bench_store.hpp"
#include "commands.hpp"
#include "mcp_client.hpp"
#include "search_percentiles.hpp"
#include "search_rows.hpp"
#include "spawn.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

using Arguments = std::vector<std::string>;

struct Shape {
  std::string_view name;
  std::string_view text;
  std::uint64_t entries;
  std::uint64_t sessions;
};

constexpr auto kShapes = std::to_array<Shape>({
    {"10mb", "10 MB in one session", 16'835, 1},
    {"10k", "10,000 entries in 10 sessions", 10'000, 10},
    {"100k-20", "100,000 entries in 20 sessions", 100'000, 20},
    {"100k-200", "100,000 entries in 200 sessions", 100'000, 200},
    {"100k-2000", "100,000 entries in 2,000 sessions", 100'000, 2'000},
    {"100k-10000", "100,000 entries in 10,000 sessions", 100'000, 10'000},
    {"1m", "1,000,000 entries in 200 sessions", 1'000'000, 200},
});

enum class Ask : std::uint8_t {
  kQuery,
  kQueryAfterAppend,
  kGet,
  kHistory,
  kList,
  kContext,
  kRecall,
  kHook,
  kMcpSearch,
  kMcpGet,
  kMcpMemory,
  kIndexSize,
};

/// What one of them may take; 0: nothing is said.
struct Wanted {
  std::string_view shape;
  Ask ask;
  double required = 0;
  double aim = 0;
  double required_mb = 0;  ///< Of the peak resident memory of the process.
  double aim_mb = 0;
};

constexpr auto kWanted = std::to_array<Wanted>({
    {"10mb", Ask::kQuery, 1.2, 0.4},
    {"10mb", Ask::kQueryAfterAppend, 1.6, 0.6},
    {"10mb", Ask::kMcpSearch, 1.1, 0.4},
    {"10mb", Ask::kMcpMemory, 20, 12},
    {"10mb", Ask::kIndexSize, 0.40, 0.25},
    {"10k", Ask::kQuery},
    {"10k", Ask::kGet},
    {"10k", Ask::kList},
    {"10k", Ask::kContext},
    {"10k", Ask::kRecall},
    {"100k-20", Ask::kQuery, 3, 1},
    {"100k-20", Ask::kIndexSize, 0.40, 0.25},
    {"100k-200", Ask::kHook, 15, 5},
    {"100k-200", Ask::kGet, 2, 0.5, 16},
    {"100k-200", Ask::kHistory, 2, 0.5, 16},
    {"100k-200", Ask::kMcpSearch, 1.5, 0.6},
    {"100k-200", Ask::kIndexSize, 0.40, 0.25},
    {"100k-2000", Ask::kQuery, 15, 5},
    {"100k-2000", Ask::kHook, 25, 10},
    {"100k-2000", Ask::kIndexSize, 0.40, 0.25},
    {"100k-10000", Ask::kQuery, 50, 20, 64},
    {"100k-10000", Ask::kHook},
    {"100k-10000", Ask::kIndexSize, 0.40, 0.25},
    {"1m", Ask::kQuery, 8, 2, 48, 16},
    {"1m", Ask::kGet, 2, 0.5, 16},
    {"1m", Ask::kHistory, 2, 0.5, 16},
    {"1m", Ask::kList, 4, 1, 64},
    {"1m", Ask::kContext, 12, 4, 64},
    {"1m", Ask::kRecall, 12, 4, 64},
    {"1m", Ask::kHook, 25, 8},
    {"1m", Ask::kMcpSearch, 4, 1.5},
    {"1m", Ask::kMcpGet, 2, 0.5},
    {"1m", Ask::kMcpMemory, 64, 24},
    {"1m", Ask::kIndexSize, 0.40, 0.25},
});

/// The shapes between which growth is told, and by how much an answer may take longer.
constexpr std::string_view kSmall = "10k";
constexpr std::string_view kLarge = "1m";
constexpr Target kGrowth = at_most(3, 1.5);

/// A call of the tool, given the words and the id of a round.
struct Command {
  Ask ask;
  std::string_view name;
  Arguments (*arguments)(const SearchWords& words, const std::string& id);
};

constexpr auto kCommands = std::to_array<Command>({
    {Ask::kQueryAfterAppend, "query, one append later",
     [](const SearchWords& words, const std::string& /*id*/) {
       return Arguments{"query", joined(words), "--limit", "20"};
     }},
    {Ask::kGet, "get ID",
     [](const SearchWords& /*words*/, const std::string& id) { return Arguments{"get", id}; }},
    {Ask::kHistory, "history ID",
     [](const SearchWords& /*words*/, const std::string& id) { return Arguments{"history", id}; }},
    {Ask::kList, "list",
     [](const SearchWords& /*words*/, const std::string& /*id*/) { return Arguments{"list"}; }},
    {Ask::kContext, "context",
     [](const SearchWords& words, const std::string& /*id*/) {
       return Arguments{"context", "--task", joined(words)};
     }},
    {Ask::kRecall, "recall",
     [](const SearchWords& /*words*/, const std::string& /*id*/) { return Arguments{"recall"}; }},
});

std::optional<Target> target_of(double required, double aim) {
  return required > 0
             ? std::optional(at_most(required, aim > 0 ? std::optional(aim) : std::nullopt))
             : std::nullopt;
}

/// Milliseconds of what was asked of a shape, for the growth.
using Medians = std::map<std::pair<std::string_view, std::string_view>, double>;

/// Asks one shape.
class Left {
 public:
  Left(const SearchRun& run, const Shape& shape, SearchStore store, Medians& medians)
      : run_(run), shape_(shape), store_(std::move(store)), medians_(medians) {}

  Result<std::vector<Row>> rows() {
    run_.progress(fmt::format("asking {}", shape_.text));
    BMAD_TRY(ask_first());
    BMAD_TRY(ask_processes());
    BMAD_TRY(ask_queries());
    BMAD_TRY(ask_hooks());
    BMAD_TRY(ask_mcp());
    add_size();
    return std::move(rows_);
  }

 private:
  [[nodiscard]] const Wanted* wanted(Ask ask) const {
    const auto* found = std::ranges::find_if(
        kWanted, [&](const Wanted& each) { return each.shape == shape_.name && each.ask == ask; });
    return found == kWanted.end() ? nullptr : found;
  }

  [[nodiscard]] std::string label(std::string_view what) const {
    return fmt::format("{}: {}", shape_.name, what);
  }

  [[nodiscard]] Arguments call(const Command& command, std::size_t round) const {
    Arguments arguments = {run_.tool, "--root", store_.root};
    // From all over the memory.
    const std::string& id = store_.ids[round * 7919 % store_.ids.size()];
    std::ranges::move(command.arguments(store_.queries[round % store_.queries.size()], id),
                      std::back_inserter(arguments));
    return arguments;
  }

  void add(std::string_view what, std::string unit, Summary ours, std::optional<Target> target,
           std::string note = "") {
    rows_.push_back({.what = label(what),
                     .unit = std::move(unit),
                     .ours = ours,
                     .target = target,
                     .note = std::move(note)});
  }

  Status ask_first() {
    const SearchWords& words = store_.queries.front();
    const Arguments arguments = {run_.tool, "--root", store_.root, "query", joined(words)};
    BMAD_TRY_ASSIGN(const ProcessCost cost, run_process(arguments));
    add("the first question", "ms", single(cost.wall * 1e3), std::nullopt,
        fmt::format("{}: {} entries in {} bytes of logs", shape_.text, store_.ids.size(),
                    store_.log_bytes));
    return {};
  }

  /// In turn, each above the median of the empty program.
  Status ask_processes() {
    std::vector<const Command*> commands;
    for (const Command& command : kCommands) {
      if (wanted(command.ask) != nullptr) {
        commands.push_back(&command);
        BMAD_TRY_ASSIGN(const std::string said, output_of(call(command, 0)));
        if (said.empty()) {
          return Error{.message = fmt::format("bmad-mem {} printed nothing", command.name)};
        }
      }
    }
    std::vector<std::vector<double>> times(commands.size());
    std::vector<double> starts;
    for (std::size_t round = 0; round < run_.times(40); ++round) {
      BMAD_TRY_ASSIGN(const ProcessCost nothing, run_process({run_.helpers + "/bmad_bench_empty"}));
      starts.push_back(nothing.wall * 1e3);
      for (std::size_t turn = 0; turn < commands.size(); ++turn) {
        const std::size_t which = (round + turn) % commands.size();
        if (commands[which]->ask == Ask::kQueryAfterAppend) {
          BMAD_TRY(append());
        }
        BMAD_TRY_ASSIGN(const ProcessCost cost, run_process(call(*commands[which], round)));
        times[which].push_back(cost.wall * 1e3);
      }
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
      BMAD_TRY(add_process(*commands[i], std::move(times[i]), summarize(starts).median));
    }
    return {};
  }

  Status add_process(const Command& command, std::vector<double> times, double start) {
    for (double& time : times) {
      time -= start;
    }
    const Wanted& bound = *wanted(command.ask);
    const Summary ours = summarize(std::move(times));
    medians_[{shape_.name, command.name}] = ours.median;
    add(command.name, "ms", ours, target_of(bound.required, bound.aim));
    return add_memory(command.name, bound, [&](std::size_t i) { return call(command, i); });
  }

  template <typename Call>
  Status add_memory(std::string_view name, const Wanted& bound, const Call& call_of) {
    if (bound.required_mb == 0) {
      return {};
    }
    std::vector<double> peaks;
    for (std::size_t i = 0; i < 3; ++i) {
      BMAD_TRY_ASSIGN(const double peak, peak_mb_of(run_.helpers, call_of(i)));
      peaks.push_back(peak);
    }
    add(fmt::format("{}, peak resident memory", name), "MB", summarize(std::move(peaks)),
        target_of(bound.required_mb, bound.aim_mb));
    return {};
  }

  /// As another process would, which is gone when the question comes.
  Status append() {
    BMAD_TRY_ASSIGN(MemoryManager memory, store_.open());
    if (session_.empty()) {
      BMAD_TRY_ASSIGN(const std::vector<Session> sessions, memory.list_sessions());
      session_ = sessions.front().session_id;
    }
    BMAD_TRY(memory.add_conversation(
        session_, {.role = "user", .content = "Is this found at once?", .agent_id = "builder"}));
    return {};
  }

  /// Beside the others.
  Status ask_queries() {
    const Wanted* const bound = wanted(Ask::kQuery);
    if (bound == nullptr) {
      return {};
    }
    const Target target = at_most(bound->required, bound->aim);
    BMAD_TRY_ASSIGN(std::vector<Row> queries,
                    cold_query_rows(run_, store_, label("query"), target, run_.times(40)));
    if (bound->required == 0) {
      queries.front().target.reset();
    }
    medians_[{shape_.name, "query"}] = queries.front().ours.median;
    std::ranges::move(queries, std::back_inserter(rows_));
    return add_memory("query", *bound, [&](std::size_t i) {
      return Arguments{run_.tool, "--root", store_.root, "query", joined(store_.queries[i])};
    });
  }

  /// What a prompt waits for in a session that has begun, with the time that hooks have.
  Status ask_hooks() {
    const Wanted* const bound = wanted(Ask::kHook);
    if (bound == nullptr) {
      return {};
    }
    std::vector<double> times;
    std::size_t told = 0;
    for (std::size_t round = 0; round < run_.times(30); ++round) {
      BMAD_TRY(fire(round, R"("SessionStart","source":"startup")"));
      const std::string words = joined(store_.queries[round % store_.queries.size()]);
      BMAD_TRY_ASSIGN(
          const double time,
          fire(round, fmt::format(R"("UserPromptSubmit","prompt":"Please look into {}")", words)));
      times.push_back(time);
      std::ifstream answer(store_.folder + "/answer");
      const std::string text((std::istreambuf_iterator<char>(answer)), {});
      told += text.contains("additionalContext") ? 1 : 0;
    }
    const double count = static_cast<double>(times.size());
    add("prompt hook with context", "ms", summarize(std::move(times)),
        target_of(bound->required, bound->aim));
    add("prompts that are told something", "%", single(100 * static_cast<double>(told) / count),
        Target{.of = TargetOf::kOurs, .better = Better::kHigher, .required = 100, .aim = {}});
    return {};
  }

  /// Milliseconds of the whole process. `event`: its name and what follows.
  Result<double> fire(std::size_t round, std::string_view event) {
    const std::string input = store_.folder + "/event.json";
    std::ofstream(input, std::ios::trunc)
        << fmt::format(R"({{"session_id":"left-{}-{}","transcript_path":"/dev/null","cwd":"/",)"
                       R"("permission_mode":"default","hook_event_name":{}}})",
                       ::getpid(), round, event);
    const int output =
        ::open((store_.folder + "/answer").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (output < 0) {
      return system_error("write", store_.folder + "/answer");
    }
    const Result<ProcessCost> cost =
        run_process({run_.tool, "hook", "claude-code", "--root", store_.root}, input, output);
    ::close(output);
    if (!cost) {
      return cost.error();
    }
    return cost->wall * 1e3;
  }

  Status ask_mcp() {
    if (wanted(Ask::kMcpSearch) == nullptr) {
      return {};
    }
    BMAD_TRY_ASSIGN(McpClient client, McpClient::start(run_.tool, store_.root));
    const std::size_t calls = run_.times(1000);
    BMAD_TRY_ASSIGN(const Percentiles search, times_of(client, "memory_search", calls, [&](auto i) {
                      return fmt::format(R"({{"query":"{}"}})",
                                         joined(store_.queries[i % store_.queries.size()]));
                    }));
    const std::string note = fmt::format("{} calls, one after another", calls);
    const Wanted& bound = *wanted(Ask::kMcpSearch);
    add("MCP memory_search, p50", "ms", single(search.p50), std::nullopt, note);
    add("MCP memory_search, p95", "ms", single(search.p95), target_of(bound.required, bound.aim));
    if (const Wanted* const memory = wanted(Ask::kMcpMemory)) {
      BMAD_TRY_ASSIGN(const double resident, client.resident_mb());
      add("MCP, resident after these calls", "MB", single(resident),
          target_of(memory->required, memory->aim));
    }
    if (const Wanted* const get = wanted(Ask::kMcpGet)) {
      BMAD_TRY_ASSIGN(
          const Percentiles times, times_of(client, "memory_get", run_.times(200), [&](auto i) {
            return fmt::format(R"({{"ids":["{}"]}})", store_.ids[i * 7919 % store_.ids.size()]);
          }));
      add("MCP memory_get, p95", "ms", single(times.p95), target_of(get->required, get->aim),
          fmt::format("p50: {:.3f} ms", times.p50));
    }
    return {};
  }

  template <typename ArgumentsOf>
  Result<Percentiles> times_of(McpClient& client, std::string_view tool, std::size_t calls,
                               const ArgumentsOf& arguments_of) {
    std::vector<double> times;
    for (std::size_t i = 0; i < calls; ++i) {
      const std::string arguments = arguments_of(i);
      const double begin = wall_seconds();
      BMAD_TRY(client.call(tool, arguments));
      times.push_back((wall_seconds() - begin) * 1e3);
    }
    return percentiles_of(std::move(times));
  }

  void add_size() {
    const Wanted* const bound = wanted(Ask::kIndexSize);
    if (bound == nullptr) {
      return;
    }
    const auto share = [&](std::uint64_t bytes) {
      return single(static_cast<double>(bytes) / static_cast<double>(store_.log_bytes));
    };
    Row row{.what = label("index/ against the logs"),
            .ours = share(bytes_in(store_.root + "/index")),
            .target = target_of(bound->required, bound->aim)};
    std::error_code error;
    const auto fts5_bytes = std::filesystem::file_size(store_.peer_path(PeerKind::kFts5), error);
    if (!error) {
      row.baseline_name = "FTS5";
      row.baseline = share(fts5_bytes);
    }
    rows_.push_back(std::move(row));
  }

  const SearchRun& run_;
  const Shape& shape_;
  SearchStore store_;
  Medians& medians_;
  std::string session_;
  std::vector<Row> rows_;
};

Result<std::vector<Row>> rows_of_shape(const SearchRun& run, const Shape& shape, Medians& medians) {
  constexpr double kEntryBytes = 594;
  const double effort = std::min(1.0, run.left_share);
  const auto entries = static_cast<double>(shape.entries) * effort;
  const auto bytes = static_cast<std::uint64_t>(entries * kEntryBytes);
  BMAD_TRY_ASSIGN(
      SearchStore store,
      SearchStore::prepare(run.left_folder + '/' + std::string(shape.name),
                           {.seed = run.seed,
                            .bytes = bytes,
                            .session_bytes = std::max<std::uint64_t>(bytes / shape.sessions, 1000),
                            .queries = 200,
                            .alone = run.alone,
                            .as_left = true},
                           run.progress));
  return Left(run, shape, std::move(store), medians).rows();
}

void add_growth(const Medians& medians, std::vector<Row>& rows) {
  for (const std::string_view name : {"query", "get ID", "list", "context", "recall"}) {
    const auto small = medians.find({kSmall, name});
    const auto large = medians.find({kLarge, name});
    if (small != medians.end() && large != medians.end()) {
      // Noise can make a start as cheap as that of the empty program.
      rows.push_back({.what = fmt::format("growth from {} to {}: {}", kSmall, kLarge, name),
                      .unit = "times",
                      .ours = single(std::max(large->second, 0.01) / std::max(small->second, 0.01)),
                      .target = kGrowth});
    }
  }
}

}  // namespace

std::vector<std::string> left_shapes() {
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) {
    names.emplace_back(shape.name);
  }
  return names;
}

SearchRows left_rows(const SearchRun& run) {
  std::vector<Row> rows;
  Medians medians;
  if (!std::filesystem::exists(run.tool)) {
    return std::vector<Row>{
        not_measured("as left", fmt::format("there is no program \"{}\"; name one with --tool or "
                                            "BMAD_MEM_BINARY",
                                            run.tool))};
  }
  for (const Shape& shape : kShapes) {
    if (std::ranges::find(run.left_shapes, shape.name) == run.left_shapes.end()) {
      continue;
    }
    Result<std::vector<Row>> measured = rows_of_shape(run, shape, medians);
    if (!measured) {
      rows.push_back(not_measured(std::string(shape.name), measured.error().to_string()));
      continue;
    }
    std::ranges::move(*measured, std::back_inserter(rows));
  }
  add_growth(medians, rows);
  return rows;
}

}  // namespace bmad_mem::bench
