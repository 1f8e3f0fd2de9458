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
#include "output.hpp"

namespace bmad_mem::cli {

/// Writes one export. What can't be written is noted by the Output, see Output::error().
class ExportWriter {
 public:
  explicit ExportWriter(Output& out) : out_(out) {}
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

 private:
  Output& out_;
};

inline constexpr std::array<std::string_view, 6> kExportFormats = {
    "jsonl", "json", "yaml", "markdown", "csv", "server-memory"};

/// The writer of this format, one of kExportFormats; null for any other. `now` is what the export
/// says about when it was made.
std::unique_ptr<ExportWriter> make_export_writer(std::string_view format, Output& out,
                                                 Timestamp now);

// One for each format, for make_export_writer() and tests.
std::unique_ptr<ExportWriter> make_jsonl_writer(Output& out);
std::unique_ptr<ExportWriter> make_json_writer(Output& out, Timestamp now);
std::unique_ptr<ExportWriter> make_yaml_writer(Output& out, Timestamp now);
std::unique_ptr<ExportWriter> make_markdown_writer(Output& out, Timestamp now);
std::unique_ptr<ExportWriter> make_csv_writer(Output& out);
std::unique_ptr<ExportWriter> make_server_memory_writer(Output& out);

}  // namespace bmad_mem::cli
