// main.cpp - bmad-bench: how fast the store, the search and the life cycle are, how much the search
// finds, and data to measure it on.
//
// A command is a row of kCommands: which options it takes, and either groups of rows, which are
// measured one after another into one table, or a function that prints something else.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "corpus.hpp"
#include "machine.hpp"
#include "retrieval_scores.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr auto kStoreGroups = std::to_array<Group>({
    {"append", "durable appends by one writer, and their CPU time", append_rows},
    {"parallel", "eight processes, and eight threads, appending to one session", parallel_rows},
    {"batch", "batches of 100 entries", batch_rows},
    {"process", "bmad-mem add as a whole process: time and memory", process_rows, true},
    {"scan", "reading 10 MB and checking every field", scan_rows},
    {"fairness", "how often each of eight processes gets the lock", fairness_rows},
    {"timeout", "how late a wait for the lock is given up", timeout_rows},
    {"cpu", "the steps of a write and a read that need no disk", cpu_rows},
});
constexpr auto kSearchGroups = std::to_array<Group>({
    {"warm", "queries in one process, beside FTS5 and Xapian; the overlap of results", warm_rows},
    {"append", "the longest append, an import, and what the query that seals the new takes",
     ingest_rows},
    {"left", "memories as ordinary writes leave them; the shapes that --shape names", left_rows,
     true},
});
constexpr auto kLifecycleGroups = std::to_array<Group>({
    {"compact", "a full session made smaller, and the parts of it", compact_rows},
    {"race", "a reader and a writer while a session is compacted", race_rows},
    {"delete", "100 ids from a full session", delete_rows},
    {"archive", "a full session into its archive and back, beside tar", archive_rows},
    {"maintain", "bmad-mem maintain --auto as a whole process, nothing due", maintain_rows, true},
});
constexpr Group kContextGroups[] = {
    {"context", "bmad-mem context as a whole process, beside a query", context_rows, true}};
constexpr Group kHookGroups[] = {
    {"hooks", "bmad-mem hook as a whole process, beside one that does nothing", hook_rows, true}};
constexpr Group kRedactGroups[] = {
    {"redact", "texts, an entry, and what is meant to be slow", redact_rows}};
constexpr Group kEncoderGroups[] = {
    {"encoder", "the encoder: texts, opening its weights, and the reference", encoder_rows},
    {"meaning", "100,000 entries with vectors, 1,000,000 with --large", meaning_rows, true}};

#ifdef BMAD_BENCH_HUB
constexpr auto kHubGroups = std::to_array<Group>({
    {"push", "batches of 500 lines, by the library", hub_push_rows},
    {"single", "single entries, by one client and by eight", hub_single_rows},
    {"pull", "first pulls of 10,000 entries, 1,000,000 with --large", hub_pull_rows, true},
    {"sync", "bmad-mem sync as a whole process, nothing to do", hub_sync_rows, true},
    {"follow", "from one machine to another, both following", hub_follow_rows, true},
    {"cost", "what a hub costs those who don't ask it", hub_cost_rows, true},
    {"forget", "until eight mirrors have forgotten an entry", hub_forget_rows, true},
});
#endif

/// Makes the memory that all groups of a command ask.
void prepare_corpus(Run& run, SearchPlan plan) {
  plan.seed = run.options.seed;
  run.store = SearchStore::prepare(run.folder + "/store", plan);
  run.data = {{"entries", run.store.ids.size()},
              {"log_bytes", run.store.log_bytes},
              {"sessions", run.store.sessions.size()},
              {"queries", run.store.queries.size()}};
}

void prepare_search(Run& run) {
  const std::uint64_t bytes = run.options.bytes;
  return prepare_corpus(run, {.bytes = bytes,
                              .session_bytes = bytes,
                              .queries = std::clamp<std::size_t>(run.times(200), 10, 200),
                              .keep_texts = true});
}

void prepare_full_session(Run& run) {
  const std::uint64_t bytes = run.options.bytes;
  return prepare_corpus(run,
                        {.bytes = bytes, .session_bytes = bytes, .queries = 20, .alone = true});
}

/// 100,000 entries; fewer with less effort.
void prepare_agents_memory(Run& run) {
  const double bytes = 59e6 * std::min(1.0, run.options.effort);
  return prepare_corpus(run, {.bytes = static_cast<std::uint64_t>(bytes),
                              .session_bytes = run.options.session_bytes,
                              .queries = 50,
                              .alone = true});
}

void prepare_nothing(Run& /*run*/) {}

