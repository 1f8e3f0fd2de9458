// main.cpp - bmad-bench: how fast the store, the search and the life cycle are, how much the search
// finds, and data to measure it on.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"
#include "retrieval_ways.hpp"

namespace bmad_mem::bench {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

std::string environment_or(const char* name, std::string fallback) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : std::move(fallback);
}

int fail(const Error& error) {
  const std::string text =
      fmt::format("bmad-bench: {}: {}\n", error_code_name(error.code), error.to_string());
  std::fwrite(text.data(), 1, text.size(), stderr);
  return kFailed;
}

CLI::App* add_store(CLI::App& app, StoreOptions& options) {
  CLI::App* store = app.add_subcommand("store", "measure writing and scanning; the default");
  store->add_option("--dir", options.directory,
                    "measure the file system of this folder (TMPDIR, else /tmp)");
  store->add_option("--filter", options.filter, "only groups of rows whose name holds this");
  store->add_option("--tool", options.tool,
                    "the bmad-mem to start (BMAD_MEM_BINARY, else beside this program)");
  store->add_option("--effort", options.effort, "1 takes a minute; less is faster and proves less")
      ->check(CLI::Range(0.001, 100.0));
  store->add_option("--seed", options.seed, "of the data (1)");
  store->add_flag("--json", options.json, "one JSON object instead of a table");
  store->footer("groups of rows:\n" + store_groups_text());
  return store;
}

CLI::App* add_corpus(CLI::App& app, CorpusOptions& options) {
  CLI::App* corpus = app.add_subcommand("corpus", "write made-up memory, the same for a seed");
  corpus->add_option("--out", options.out, "new folder that becomes a memory root")->required();
  corpus->add_option("--bytes", options.bytes, "of all logs together, such as 10M (10,000,000)")
      ->transform(CLI::AsSizeValue(true));
  corpus->add_option("--session-bytes", options.session_bytes, "a new session after so many (10M)")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::Range(1, 10'000'000));
  corpus->add_option("--seed", options.seed, "of the data (1)");
  corpus->add_flag("--json", options.json, "report as one JSON object");
  return corpus;
}

