// csv_writer.cpp - an export as a table: RFC 4180, UTF-8, a row for each entry.
//
// Spreadsheets take a field that begins with = + - @ for a formula, which may run programs. Such a
// field gets a ' in front, which they don't show. The last column is the entry as JSON, unchanged.
#include <array>

#include "bmad_mem/rfc3339.hpp"
#include "exchange/export/entry_content.hpp"
#include "exchange/export/export_writer.hpp"
#include "text.hpp"

namespace bmad_mem::cli {
namespace {

bool may_be_formula(std::string_view field) {
  // The last four are the wide forms of the first, which some programs take for the same.
  static constexpr std::array<std::string_view, 11> kStarts = {
      "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"};
  for (const std::string_view start : kStarts) {
    if (field.starts_with(start)) {
      return true;
    }
  }
  return false;
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

class CsvWriter final : public ExportWriter {
 public:
  using ExportWriter::ExportWriter;

  void begin() override {
    out().write("session_id,type,id,timestamp,who,tags,pinned,sensitive,text,json\r\n");
  }
  void session(const Session& /*session*/) override {}
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

}  // namespace

std::unique_ptr<ExportWriter> make_csv_writer(Output& out) {
  return std::make_unique<CsvWriter>(out);
}

}  // namespace bmad_mem::cli
