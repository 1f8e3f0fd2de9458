// main.cpp - bmad-bench: how fast the store is, and data to measure it on.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.hpp"

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

int run(int argc, char** argv) {
  StoreOptions store_options;
  store_options.directory = std::filesystem::temp_directory_path().string();
  store_options.tool = environment_or("BMAD_MEM_BINARY", "");
  CorpusOptions corpus_options;
  CLI::App app("Benchmarks of bmad-mem: each beside a baseline of the same run.", "bmad-bench");
  app.require_subcommand(0, 1);
  add_store(app, store_options);
  const CLI::App* corpus = add_corpus(app, corpus_options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? kDone : kWrongUsage;
  }
  if (corpus->parsed()) {
    const Status done = run_corpus(corpus_options);
    return done ? kDone : fail(done.error());
  }
  const Result<bool> complete = run_store(store_options);
  if (!complete) {
    return fail(complete.error());
  }
  return *complete ? kDone : kFailed;
}

}  // namespace
}  // namespace bmad_mem::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return bmad_mem::bench::run(argc, argv);
}
