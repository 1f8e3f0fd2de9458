// json_writer.cpp - an export as one JSON document:
//
//   {"version":1,"exported_at":"…","sessions":[
//   {"session_id":"s1","created_at":"…","entries":[
//   {"type":"decision","id":"dec-1",…},
//   {"type":"fact","id":"fact-1",…}
//   ]}
//   ]}
#include "bmad_mem/rfc3339.hpp"
#include "exchange/export/export_lines.hpp"
#include "exchange/export/export_writer.hpp"

namespace bmad_mem::cli {
namespace {

class JsonDocumentWriter final : public ExportWriter {
 public:
  JsonDocumentWriter(Output& out, Timestamp now) : ExportWriter(out), now_(now) {}

  void begin() override {
    out().print("{{\"version\":1,\"exported_at\":\"{}\",\"sessions\":[", format_rfc3339(now_));
  }
  void session(const Session& session) override {
    std::string identity = session_identity(session);
    identity.pop_back();
    out().print("{}\n{},\"entries\":[", sessions_++ == 0 ? "" : ",", identity);
    entries_ = 0;
  }
  void entry(const Entry& entry) override {
    out().print("{}\n{}", entries_++ == 0 ? "" : ",", exported_entry_of_session(entry));
  }
  void end_session() override { out().write("\n]}"); }
  void end() override { out().write("\n]}\n"); }

 private:
  Timestamp now_;
  std::size_t sessions_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace

std::unique_ptr<ExportWriter> make_json_writer(Output& out, Timestamp now) {
  return std::make_unique<JsonDocumentWriter>(out, now);
}

}  // namespace bmad_mem::cli