/// Writes made-up memory. Adding to a root that holds something would make data that no seed
/// describes.
void run_corpus(const Options& options) {
  ensure(!options.out.empty(), "name a new folder with --out");
  std::error_code error;
  ensure(
      !std::filesystem::exists(options.out, error) || std::filesystem::is_empty(options.out, error),
      "is not empty; name a folder that is, or none", options.out);
  init_roomy_root(options.out);
  const double begin = wall_seconds();
  Corpus corpus(options.seed);
  const CorpusReport report = write_corpus(
      corpus, options.out, {.bytes = options.bytes, .session_bytes = options.session_bytes});
  print_text(fmt::format(
      "{}: {} records, {} bytes, {} tokens, {} sessions, seed {}, FNV-1a {:016x}, {:.1f} s\n",
      options.out, report.records, report.bytes, report.tokens, report.sessions.size(),
      options.seed, report.hash, wall_seconds() - begin));
}

struct Command {
  const char* name;
  const char* help;
  std::span<const Group> groups;
  void (*prepare)(Run& run);
  void (*print)(const Options& options);  ///< Instead of groups.
};

const auto kCommands = std::to_array<Command>({
    {"store", "measure writing and scanning; the default", kStoreGroups, prepare_store, nullptr},
    {"search", "measure queries and indexing, beside others", kSearchGroups, prepare_search,
     nullptr},
    {"lifecycle", "measure compaction, deletion, archives and maintenance", kLifecycleGroups,
     prepare_full_session, nullptr},
    {"context", "measure what an agent waits for its context", kContextGroups,
     prepare_agents_memory, nullptr},
    {"hooks", "measure what an agent waits for its hooks", kHookGroups, prepare_agents_memory,
     nullptr},
    {"redact", "measure the search for secrets in texts", kRedactGroups, prepare_nothing, nullptr},
    {"encoder", "measure how fast and how exact the encoder is", kEncoderGroups, prepare_nothing,
     nullptr},
#ifdef BMAD_BENCH_HUB
    {"hub", "measure a hub on a PostgreSQL of its own, and its mirrors", kHubGroups, prepare_hub,
     nullptr},
#endif
    {"retrieval",
     "measure how often a search finds what answers a question",
     {},
     nullptr,
     run_retrieval},
    {"corpus", "write made-up memory, the same for a seed", {}, nullptr, run_corpus},
});

std::string groups_text(std::span<const Group> groups) {
  std::string text;
  for (const Group& group : groups) {
    text += fmt::format("  {:<10} {}\n", group.name, group.text);
  }
  return text;
}

Rows run_group(const Run& run, const Group& group) {
  tell(fmt::format("measuring {}: {}", group.name, group.text));
  try {
    ensure(!group.needs_tool || std::filesystem::exists(run.tool),
           fmt::format("there is no program \"{}\"; name one with --tool or BMAD_MEM_BINARY",
                       run.tool));
    return group.measure(run);
  } catch (const Error& error) {
    return {Row::not_measured(std::string(group.name), error.to_string())};
  } catch (const std::exception& error) {  // Of a folder that could not be copied.
    return {Row::not_measured(std::string(group.name), error.what())};
  }
}

void print_json(const Environment& environment, const Run& run, const Rows& rows) {
  JsonWriter json;
  json.begin_object();
  write_environment(json, environment);
  json.member("seed", run.options.seed).member("effort", run.options.effort);
  for (const auto& [name, value] : run.data) {
    json.member(name, value);
  }
  json.key("rows");
  write_rows(json, rows);
  print_text(json_pretty(json.end_object().text()) + '\n');
}

void print_head(const Environment& environment, const Run& run) {
  std::string text = environment_text(environment) + "data          ";
  for (const auto& [name, value] : run.data) {
    text += fmt::format("{} {}, ", name, value);
  }
  print_text(
      fmt::format("{}seed {}\neffort        {}\n\n", text, run.options.seed, run.options.effort));
}

/// Measures and prints. False when a row could not be measured.
bool run_rows(const Command& command, const Options& options) {
  std::vector<Group> chosen;
  std::ranges::copy_if(command.groups, std::back_inserter(chosen),
                       [&](const Group& group) { return group.name.contains(options.filter); });
  if (chosen.empty()) {
    throw Error{.code = ErrorCode::E_INVALID_QUERY,
                .message = fmt::format("no group of rows matches \"{}\"; there are:\n{}",
                                       options.filter, groups_text(command.groups))};
  }
  const ScratchFolder scratch(options.directory);
  const std::string helpers = folder_of_this_program();
  Run run{.options = options,
          .folder = scratch.path(),
          .helpers = helpers,
          .tool = options.tool.empty() ? helpers + "/bmad-mem" : options.tool};
  const Environment environment = environment_of(scratch.path());
  command.prepare(run);
  if (!options.json) {
    print_head(environment, run);
  }
  Rows rows;
  for (const Group& group : chosen) {
    std::ranges::move(run_group(run, group), std::back_inserter(rows));
  }
  if (options.json) {
    print_json(environment, run, rows);
  } else {
    print_text(table_text(rows));
  }
  return std::ranges::all_of(rows, [](const Row& row) { return row.problem.empty(); });
}

