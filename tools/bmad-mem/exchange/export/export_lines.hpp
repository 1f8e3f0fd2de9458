// export_lines.hpp - the lines of an export in JSONL, both ways.
//
//   {"session":{"session_id":"s1","created_at":"2026-01-11T10:00:00Z","user_id":"user-789"}}
//   {"session_id":"s1","type":"decision","id":"dec-1","timestamp":"…","decision":"…"}
//
// Behind "session_id" and "type" stands the entry as its log has it, byte for byte. A member of its
// own of one of these names goes behind its type: "finding_type", see added_members.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::cli {

/// Whether the beginning of a file is that of an export, in JSONL or as one JSON document.
bool looks_like_export(std::string_view beginning);
/// Whether it is that of one JSON document.
bool is_export_document(std::string_view beginning);

/// Who the session is, as an object: what is unknown or empty is left out.
std::string session_identity(const Session& session);
/// The way back. Errors: E_SCHEMA_INVALID with field.
Result<Session> read_session_identity(JsonValue identity);

/// `{"session_id":…,"type":…,` and the entry.
std::string exported_entry(const Entry& entry);
/// `{"type":…,` and the entry, where the session is known from around it.
std::string exported_entry_of_session(const Entry& entry);
/// The way back: the entry as it stood in its log. `text` is what exported_entry() gave, `type`
/// the name of its type.
std::string stored_entry(std::string_view text, std::string_view type);

/// An entry's JSON, taken apart. `entry` must outlive it.
class EntryContent {
 public:
  explicit EntryContent(const Entry& entry);

  [[nodiscard]] JsonValue operator[](std::string_view key) const { return value_[key]; }
  /// A string as it is, anything else as JSON; empty when there is no such member, or null.
  [[nodiscard]] std::string text(std::string_view key) const;
  /// The strings of a list, or the one string that stands in its place.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  /// What the entry says, in one text.
  [[nodiscard]] std::string main_text() const;

 private:
  const Entry& entry_;
  JsonParser parser_;
  JsonValue value_;
};

}  // namespace bmad_mem::cli
