// export_writer.hpp - the formats of an export. Each is written from front to back.
//
//   begin ─> ( session ─> entry... ─> end_session )... ─> end
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/exports.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "cli/output.hpp"

namespace bmad_mem::cli {

/// Writes one export; this one writes nothing. What can't be written is noted by the Output, see
/// Output::error(): then the export ends.
class ExportWriter : public ExportVisitor {
 public:
  /// `now` is what the export says about when it was made.
  ExportWriter(Output& out, Timestamp now) : out_(out), now_(now) {}

  virtual void begin() {}
  virtual void session(const Session& /*session*/) {}
  virtual void entry(const Entry& /*entry*/) {}
  virtual void end_session() {}
  virtual void end() {}

  Status on_session(const Session& each) final {
    session(each);
    return state();
  }
  Status on_entry(const Entry& each) final {
    entry(each);
    return state();
  }
  Status on_session_end() final {
    end_session();
    return state();
  }
  void on_problem(const Error& problem) final { problems.push_back(problem); }
  void on_progress(std::uint64_t done, std::uint64_t total) final {
    if (progress != nullptr) {
      progress->show(done, total);
    }
  }

  Progress* progress = nullptr;      ///< Null: none is shown.
  std::vector<Error> problems = {};  ///< To be told when the progress bar is gone.

 protected:
  [[nodiscard]] Output& out() { return out_; }
  [[nodiscard]] Timestamp now() const { return now_; }

 private:
  [[nodiscard]] Status state() const {
    return out_.error() == 0
               ? Status()
               : Error{.message = "the output takes no more", .os_error = out_.error()};
  }

  Output& out_;
  Timestamp now_;
};

/// The writer of this format, such as "jsonl"; null for one that is none.
std::unique_ptr<ExportWriter> make_export_writer(std::string_view format, Output& out,
                                                 Timestamp now);

std::unique_ptr<ExportWriter> make_yaml_writer(Output& out, Timestamp now);
std::unique_ptr<ExportWriter> make_markdown_writer(Output& out, Timestamp now);

// The lines of an export in JSONL, both ways.
//
//   {"session":{"session_id":"s1","created_at":"2026-01-11T10:00:00Z","user_id":"user-789"}}
//   {"session_id":"s1","type":"decision","id":"dec-1","timestamp":"…","decision":"…"}
//
// Behind "session_id" and "type" stands the entry as its log has it, byte for byte. A member of its
// own of one of these names goes behind its type: "finding_type", see json_text.hpp.

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
  explicit EntryContent(const Entry& entry) : entry_(entry), value_(entry.json) {}

  [[nodiscard]] JsonValue operator[](std::string_view key) const { return value_[key]; }
  /// A string as it is, anything else as JSON; empty when there is no such member, or null.
  [[nodiscard]] std::string text(std::string_view key) const;
  /// The strings of a list, or the one string that stands in its place.
  [[nodiscard]] std::vector<std::string> texts(std::string_view key) const;
  /// What the entry says, in one text.
  [[nodiscard]] std::string main_text() const;

 private:
  const Entry& entry_;
  ParsedJson value_;
};

// Texts of entries inside documents that they must not break.
//
// Markdown: what an entry says often is Markdown itself: headings, fences, HTML. It stands in a
// quote, which no block can leave, and what would still act there (headings, HTML, images, link
// definitions) is escaped. Fenced code keeps its text: its fence is made anew, longer than any in
// it.

/// `text` as a quote: each line behind `front` and "> ". Ends in '\n'.
std::string markdown_quote(std::string_view text, std::string_view front = {});

/// `text` on one line, for headings, lists and tables: nothing in it is Markdown any more.
std::string markdown_inline(std::string_view text);

/// `text` on one line as code, "`text`".
std::string markdown_code(std::string_view text);

/// `text` in a fence that it cannot close. Ends in '\n'.
std::string markdown_fence(std::string_view text, std::string_view language,
                           std::string_view front = {});

}  // namespace bmad_mem::cli
