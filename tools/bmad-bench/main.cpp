// main.cpp - bmad-bench: how fast the store and the search are within a process, and data to
// measure it on. Whole processes of bmad-mem are measured by tests/bench/*.py.
//
// A command is a row of kCommands: which options it takes, and either groups of rows, which are
// measured one after another into one table, or a function that prints something else.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
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
    {"scan", "reading 10 MB and checking every field", scan_rows},
    {"fairness", "how often each of eight processes gets the lock", fairness_rows},
    {"timeout", "how late a wait for the lock is given up", timeout_rows},
    {"cpu", "the steps of a write and a read that need no disk", cpu_rows},
});
constexpr auto kSearchGroups = std::to_array<Group>({
    {"warm", "queries in one process, beside FTS5 and Xapian; the overlap of results", warm_rows},
    {"append", "the longest append, an import, and what the query that seals the new takes",
     ingest_rows},
});
constexpr Group kRedactGroups[] = {
    {"redact", "texts, an entry, and what is meant to be slow", redact_rows}};
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

void prepare_nothing(Run& /*run*/) {}

/// Makes a memory for tests/bench/*.py, as ordinary writes leave it, and prints what to ask of it.
void run_corpus(const Options& options) {
  ensure(!options.out.empty(), "name a new folder with --out");
  const SearchStore store =
      SearchStore::prepare(options.out, {.seed = options.seed,
                                         .bytes = options.bytes,
                                         .session_bytes = options.session_bytes,
                                         .alone = options.alone,
                                         .as_left = true});
  constexpr std::size_t kSample = 200;
  std::vector<std::string> queries;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < kSample; ++i) {
    queries.push_back(joined(store.words(i)));
    ids.push_back(store.id(i));
  }
  JsonWriter json;
  json.begin_object().member("entries", std::uint64_t{store.ids.size()});
  json.member("log_bytes", store.log_bytes);
  const auto write = [&](std::string_view name, const std::vector<std::string>& texts) {
    json.key(name).begin_array();
    std::ranges::for_each(texts, [&](const std::string& text) { json.string(text); });
    json.end_array();
  };
  write("sessions", store.sessions);
  write("queries", queries);
  write("ids", ids);
  print_text(json.end_object().text() + '\n');
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
    {"redact", "measure the search for secrets in texts", kRedactGroups, prepare_nothing, nullptr},
    {"corpus",
     "make a memory, the same for a seed, and say what to ask of it",
     {},
     nullptr,
     run_corpus},
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
  Run run{.options = options, .folder = scratch.path()};
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
  const auto add_size = [&](const char* name, std::uint64_t& value, const char* help) {
    app.add_option(name, value, help)
        ->transform(CLI::AsSizeValue(true))
        ->check(CLI::Range(std::uint64_t{1'000}, std::uint64_t{100'000'000'000}));
  };
  app.add_option("--dir", to.directory, "make the memory in this folder (TMPDIR, else /tmp)");
  app.add_option("--filter", to.filter, "only groups of rows whose name holds this");
  app.add_option("--effort", to.effort, "1 takes a minute or less; less is faster and proves less")
      ->check(CLI::Range(0.001, 100.0));
  app.add_option("--seed", to.seed, "of the data (1)");
  app.add_flag("--json", to.json, "one JSON object instead of tables");
  add_size("--bytes", to.bytes, "search, corpus: of the memory (10M, which the targets are for)");
  add_size("--session-bytes", to.session_bytes, "corpus: a new session after so many (10M)");
  app.add_flag("--alone", to.alone, "corpus: without the indexes of others");
  app.add_option("--out", to.out, "corpus: the folder of the memory");
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

int run(int argc, char** argv) {
  Options options;
  options.directory = std::filesystem::temp_directory_path().string();
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
