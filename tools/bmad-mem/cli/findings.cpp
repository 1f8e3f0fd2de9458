#include "cli/findings.hpp"

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {

std::string finding_text(const Finding& finding) {
  std::string out = printable(finding.path);
  if (finding.line != 0) {
    out += fmt::format(":{}", finding.line);
    if (finding.column != 0) {
      out += fmt::format(":{}", finding.column);
    }
  }
  out += ": ";
  if (finding.kind == FindingKind::kTornTail) {
    out += "torn tail: ";
  }
  if (!finding.field.empty()) {
    out += printable(finding.field) + ": ";
  }
  return out + printable(finding.reason);
}

std::string finding_as_json(const Finding& finding) {
  JsonWriter json;
  json.begin_object().member("file", finding.path);
  json.member("line", finding.line).member("column", finding.column);
  json.member("offset", finding.offset).member("size", finding.size);
  json.member("kind", finding_kind_name(finding.kind)).member("field", finding.field);
  json.member("reason", finding.reason).member("session_id", finding.session_id);
  json.end_object();
  return json.take();
}

void print_findings(Tool& tool, std::span<const Finding> findings) {
  for (const Finding& finding : findings) {
    tool.out().print("{}\n", tool.json() ? finding_as_json(finding) : finding_text(finding));
  }
}

}  // namespace bmad_mem::cli
