// export_writer.hpp - the formats of an export. Each is written from front to back.
//
//   begin ─> ( session ─> entry... ─> end_session )... ─> end
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "bmad_mem/clock.hpp"
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

std::unique_ptr<ExportWriter> make_markdown_writer(Output& out, Timestamp now);

}  // namespace bmad_mem::cli
