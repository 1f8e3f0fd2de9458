// export_writer.hpp - the formats of an export. Each is written from front to back.
//
//   begin ─> ( session ─> entry... ─> end_session )... ─> end
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/exports.hpp"
#include "bmad_mem/reports.hpp"
#include "cli/output.hpp"

namespace bmad_mem::cli {

/// Writes one export. What can't be written is noted by the Output, see Output::error().
class ExportWriter {
 public:
  /// `now` is what the export says about when it was made.
  ExportWriter(Output& out, Timestamp now) : out_(out), now_(now) {}
  ExportWriter(const ExportWriter&) = delete;
  ExportWriter& operator=(const ExportWriter&) = delete;
  virtual ~ExportWriter() = default;

  virtual void begin() {}
  virtual void session(const Session& session) = 0;
  virtual void entry(const Entry& entry) = 0;
  virtual void end_session() {}
  virtual void end() {}

 protected:
  [[nodiscard]] Output& out() { return out_; }
  [[nodiscard]] Timestamp now() const { return now_; }

 private:
  Output& out_;
  Timestamp now_;
};

inline constexpr std::array<std::string_view, 6> kExportFormats = {
    "jsonl", "json", "yaml", "markdown", "csv", "server-memory"};

/// The writer of this format, one of kExportFormats; null for any other.
std::unique_ptr<ExportWriter> make_export_writer(std::string_view format, Output& out,
                                                 Timestamp now);

/// From the memory to a writer. Ends as soon as the output takes no more.
class WritingVisitor final : public ExportVisitor {
 public:
  /// Without `writer` nothing is written. `problems` are to be told when the progress bar is gone.
  WritingVisitor(ExportWriter* writer, const Output& out, Progress& progress,
                 std::vector<Error>& problems)
      : writer_(writer), out_(out), progress_(progress), problems_(problems) {}

  Status on_session(const Session& session) override {
    return write([&](ExportWriter& writer) { writer.session(session); });
  }
  Status on_entry(const Entry& entry) override {
    return write([&](ExportWriter& writer) { writer.entry(entry); });
  }
  Status on_session_end() override {
    return write([](ExportWriter& writer) { writer.end_session(); });
  }
  void on_problem(const Error& problem) override { problems_.push_back(problem); }
  void on_progress(std::uint64_t done, std::uint64_t total) override {
    progress_.show(done, total);
  }

 private:
  template <typename Write>
  Status write(const Write& write) {
    if (writer_ != nullptr) {
      write(*writer_);
    }
    return out_.error() == 0
               ? Status()
               : Error{.message = "the output takes no more", .os_error = out_.error()};
  }

  ExportWriter* writer_;
  const Output& out_;
  Progress& progress_;
  std::vector<Error>& problems_;
};

std::unique_ptr<ExportWriter> make_markdown_writer(Output& out, Timestamp now);

}  // namespace bmad_mem::cli
