// field_texts.hpp - what texts say of the fields of entries, out of the table.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// `text`, of help or JSON, with what the table says in place of
///   {filter fields}       status, severity, … and context.NAME
///   {fields by type}      decision: rationale, impact (low|medium|high|critical), … finding: …
///   "{record fields}":{}  "role":{"description":"Who speaks.","enum":["user", …]}, …
std::string with_fields(std::string_view text);

/// For each type a table in Markdown, of all its fields.
std::string field_tables();

}  // namespace bmad_mem::cli
