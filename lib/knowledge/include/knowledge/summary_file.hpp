// summary_file.hpp - summary.md: what it begins as, and what it may become.
//
//   ---
//   last_summarized_id: msg-01kaxx8v04q7m2s
//   updated_at: 2026-01-11T10:05:23Z
//   ---
//   # Session summary
//
//   ## Current state
//   …
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"

namespace bmad_mem {

/// How the file is called where people and models are told about it.
inline constexpr std::string_view kSummaryFileName = "summary.md";
/// In the front matter: when the summary was last written by an update.
inline constexpr std::string_view kSummaryUpdatedAt = "updated_at";

/// Most that a summary may be: what a prompt can still bear beside the messages.
inline constexpr std::size_t kSummarySizeMax = 64U << 10U;
inline constexpr std::size_t kSummaryTokensMax = 12'000;

/// What a summary begins as, without front matter.
std::string_view summary_template();

/// Whether `body` says nothing yet: there is nothing in it but headings and lines of the template.
bool is_empty_summary(std::string_view body);

/// The headings in `body` ("## Task"), in order; what stands in fences is none.
std::vector<std::string_view> summary_headings(std::string_view body);

/// `text` as valid UTF-8 with '\n' ends and no character that steers: no controls but tab and
/// newline, no changes of direction, no invisible tags.
std::string without_controls(std::string_view text);

// A text with a few named values in front of it, as summary.md has them.
//
//   ---
//   last_summarized_id: msg-01kaxx8v04q7m2s
//   mine: kept as it is
//   ---
//   # Summary
//
// One value a line. Lines that nobody set keep their bytes, and so does what follows. A text that
// does not begin so is all body.

class FrontMatter {
 public:
  explicit FrontMatter(std::string_view text);

  /// The value of `key`, without the quotes and blanks around it; empty when there is none.
  [[nodiscard]] std::string value(std::string_view key) const;
  /// Replaces the line of `key`, or adds one at the end.
  void set(std::string_view key, std::string_view value);

  [[nodiscard]] const std::string& body() const { return body_; }
  void set_body(std::string body) { body_ = std::move(body); }

  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<std::string> lines_;
  std::string body_;
};

/// Its name in the front matter of summary.md.
inline constexpr std::string_view kLastSummarizedId = "last_summarized_id";

/// Id of the last message that the summary covers; empty without a summary, or when it names none.
std::string last_summarized_id(FileSystem& files, std::string_view session_id);

}  // namespace bmad_mem
