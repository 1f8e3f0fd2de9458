// search_command.cpp - `bmad-bench search`: where it runs, then every row of the table.
#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "commands.hpp"
#include "environment.hpp"
#include "scratch_folder.hpp"
#include "search_rows.hpp"

namespace bmad_mem::bench {
namespace {

struct Group {
  std::string_view name;
  std::string_view description;
  SearchRows (*run)(const SearchRun& run);
};

constexpr auto kGroups = std::to_array<Group>({
    {"warm", "queries in one process, beside FTS5 and Xapian; the overlap of results", warm_rows},
    {"cold", "bmad-mem query as a whole process, beside the others and ripgrep", cold_rows},
    {"rebuild", "indexing anew, and the size of the index", rebuild_rows},
    {"append", "the longest append, an import, and what the query that seals the new takes",
     append_rows},
    {"left", "memories as ordinary writes leave them; the shapes that --shape names", left_rows},
    {"large", "a million entries in 200 sessions; only with --large or --keep", large_rows},
});

void print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
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
                                      search_groups_text())};
}

std::vector<Row> run_groups(const SearchRun& run, std::string_view filter) {
  std::vector<Row> rows;
  for (const Group& group : kGroups) {
    if (!is_chosen(group, filter)) {
      continue;
    }
    tell(fmt::format("measuring {}: {}", group.name, group.description));
    const SearchRows measured = group.run(run);
    if (measured) {
      rows.insert(rows.end(), measured->begin(), measured->end());
    } else {
      rows.push_back(not_measured(std::string(group.name), measured.error().to_string()));
    }
  }
  return rows;
}

std::string data_text(const SearchOptions& options, const SearchStore& store) {
  return fmt::format(
      "data          {} entries in {} bytes of logs; {} queries of 1 to 5 words, OR; seed {}\n"
      "effort        {}\n\n",
      store.entries, store.log_bytes, store.queries.size(), options.seed, options.effort);
}

void print_json(const Environment& environment, const SearchOptions& options,
                const SearchStore& store, std::span<const Row> rows) {
  JsonWriter json;
  json.begin_object().key("environment");
  write_environment(json, environment);
  json.member("seed", options.seed).member("effort", options.effort);
  json.member("entries", store.entries).member("log_bytes", store.log_bytes);
  json.member("queries", std::uint64_t{store.queries.size()}).key("rows");
  write_rows(json, rows);
  json.end_object();
  print(stdout, json_pretty(json.text()) + '\n');
}

/// 200 at effort 1, and not more; a few at least.
std::size_t query_count(const SearchOptions& options) {
  constexpr double kFull = 200;
  constexpr double kLeast = 10;
  return static_cast<std::size_t>(std::clamp(options.effort * kFull, kLeast, kFull));
}

std::string large_folder(const SearchOptions& options, const ScratchFolder& scratch) {
  if (!options.keep.empty()) {
    return options.keep;
  }
  return options.large ? scratch.path() + "/large" : "";
}

std::vector<std::string> chosen_shapes(const SearchOptions& options) {
  if (options.shapes.empty()) {
    return options.large ? left_shapes() : std::vector<std::string>{left_shapes().front()};
  }
  return options.shapes;
}

}  // namespace

std::string search_groups_text() {
  std::string text;
  for (const Group& group : kGroups) {
    text += fmt::format("  {:<10} {}\n", group.name, group.description);
  }
  return text;
}

Result<bool> run_search(const SearchOptions& options) {
  BMAD_TRY(check_filter(options.filter));
  ScratchFolder scratch;
  BMAD_TRY(scratch.make_in(options.directory));
  const Environment environment = environment_of(scratch.path());
  BMAD_TRY_ASSIGN(const SearchStore store, SearchStore::prepare(scratch.path() + "/store",
                                                                {.seed = options.seed,
                                                                 .bytes = options.bytes,
                                                                 .session_bytes = options.bytes,
                                                                 .queries = query_count(options),
                                                                 .keep_texts = true},
                                                                tell));
  const std::string helpers = folder_of_this_program();
  const SearchRun run{.store = store,
                      .large_folder = large_folder(options, scratch),
                      .left_shapes = chosen_shapes(options),
                      .left_folder = options.keep.empty() ? scratch.path() : options.keep,
                      .left_share = static_cast<double>(options.bytes) / 10e6,
                      .effort = options.effort,
                      .seed = options.seed,
                      .alone = options.alone,
                      .tool = options.tool.empty() ? helpers + "/bmad-mem" : options.tool,
                      .helpers = helpers,
                      .progress = tell};
  if (!options.json) {
    print(stdout, environment_text(environment) + data_text(options, store));
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
