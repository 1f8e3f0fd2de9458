// import_formats.hpp - what can be imported: a row for each format. What --from and --format take,
// `import --list`, and how a file is recognised follow from it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bmad_mem::cli {

struct ImportClient;

enum class ImportFormat : std::uint8_t {
  kAuto,
  kEntries,
  kOwnExport,
  kClaudeCode,
  kCodex,
  kCodexMemories,
  kGemini,
  kQwen,
  kCopilot,
  kAider,
  kCline,
  kOpencode,
  kLetta,
  kClaudeMem,
  kCursor,
  kServerMemory,
  kBasicMemory,
  kMarkdown,
  kMem0,
  kChatgpt,
  kJsonl,  ///< kEntries or kOwnExport, whichever it is.
};

struct ImportRow {
  ImportFormat format;
  std::string_view name;                 ///< What --from and --format take.
  std::string_view title;                ///< What it is, for people.
  std::string_view place;                ///< Where --from searches without FILE; empty: nowhere.
  const ImportClient* client = nullptr;  ///< Who reads it; null: Markdown, or told by the file.
  bool (*has_name)(std::string_view name) = nullptr;  ///< Of files in a folder; null: *.jsonl.
  bool is_source = true;                              ///< Whether --from takes it, too.
};

/// In the order in which the beginning of a file is tried: records of Qwen and Gemini have the
/// sessionId of Claude Code's.
std::span<const ImportRow> import_rows();

/// The row of `format`; all have one.
const ImportRow& import_row(ImportFormat format);
std::optional<ImportFormat> find_import_format(std::string_view name);

/// "a, b or c": what --from takes, or with `all` what --format takes.
std::string import_names(bool all);

}  // namespace bmad_mem::cli