/// All commands share them, each takes what it needs.
void add_options(CLI::App& app, Options& to) {
  std::vector<std::string> ways = {"all"};
  std::ranges::transform(kWays, std::back_inserter(ways),
                         [](const Way& way) { return std::string(way.name); });
  const auto add_size = [&](const char* name, std::uint64_t& value, const char* help) {
    app.add_option(name, value, help)
        ->transform(CLI::AsSizeValue(true))
        ->check(CLI::Range(std::uint64_t{10'000}, std::uint64_t{100'000'000'000}));
  };
  app.add_option("--dir", to.directory, "make the memory in this folder (TMPDIR, else /tmp)");
  app.add_option("--filter", to.filter, "only groups of rows whose name holds this");
  app.add_option("--tool", to.tool,
                 "the bmad-mem to start (BMAD_MEM_BINARY, else beside this program)");
  app.add_option("--effort", to.effort, "1 takes a minute or less; less is faster and proves less")
      ->check(CLI::Range(0.001, 100.0));
  app.add_option("--seed", to.seed, "of the data (1)");
  app.add_flag("--json", to.json, "one JSON object instead of tables");
  add_size("--bytes", to.bytes,
           "search, lifecycle, corpus: of the memory (10M, which the targets are for)");
  add_size("--session-bytes", to.session_bytes,
           "context, hooks, corpus: a new session after so many (10M)");
  app.add_option("--shape", to.shapes,
                 "search: a memory for the group left; repeatable (10mb; with --large all)")
      ->check(CLI::IsMember(left_shapes()));
  app.add_flag("--large", to.large,
               "search: all shapes: minutes, and 2 GB of disk; hub: a million entries");
  app.add_flag("--alone", to.alone,
               "search: the shapes without the others, which take minutes to index them");
  app.add_option("--keep", to.keep,
                 "search: make the shapes in this folder, and use them the next time");
  app.add_option("--data", to.data,
                 "retrieval: folder with corpus.jsonl and queries.jsonl "
                 "($BMAD_RETRIEVAL_DATA)");
  app.add_option("--run", to.run_file,
                 "retrieval: write query id, message id and score, with tabs between, here");
  app.add_option("--store", to.stores, "retrieval: only this store of the corpus; repeatable");
  app.add_flag("--encoder", to.encoder, "retrieval: with the encoder, beside words alone");
  app.add_option("--ranking", to.ranking,
                 "retrieval: default: as users ask; week, month: later; text: by the text alone; "
                 "slip: with a slip of the finger; plain: BM25; words: without the encoder (all)")
      ->check(CLI::IsMember(ways));
  app.add_option("--out", to.out, "corpus: new folder that becomes a memory root");
}

int run_command(const Command& command, const Options& options) {
  try {
    if (command.print == nullptr) {
      return run_rows(command, options) ? kDone : kFailed;
    }
    command.print(options);
    return kDone;
  } catch (const Error& error) {
    fmt::print(stderr, "bmad-bench: {}: {}\n", error_code_name(error.code), error.to_string());
  } catch (const std::exception& error) {
    fmt::print(stderr, "bmad-bench: {}\n", error.what());
  }
  return kFailed;
}

std::string environment_or(const char* name, std::string fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : std::move(fallback);
}

int run(int argc, char** argv) {
  Options options;
  options.directory = std::filesystem::temp_directory_path().string();
  options.tool = environment_or("BMAD_MEM_BINARY", "");
  options.data = environment_or("BMAD_RETRIEVAL_DATA",
                                environment_or("BMAD_SHARED_DATA", ".") + "/retrieval-dev");
  CLI::App app("Benchmarks of bmad-mem: each beside a baseline of the same run.", "bmad-bench");
  app.require_subcommand(0, 1);
  app.fallthrough();
  add_options(app, options);
  for (const Command& command : kCommands) {
    app.add_subcommand(command.name, command.help)
        ->footer(command.groups.empty() ? "" : "groups of rows:\n" + groups_text(command.groups));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kDone : kWrongUsage;
  }
  const auto chosen = std::ranges::find_if(kCommands, [&](const Command& command) {
    return app.get_subcommand(command.name)->parsed();
  });
  return run_command(chosen == kCommands.end() ? kCommands.front() : *chosen, options);
}

}  // namespace
}  // namespace bmad_mem::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return bmad_mem::bench::run(argc, argv);
}
