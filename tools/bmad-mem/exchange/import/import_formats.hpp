// import_formats.hpp - what files can be imported, how they are called and recognised.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "exchange/import/import_sink.hpp"
#include "exchange/import/record_importer.hpp"

namespace bmad_mem::cli {

enum class ImportFormat : std::uint8_t {
  kAuto,
  kEntries,
  kOwnExport,
  kClaudeCode,
  kCodex,
  kGemini,
  kServerMemory,
  kBasicMemory,
  kMem0,
  kChatgpt,
  kJsonl,  ///< kEntries or kOwnExport, whichever it is.
};

/// What --format takes, in the order of the enum ...
inline constexpr std::array<std::string_view, 11> kImportFormatNames = {
    "auto",          "entries",      "export", "claude-code", "codex", "gemini",
    "server-memory", "basic-memory", "mem0",   "chatgpt",     "jsonl"};
/// ... and --from, where people name whom the memory comes from.
inline constexpr std::array<std::string_view, 8> kImportSourceNames = {
    "claude-code", "codex", "gemini", "server-memory", "basic-memory", "mem0", "chatgpt", "jsonl"};

std::optional<ImportFormat> find_import_format(std::string_view name);

/// What a file is that begins like this. `path` decides where Markdown is concerned.
ImportFormat recognise_import(std::string_view path, std::string_view beginning);

/// Whether a file of this format is one JSON document rather than a record a line.
bool is_one_document(ImportFormat format, std::string_view beginning);

/// The member of a document's outer object whose elements are the records.
std::string_view records_member(ImportFormat format);

struct ImportOptions {
  ImportFormat format = ImportFormat::kAuto;
  std::string session_id;        ///< Where everything goes; empty: where each entry says.
  std::string fallback_session;  ///< Where goes what says nothing; may be empty.
  std::string project;           ///< The name of the project, for what names none; may be empty.
};

/// The importer for a file of somebody else's; null for the formats that are our own and for notes.
std::unique_ptr<RecordImporter> make_record_importer(ImportFormat format, ImportSink& sink,
                                                     const std::string& file,
                                                     const ImportOptions& options);

}  // namespace bmad_mem::cli
