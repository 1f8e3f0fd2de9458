#include "exchange/import/import_formats.hpp"

#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "exchange/export/export_lines.hpp"
#include "exchange/import/chat_export.hpp"
#include "exchange/import/claude_code.hpp"
#include "exchange/import/codex.hpp"
#include "exchange/import/gemini.hpp"
#include "exchange/import/json_repair.hpp"
#include "exchange/import/mem0.hpp"
#include "exchange/import/server_memory.hpp"

namespace bmad_mem::cli {

std::optional<ImportFormat> find_import_format(std::string_view name) {
  const auto found = std::ranges::find(kImportFormatNames, name);
  if (found == kImportFormatNames.end()) {
    return std::nullopt;
  }
  return static_cast<ImportFormat>(found - kImportFormatNames.begin());
}

ImportFormat recognise_import(std::string_view path, std::string_view beginning) {
  struct Sign {
    bool (*looks_like)(std::string_view beginning);
    ImportFormat format;
  };
  // Gemini before Claude Code: records of both have a sessionId.
  static constexpr Sign kSigns[] = {
      {looks_like_export, ImportFormat::kOwnExport},
      {looks_like_gemini, ImportFormat::kGemini},
      {looks_like_claude_code, ImportFormat::kClaudeCode},
      {looks_like_codex, ImportFormat::kCodex},
      {looks_like_server_memory, ImportFormat::kServerMemory},
      {looks_like_chat_export, ImportFormat::kChatgpt},
      {looks_like_mem0, ImportFormat::kMem0},
  };
  if (path.ends_with(".md")) {
    return ImportFormat::kBasicMemory;
  }
  for (const Sign& sign : kSigns) {
    if (sign.looks_like(beginning)) {
      return sign.format;
    }
  }
  return ImportFormat::kEntries;
}

bool is_one_document(ImportFormat format, std::string_view beginning) {
  if (format == ImportFormat::kMem0 || format == ImportFormat::kChatgpt) {
    return true;
  }
  if (format != ImportFormat::kGemini) {
    return false;
  }
  const std::size_t newline = beginning.find('\n');
  JsonParser parser;
  const Result<JsonValue> first = parser.parse(repaired_json(beginning.substr(0, newline)));
  return !first || (*first)["messages"].is_array();
}

std::string_view records_member(ImportFormat format) {
  return format == ImportFormat::kGemini ? "messages" : "results";
}

std::unique_ptr<RecordImporter> make_record_importer(ImportFormat format, ImportSink& sink,
                                                     const std::string& file,
                                                     const ImportOptions& options) {
  const std::string& session = options.session_id;
  const std::string& project = options.project;
  switch (format) {
    case ImportFormat::kClaudeCode:
      return std::make_unique<ClaudeCodeImport>(sink, file, session);
    case ImportFormat::kCodex:
      return std::make_unique<CodexImport>(sink, file, session);
    case ImportFormat::kGemini:
      return std::make_unique<GeminiImport>(sink, file, session, project);
    case ImportFormat::kServerMemory:
      return std::make_unique<ServerMemoryImport>(sink, file, session, project);
    case ImportFormat::kMem0:
      return std::make_unique<Mem0Import>(sink, file, session, project);
    case ImportFormat::kChatgpt:
      return std::make_unique<ChatExportImport>(sink, file, session, project);
    default:
      return nullptr;
  }
}

}  // namespace bmad_mem::cli
