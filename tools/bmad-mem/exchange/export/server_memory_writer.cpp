// server_memory_writer.cpp - the file of the reference memory server, see graph/graph_file.hpp.
#include <utility>

#include "bmad_mem/json_parser.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/graph/graph_file.hpp"

namespace bmad_mem::cli {
namespace {

/// All entities come before all relations, so the graph is gathered first.
class ServerMemoryWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void session(const Session& /*session*/) override {}
  void entry(const Entry& entry) override {
    const Result<JsonValue> value = parser_.parse(entry.json);
    if (!value || entry.type != EntryType::kFact) {
      return;
    }
    if (auto item = graph_item_from(*value)) {
      graph_.add(entry.id, std::move(*item));
    }
  }
  void end() override { out().write(graph_file_text(graph_.build())); }

 private:
  JsonParser parser_;
  GraphBuilder graph_;
};

}  // namespace

std::unique_ptr<ExportWriter> make_server_memory_writer(Output& out) {
  return std::make_unique<ServerMemoryWriter>(out);
}

}  // namespace bmad_mem::cli
