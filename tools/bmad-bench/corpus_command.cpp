// corpus_command.cpp - `bmad-bench corpus`: a memory root full of made-up memory.
#include <filesystem>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "corpus.hpp"
#include "machine.hpp"
#include "rows.hpp"

namespace bmad_mem::bench {

void run_corpus(const Options& options) {
  ensure(!options.out.empty(), "name a new folder with --out");
  std::error_code error;
  if (std::filesystem::exists(options.out, error) &&
      !std::filesystem::is_empty(options.out, error)) {
    // Adding to a root that holds something would make data that no seed describes.
    throw Error{.message = "is not empty; name a folder that is, or none", .path = options.out};
  }
  init_roomy_root(options.out);
  const double begin = wall_seconds();
  Corpus corpus(options.seed);
  const CorpusReport report = write_corpus(
      corpus, options.out, {.bytes = options.bytes, .session_bytes = options.session_bytes});
  if (!options.json) {
    return print(fmt::format(
        "{}: {} records, {} bytes, {} tokens, {} sessions, seed {}, FNV-1a {:016x}, {:.1f} s\n",
        options.out, report.records, report.bytes, report.tokens, report.sessions.size(),
        options.seed, report.hash, wall_seconds() - begin));
  }
  JsonWriter json;
  json.begin_object().member("root", options.out).member("seed", options.seed);
  json.member("records", report.records).member("bytes", report.bytes);
  json.member("tokens", report.tokens).member("fnv1a", fmt::format("{:016x}", report.hash));
  json.key("sessions").begin_array();
  for (const std::string& session : report.sessions) {
    json.string(session);
  }
  print(json.end_array().end_object().take() + '\n');
}

}  // namespace bmad_mem::bench
