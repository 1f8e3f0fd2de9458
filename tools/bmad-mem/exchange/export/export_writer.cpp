// export_writer.cpp - writes exports as JSONL, JSON, YAML, CSV and as a graph file.
#include "exchange/export/export_writer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "cli/text.hpp"
#include "exchange/graph/graph.hpp"

namespace bmad_mem::cli {
namespace {

/// What `import` takes: see export_writer.hpp.
class JsonlWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void session(const Session& session) override {
    out().print("{{\"session\":{}}}\n", session_identity(session));
  }
  void entry(const Entry& entry) override { out().print("{}\n", exported_entry(entry)); }
};

/// One JSON document:
///
///   {"version":1,"exported_at":"…","sessions":[
///   {"session_id":"s1","created_at":"…","entries":[
///   {"type":"decision","id":"dec-1",…},
///   {"type":"fact","id":"fact-1",…}
///   ]}
///   ]}
class JsonDocumentWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void begin() override {
    out().print("{{\"version\":1,\"exported_at\":\"{}\",\"sessions\":[", format_rfc3339(now()));
  }
  void session(const Session& session) override {
    std::string identity = session_identity(session);
    assert(identity.ends_with('}'));
    identity.pop_back();
    out().print("{}\n{},\"entries\":[", sessions_++ == 0 ? "" : ",", identity);
    entries_ = 0;
  }
  void entry(const Entry& entry) override {
    assert(sessions_ > 0 && "a session comes before its entries");
    out().print("{}\n{}", entries_++ == 0 ? "" : ",", exported_entry_of_session(entry));
  }
  void end_session() override { out().write("\n]}"); }
  void end() override { out().write("\n]}\n"); }

 private:
  std::size_t sessions_ = 0;
  std::size_t entries_ = 0;
};

/// Spreadsheets take a field that begins so for a formula, which may run programs. It gets a ' in
/// front, which they don't show.
bool may_be_formula(std::string_view field) {
  // The last four are the wide forms of the first, which some programs take for the same.
  static constexpr std::array<std::string_view, 11> kStarts = {
      "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  return std::ranges::any_of(kStarts,
                             [&](std::string_view start) { return field.starts_with(start); });
}

std::string csv_field(std::string_view text) {
  const bool guarded = may_be_formula(text);
  const bool quoted = text.find_first_of(",\"\r\n\t;") != std::string_view::npos ||
                      text.starts_with(' ') || text.ends_with(' ');
  if (!guarded && !quoted) {
    return std::string(text);
  }
  std::string out = quoted ? "\"" : "";
  out += guarded ? "'" : "";
  for (const char c : text) {
    out += c;
    if (c == '"') {
      out += '"';
    }
  }
  return out + (quoted ? "\"" : "");
}

/// A table: RFC 4180, UTF-8, a row for each entry. The last column is the entry as JSON, unchanged.
class CsvWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void begin() override {
    out().write("session_id,type,id,timestamp,who,tags,pinned,sensitive,text,json\r\n");
  }
  void entry(const Entry& entry) override {
    const EntryContent content(entry);
    std::string row;
    for (const std::string_view field : {std::string_view(entry.session_id),
                                         entry_type_name(entry.type), std::string_view(entry.id)}) {
      row += csv_field(field) + ",";
    }
    row += csv_field(content.text("timestamp")) + "," + csv_field(entry.who) + ",";
    row += csv_field(joined(content.texts("tags"))) + ",";
    row += entry.pinned ? "true," : "false,";
    row += content["sensitive"].boolean() ? "true," : "false,";
    row += csv_field(content.main_text()) + "," + csv_field(entry.json);
    out().print("{}\r\n", row);
  }
};

/// The file of the reference memory server, see graph.hpp. All entities come before all relations,
/// so the graph is gathered first.
class ServerMemoryWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void entry(const Entry& entry) override {
    const Result<JsonValue> value = parser_.parse(entry.json);
    if (!value || entry.type != EntryType::kFact) {
      return;
    }
    if (auto item = graph_item_from(*value)) {
      graph_.add(entry.id, std::move(*item));
    }
  }
  void end() override { out().write(graph_file_text(graph_.graph())); }

 private:
  JsonParser parser_;
  GraphBuilder graph_;
};

template <typename Writer>
std::unique_ptr<ExportWriter> make(Output& out, Timestamp now) {
  return std::make_unique<Writer>(out, now);
}

}  // namespace

std::unique_ptr<ExportWriter> make_export_writer(std::string_view format, Output& out,
                                                 Timestamp now) {
  using Format = std::pair<std::string_view, std::unique_ptr<ExportWriter> (*)(Output&, Timestamp)>;
  static constexpr std::array<Format, 6> kFormats = {{{"jsonl", make<JsonlWriter>},
                                                      {"json", make<JsonDocumentWriter>},
                                                      {"yaml", make_yaml_writer},
                                                      {"markdown", make_markdown_writer},
                                                      {"csv", make<CsvWriter>},
                                                      {"server-memory", make<ServerMemoryWriter>}}};
  const auto* const found = std::ranges::find(kFormats, format, &Format::first);
  return found == kFormats.end() ? nullptr : found->second(out, now);
}

}  // namespace bmad_mem::cli
