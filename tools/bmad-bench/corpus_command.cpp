// corpus_command.cpp - `bmad-bench corpus`: a memory root full of made-up memory.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "commands.hpp"
#include "corpus_writer.hpp"
#include "stopwatch.hpp"

namespace bmad_mem::bench {
namespace {

/// Adding to a root that holds something would make data that no seed describes.
Status check_out(const std::string& out) {
  std::error_code error;
  if (std::filesystem::exists(out, error) && !std::filesystem::is_empty(out, error)) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "is not empty; name a folder that is, or none",
                 .path = out};
  }
  return {};
}

std::string report_text(const CorpusOptions& options, const CorpusReport& report, double seconds) {
  return fmt::format(
      "{}: {} records, {} bytes, {} tokens, {} sessions, seed {}, FNV-1a {:016x}, {:.1f} s\n",
      options.out, report.records, report.bytes, report.tokens, report.sessions.size(),
      options.seed, report.hash, seconds);
}

std::string report_json(const CorpusOptions& options, const CorpusReport& report) {
  JsonWriter json;
  json.begin_object().member("root", options.out).member("seed", options.seed);
  json.member("records", report.records).member("bytes", report.bytes);
  json.member("tokens", report.tokens).member("fnv1a", fmt::format("{:016x}", report.hash));
  json.key("sessions").begin_array();
  for (const std::string& session : report.sessions) {
    json.string(session);
  }
  json.end_array().end_object();
  return json.take() + '\n';
}

}  // namespace

Status run_corpus(const CorpusOptions& options) {
  BMAD_TRY(check_out(options.out));
  BMAD_TRY(init_roomy_root(options.out));
  const double begin = wall_seconds();
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const CorpusProgress show = [&](std::uint64_t bytes) {
    const std::string text = fmt::format("\r{:3} %", bytes * 100 / options.bytes);
    std::fwrite(text.data(), 1, text.size(), stderr);
  };
  Corpus corpus(options.seed);
  BMAD_TRY_ASSIGN(const CorpusReport report,
                  write_corpus(corpus, options.out,
                               {.bytes = options.bytes, .session_bytes = options.session_bytes},
                               terminal ? show : CorpusProgress()));
  if (terminal) {
    std::fputs("\r     \r", stderr);
  }
  const std::string text = options.json ? report_json(options, report)
                                        : report_text(options, report, wall_seconds() - begin);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return {};
}

}  // namespace bmad_mem::bench
