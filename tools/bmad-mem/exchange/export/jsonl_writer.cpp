// jsonl_writer.cpp - the format that `import` takes: see export_lines.hpp. And the list of formats.
#include "exchange/export/export_lines.hpp"
#include "exchange/export/export_writer.hpp"

namespace bmad_mem::cli {
namespace {

class JsonlWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void session(const Session& session) override {
    out().print("{{\"session\":{}}}\n", session_identity(session));
  }
  void entry(const Entry& entry) override { out().print("{}\n", exported_entry(entry)); }
};

}  // namespace

std::unique_ptr<ExportWriter> make_jsonl_writer(Output& out) {
  return std::make_unique<JsonlWriter>(out);
}

std::unique_ptr<ExportWriter> make_export_writer(std::string_view format, Output& out,
                                                 Timestamp now) {
  if (format == "jsonl") {
    return make_jsonl_writer(out);
  }
  if (format == "json") {
    return make_json_writer(out, now);
  }
  if (format == "yaml") {
    return make_yaml_writer(out, now);
  }
  if (format == "markdown") {
    return make_markdown_writer(out, now);
  }
  if (format == "server-memory") {
    return make_server_memory_writer(out);
  }
  return format == "csv" ? make_csv_writer(out) : nullptr;
}

}  // namespace bmad_mem::cli
