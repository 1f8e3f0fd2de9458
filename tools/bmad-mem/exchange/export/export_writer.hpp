// export_writer.hpp - the formats of an export. Each is written from front to back.
//
//   begin ─> ( session ─> entry... ─> end_session )... ─> end
#pragma once

#include <array>
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

/// Writes one export. What can't be written is noted by the Output, see Output::error().
class ExportWriter {
 public:
  /// `now` is what the export says about when it was made.
  ExportWriter(Output& out, Timestamp now) : out_(out), now_(now) {}
  ExportWriter(const ExportWriter&) = delete;
  ExportWriter& operator=(const ExportWriter&) = delete;
  virtual ~ExportWriter() = default;

  virtual void begin() {}
  virtual void session(const Session& session) = 0;
  virtual void entry(const Entry& entry) = 0;
  virtual void end_session() {}
  virtual void end() {}

 protected:
  [[nodiscard]] Output& out() { return out_; }
  [[nodiscard]] Timestamp now() const { return now_; }

 private:
  Output& out_;
  Timestamp now_;
};

inline constexpr std::array<std::string_view, 6> kExportFormats = {
    "jsonl", "json", "yaml", "markdown", "csv", "server-memory"};

/// The writer of this format, one of kExportFormats; null for any other.
std::unique_ptr<ExportWriter> make_export_writer(std::string_view format, Output& out,
                                                 Timestamp now);

/// From the memory to a writer. Ends as soon as the output takes no more.
class WritingVisitor final : public ExportVisitor {
 public:
  /// Without `writer` nothing is written; `progress` may be null as well. `problems` are to be told
  /// when the progress bar is gone.
  WritingVisitor(ExportWriter* writer, const Output& out, Progress* progress,
                 std::vector<Error>& problems)
      : writer_(writer), out_(out), progress_(progress), problems_(problems) {}

  Status on_session(const Session& session) override {
    return write([&](ExportWriter& writer) { writer.session(session); });
  }
  Status on_entry(const Entry& entry) override {
    return write([&](ExportWriter& writer) { writer.entry(entry); });
  }
  Status on_session_end() override {
    return write([](ExportWriter& writer) { writer.end_session(); });
  }
  void on_problem(const Error& problem) override { problems_.push_back(problem); }
  void on_progress(std::uint64_t done, std::uint64_t total) override {
    if (progress_ != nullptr) {
      progress_->show(done, total);
    }
  }

 private:
  template <typename Write>
  Status write(const Write& write) {
    if (writer_ != nullptr) {
      write(*writer_);
    }
    return out_.error() == 0
               ? Status()
               : Error{.message = "the output takes no more", .os_error = out_.error()};
  }

  ExportWriter* writer_;
  const Output& out_;
  Progress* progress_;
  std::vector<Error>& problems_;
};

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

// Texts and values of entries inside documents that they must not break.
//
// Markdown: what an entry says often is Markdown itself: headings, fences, HTML. It stands in a
// quote, which no block can leave, and what would still act there (headings, HTML, images, link
// definitions) is escaped. Fenced code keeps its text: its fence is made anew, longer than any in
// it.
//
// YAML: 1.2 in block style, so that readers of YAML 1.1 take the values for the same: "yes", "1:30"
// and times are quoted.
//
//   id: dec-1
//   tags:
//     - db
//   rationale: |-
//     First line
//     second line

/// `text` as a quote: each line behind `front` and "> ". Ends in '\n'.
std::string markdown_quote(std::string_view text, std::string_view front = {});

/// `text` on one line, for headings, lists and tables: nothing in it is Markdown any more.
std::string markdown_inline(std::string_view text);

/// `text` on one line as code, "`text`".
std::string markdown_code(std::string_view text);

/// `text` in a fence that it cannot close. Ends in '\n'.
std::string markdown_fence(std::string_view text, std::string_view language,
                           std::string_view front = {});

/// `text` as a scalar on one line: plain where that can mean nothing else, else in double quotes.
std::string yaml_scalar(std::string_view text);

/// Appends the members of `object`, a line or more each, indented by `indent` blanks; the first one
/// without the blanks. `raw` is the JSON text that `object` was parsed from: numbers keep their
/// form. Appends "{}\n" when there are none.
void append_yaml_members(std::string& out, JsonValue object, std::string_view raw,
                         std::size_t indent);

}  // namespace bmad_mem::cli
