// store_command.cpp - `bmad-bench store`: where it runs, then every row of the table.
#include <unistd.h>

#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "environment.hpp"
#include "scratch_folder.hpp"
#include "store_rows.hpp"

namespace bmad_mem::bench {
namespace {

struct Group {
  std::string_view name;
  std::string_view description;
  Result<std::vector<Row>> (*run)(const StoreRun& run);
};

constexpr auto kGroups = std::to_array<Group>({
    {"append", "durable appends by one writer, and their CPU time", append_rows},
    {"parallel", "eight processes, and eight threads, appending to one session", parallel_rows},
    {"batch", "batches of 100 entries", batch_rows},
    {"process", "bmad-mem add as a whole process: time and memory", process_rows},
    {"scan", "reading 10 MB and checking every field", scan_rows},
    {"fairness", "how often each of eight processes gets the lock", fairness_rows},
    {"timeout", "how late a wait for the lock is given up", timeout_rows},
    {"cpu", "the steps of a write and a read that need no disk", cpu_rows},
});

bool is_chosen(const Group& group, std::string_view filter) {
  return group.name.find(filter) != std::string_view::npos;
}

void print_error_line(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fputc('\n', stderr);
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);  // Workers are forked, and must not inherit what is unwritten.
}

std::vector<Row> run_groups(const StoreRun& run, std::string_view filter) {
  std::vector<Row> rows;
  for (const Group& group : kGroups) {
    if (!is_chosen(group, filter)) {
      continue;
    }
    print_error_line(fmt::format("measuring {}: {} ...", group.name, group.description));
    Result<std::vector<Row>> measured = group.run(run);
    if (measured) {
      rows.insert(rows.end(), measured->begin(), measured->end());
    } else {
      rows.push_back(not_measured(std::string(group.name), measured.error().to_string()));
    }
  }
  return rows;
}

void print_json(const Environment& environment, const StoreOptions& options,
                std::span<const Row> rows) {
  JsonWriter json;
  json.begin_object().key("environment");
  write_environment(json, environment);
  json.member("seed", options.seed).member("effort", options.effort);
  json.member("entry_size", std::uint64_t{kEntrySize}).key("rows");
  write_rows(json, rows);
  json.end_object();
  print(json_pretty(json.text()) + '\n');
}

}  // namespace

std::string store_groups_text() {
  std::string text;
  for (const Group& group : kGroups) {
    text += fmt::format("  {:<10} {}\n", group.name, group.description);
  }
  return text;
}

Result<bool> run_store(const StoreOptions& options) {
  BMAD_TRY_ASSIGN(const BenchStore store, BenchStore::create(options.directory, options.seed));
  const std::string helpers = folder_of_this_program();
  const StoreRun run{.store = store,
                     .effort = options.effort,
                     .tool = options.tool.empty() ? helpers + "/bmad-mem" : options.tool,
                     .helpers = helpers};
  const Environment environment = environment_of(store.folder());
  if (!options.json) {
    print(environment_text(environment));
    print(
        fmt::format("data          entries of {} bytes; logs of 10,000,000 bytes; seed {}\n"
                    "effort        {}\n\n",
                    kEntrySize, options.seed, options.effort));
  }
  const std::vector<Row> rows = run_groups(run, options.filter);
  if (rows.empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = fmt::format("no group of rows matches \"{}\"; there are:\n{}",
                                        options.filter, store_groups_text())};
  }
  if (options.json) {
    print_json(environment, options, rows);
  } else {
    print(table_text(rows));
  }
  return std::ranges::all_of(rows, [](const Row& row) { return row.problem.empty(); });
}

}  // namespace bmad_mem::bench
