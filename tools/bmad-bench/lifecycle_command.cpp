// lifecycle_command.cpp - `bmad-bench lifecycle`: where it runs, then every row of the table.
#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "environment.hpp"
#include "lifecycle_rows.hpp"
#include "scratch_folder.hpp"

namespace bmad_mem::bench {
namespace {

struct Group {
  std::string_view name;
  std::string_view description;
  LifecycleRows (*run)(const LifecycleRun& run);
};

constexpr auto kGroups = std::to_array<Group>({
    {"compact", "a full session made smaller, and the parts of it", compact_rows},
    {"race", "a reader and a writer while a session is compacted", race_rows},
    {"delete", "100 ids from a full session", delete_rows},
    {"archive", "a full session into its archive and back, beside tar", archive_rows},
    {"maintain", "bmad-mem maintain --auto as a whole process, nothing due", maintain_rows},
});

void print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);  // Workers are forked, and must not inherit what is unwritten.
}

void tell(const std::string& what) { print(stderr, what + " ...\n"); }

bool is_chosen(const Group& group, std::string_view filter) {
  return group.name.find(filter) != std::string_view::npos;
}

Status check_filter(std::string_view filter) {
  if (std::ranges::any_of(kGroups, [&](const Group& group) { return is_chosen(group, filter); })) {
    return {};
  }
  return Error{.code = ErrorCode::E_INVALID_QUERY,
               .message = fmt::format("no group of rows matches \"{}\"; there are:\n{}", filter,
                                      lifecycle_groups_text())};
}

std::vector<Row> run_groups(const LifecycleRun& run, std::string_view filter) {
  std::vector<Row> rows;
  for (const Group& group : kGroups) {
    if (!is_chosen(group, filter)) {
      continue;
    }
    tell(fmt::format("measuring {}: {}", group.name, group.description));
    const LifecycleRows measured = group.run(run);
    if (measured) {
      rows.insert(rows.end(), measured->begin(), measured->end());
    } else {
      rows.push_back(not_measured(std::string(group.name), measured.error().to_string()));
    }
  }
  return rows;
}

void print_json(const Environment& environment, const LifecycleOptions& options,
                const SearchStore& store, std::span<const Row> rows) {
  JsonWriter json;
  json.begin_object().key("environment");
  write_environment(json, environment);
  json.member("seed", options.seed).member("effort", options.effort);
  json.member("entries", store.entries).member("log_bytes", store.log_bytes).key("rows");
  write_rows(json, rows);
  json.end_object();
  print(stdout, json_pretty(json.text()) + '\n');
}

}  // namespace

Row Pairs::row(std::string what, std::string baseline_name, Target target) const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    ratios.push_back(baseline[i] / ours[i]);
  }
  return {.what = std::move(what),
          .unit = "ms",
          .ours = summarize(ours),
          .baseline_name = std::move(baseline_name),
          .baseline = summarize(baseline),
          .ratio = summarize(ratios),
          .target = target};
}

std::string lifecycle_groups_text() {
  std::string text;
  for (const Group& group : kGroups) {
    text += fmt::format("  {:<10} {}\n", group.name, group.description);
  }
  return text;
}

Result<bool> run_lifecycle(const LifecycleOptions& options) {
  BMAD_TRY(check_filter(options.filter));
  ScratchFolder scratch;
  BMAD_TRY(scratch.make_in(options.directory));
  const Environment environment = environment_of(scratch.path());
  BMAD_TRY_ASSIGN(const SearchStore store, SearchStore::prepare(scratch.path() + "/full",
                                                                {.seed = options.seed,
                                                                 .bytes = options.bytes,
                                                                 .session_bytes = options.bytes,
                                                                 .queries = 20,
                                                                 .alone = true},
                                                                tell));
  const std::string helpers = folder_of_this_program();
  const LifecycleRun run{.store = store,
                         .folder = scratch.path(),
                         .effort = options.effort,
                         .tool = options.tool.empty() ? helpers + "/bmad-mem" : options.tool,
                         .helpers = helpers};
  if (!options.json) {
    print(stdout, environment_text(environment) +
                      fmt::format("data          {} entries in {} bytes of logs; seed {}\n"
                                  "effort        {}\n\n",
                                  store.entries, store.log_bytes, options.seed, options.effort));
  }
  const std::vector<Row> rows = run_groups(run, options.filter);
  if (options.json) {
    print_json(environment, options, store, rows);
  } else {
    print(stdout, table_text(rows));
  }
  return std::ranges::all_of(rows, [](const Row& row) { return row.problem.empty(); });
}

}  // namespace bmad_mem::bench