CLI::App* add_search(CLI::App& app, SearchOptions& options) {
  CLI::App* search = app.add_subcommand("search", "measure queries and indexing, beside others");
  search->add_option("--dir", options.directory,
                     "make the memory in this folder (TMPDIR, else /tmp)");
  search->add_option("--filter", options.filter, "only groups of rows whose name holds this");
  search->add_option("--tool", options.tool,
                     "the bmad-mem to start (BMAD_MEM_BINARY, else beside this program)");
  search->add_option("--effort", options.effort, "1 takes a minute; less is faster, proves less")
      ->check(CLI::Range(0.001, 100.0));
  search->add_option("--bytes", options.bytes, "of the memory (10M, which the targets are for)")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::Range(100'000, 10'000'000));
  search->add_option("--seed", options.seed, "of the data and the queries (1)");
  search->add_flag("--large", options.large, "also a million entries: minutes, and 2 GB of disk");
  search
      ->add_option("--shape", options.shapes,
                   "a memory for the group left; repeatable (10mb; with --large all)")
      ->check(CLI::IsMember(left_shapes()));
  search->add_flag("--alone", options.alone,
                   "the million entries without the others, which take minutes to index them");
  search->add_option(
      "--keep", options.keep,
      "make the million entries and the shapes in this folder, and use it the next time");
  search->add_flag("--json", options.json, "one JSON object instead of a table");
  search->footer("groups of rows:\n" + search_groups_text());
  return search;
}

CLI::App* add_lifecycle(CLI::App& app, LifecycleOptions& options) {
  CLI::App* lifecycle =
      app.add_subcommand("lifecycle", "measure compaction, deletion, archives and maintenance");
  lifecycle->add_option("--dir", options.directory,
                        "make the memory in this folder (TMPDIR, else /tmp)");
  lifecycle->add_option("--filter", options.filter, "only groups of rows whose name holds this");
  lifecycle->add_option("--tool", options.tool,
                        "the bmad-mem to start (BMAD_MEM_BINARY, else beside this program)");
  lifecycle
      ->add_option("--effort", options.effort,
                   "1 takes half a minute; less is faster and proves less")
      ->check(CLI::Range(0.001, 100.0));
  lifecycle->add_option("--bytes", options.bytes, "of the session (10M, which the targets are for)")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::Range(100'000, 10'000'000));
  lifecycle->add_option("--seed", options.seed, "of the data (1)");
  lifecycle->add_flag("--json", options.json, "one JSON object instead of a table");
  lifecycle->footer("groups of rows:\n" + lifecycle_groups_text());
  return lifecycle;
}

CLI::App* add_retrieval(CLI::App& app, RetrievalOptions& options) {
  CLI::App* retrieval =
      app.add_subcommand("retrieval", "measure how often a search finds what answers a question");
  retrieval->add_option("--data", options.data,
                        "folder with corpus.jsonl and queries.jsonl (" + options.data + ")");
  retrieval->add_option("--run", options.run_file,
                        "write query id, message id and score, with tabs between, to this file");
  retrieval->add_option("--store", options.stores, "only this store of the corpus; repeatable");
  std::vector<std::string> ways = {"all"};
  for (const WayInfo& way : kWays) {
    ways.emplace_back(way.name);
  }
  retrieval
      ->add_option("--ranking", options.ranking,
                   "default: as users ask; week, month: later; text: by the text alone; slip: with "
                   "a slip of the finger; plain: BM25 (all)")
      ->check(CLI::IsMember(ways));
  retrieval->add_option("--dir", options.directory,
                        "make the memory in this folder (TMPDIR, else /tmp)");
  retrieval->add_flag("--json", options.json, "one JSON object instead of a table");
  return retrieval;
}

CLI::App* add_month(CLI::App& app, MonthOptions& options) {
  CLI::App* month = app.add_subcommand(
      "month", "measure what is found, and how fast, while a memory gets three months old");
  month->add_option("--data", options.data,
                    "folder with corpus.jsonl and queries.jsonl (" + options.data + ")");
  month->add_option("--sessions", options.sessions, "so many, made ones among them (100)")
      ->check(CLI::Range(1, 100'000));
  month->add_option("--entries", options.entries, "about so many in all (5000)")
      ->check(CLI::Range(1, 10'000'000));
  month->add_option("--dir", options.directory,
                    "make the memory in this folder (TMPDIR, else /tmp)");
  month->add_option("--seed", options.seed, "of the made sessions (1)");
  month->add_flag("--json", options.json, "one JSON object instead of tables");
  return month;
}

CLI::App* add_redact(CLI::App& app, RedactOptions& options) {
  CLI::App* redact = app.add_subcommand("redact", "measure the search for secrets in texts");
  redact->add_option("--effort", options.effort, "1 takes half a minute; less proves less")
      ->check(CLI::Range(0.001, 100.0));
  redact->add_option("--seed", options.seed, "of the data (1)");
  redact->add_flag("--json", options.json, "one JSON object instead of a table");
  return redact;
}

/// What `context` and `hooks` take, which make the same memory.
template <typename Options>
void add_agent_options(CLI::App* command, Options& options) {
  command->add_option("--dir", options.directory,
                      "make the memory in this folder (TMPDIR, else /tmp)");
  command->add_option("--tool", options.tool,
                      "the bmad-mem to start (BMAD_MEM_BINARY, else beside this program)");
  command
      ->add_option("--effort", options.effort,
                   "1 takes half a minute, most of it for 100,000 entries; less makes fewer")
      ->check(CLI::Range(0.001, 100.0));
  command
      ->add_option("--session-bytes", options.session_bytes,
                   "a new session after so many (10M); 590k makes a hundred of them")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::Range(10'000, 10'000'000));
  command->add_option("--seed", options.seed, "of the data and the tasks (1)");
  command->add_flag("--json", options.json, "one JSON object instead of a table");
}

CLI::App* add_context(CLI::App& app, ContextBenchOptions& options) {
  CLI::App* context = app.add_subcommand("context", "measure what an agent waits for its context");
  add_agent_options(context, options);
  return context;
}

CLI::App* add_hooks(CLI::App& app, HooksBenchOptions& options) {
  CLI::App* hooks = app.add_subcommand("hooks", "measure what an agent waits for its hooks");
  add_agent_options(hooks, options);
  return hooks;
}

int exit_status(const Status& done) { return done ? kDone : fail(done.error()); }

int exit_status(const Result<bool>& complete) {
  return !complete ? fail(complete.error()) : *complete ? kDone : kFailed;
}

int run(int argc, char** argv) {
  const std::string directory = std::filesystem::temp_directory_path().string();
  const std::string tool = environment_or("BMAD_MEM_BINARY", "");
  StoreOptions store_options;
  store_options.directory = directory;
  store_options.tool = tool;
  CorpusOptions corpus_options;
  SearchOptions search_options{.directory = directory, .filter = {}, .tool = tool};
  LifecycleOptions lifecycle_options{.directory = directory, .filter = {}, .tool = tool};
  RetrievalOptions retrieval_options{.directory = directory};
  MonthOptions month_options;
  month_options.directory = directory;
  RedactOptions redact_options{.directory = directory};
  ContextBenchOptions context_options{.directory = directory, .tool = tool};
  HooksBenchOptions hooks_options{.directory = directory, .tool = tool};
  CLI::App app("Benchmarks of bmad-mem: each beside a baseline of the same run.", "bmad-bench");
  app.require_subcommand(0, 1);
  add_store(app, store_options);
  const CLI::App* corpus = add_corpus(app, corpus_options);
  const CLI::App* search = add_search(app, search_options);
  const CLI::App* lifecycle = add_lifecycle(app, lifecycle_options);
  const CLI::App* retrieval = add_retrieval(app, retrieval_options);
  const CLI::App* month = add_month(app, month_options);
  const CLI::App* redact = add_redact(app, redact_options);
  const CLI::App* context = add_context(app, context_options);
  const CLI::App* hooks = add_hooks(app, hooks_options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kDone : kWrongUsage;
  }
  if (corpus->parsed()) {
    return exit_status(run_corpus(corpus_options));
  }
  if (search->parsed()) {
    return exit_status(run_search(search_options));
  }
  if (lifecycle->parsed()) {
    return exit_status(run_lifecycle(lifecycle_options));
  }
  if (retrieval->parsed()) {
    return exit_status(run_retrieval(retrieval_options));
  }
  if (month->parsed()) {
    return exit_status(run_month(month_options));
  }
  if (redact->parsed()) {
    return exit_status(run_redact(redact_options));
  }
  if (context->parsed()) {
    return exit_status(run_context(context_options));
  }
  if (hooks->parsed()) {
    return exit_status(run_hooks(hooks_options));
  }
  return exit_status(run_store(store_options));
}

}  // namespace
}  // namespace bmad_mem::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return bmad_mem::bench::run(argc, argv);
}
