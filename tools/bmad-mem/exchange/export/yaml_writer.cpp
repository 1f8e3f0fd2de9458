// yaml_writer.cpp - the document of json_writer.cpp as YAML.
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "exchange/export/export_lines.hpp"
#include "exchange/export/export_writer.hpp"
#include "exchange/export/yaml_text.hpp"

namespace bmad_mem::cli {
namespace {

class YamlWriter final : public ExportWriter {
 public:
  YamlWriter(Output& out, Timestamp now) : ExportWriter(out), now_(now) {}

  void begin() override {
    out().print("version: 1\nexported_at: {}\n", yaml_scalar(format_rfc3339(now_)));
  }
  void session(const Session& session) override {
    out().write(sessions_++ == 0 ? "sessions:\n" : "");
    put("  - ", session_identity(session), 4);
    entries_ = 0;
  }
  void entry(const Entry& entry) override {
    out().write(entries_++ == 0 ? "    entries:\n" : "");
    put("      - ", exported_entry_of_session(entry), 8);
  }
  void end_session() override { out().write(entries_ == 0 ? "    entries: []\n" : ""); }
  void end() override { out().write(sessions_ == 0 ? "sessions: []\n" : ""); }

 private:
  void put(std::string_view front, const std::string& json, std::size_t indent) {
    const Result<JsonValue> value = parser_.parse(json);
    if (value) {
      std::string text(front);
      append_yaml_members(text, *value, json, indent);
      out().write(text);
    }
  }

  Timestamp now_;
  JsonParser parser_;
  std::size_t sessions_ = 0;
  std::size_t entries_ = 0;
};

}  // namespace

std::unique_ptr<ExportWriter> make_yaml_writer(Output& out, Timestamp now) {
  return std::make_unique<YamlWriter>(out, now);
}

}  // namespace bmad_mem::cli
