// artifacts.cpp - documents that are kept beside the logs.
//
// The document is durable before the entry that points to it. A crash between the two leaves a file
// that nothing points to: it goes with the session.
#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/utf8.hpp"
#include "model/entry.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

Status check_document(const ArtifactEntry& entry, std::string_view document) {
  if (document.size() > MemoryManager::kArtifactSizeMax) {
    return path_error(ErrorCode::E_SIZE_LIMIT, entry.path,
                      fmt::format("the document has {} bytes, and the maximum is {}; point "
                                  "to it with `bmad-mem add artifact` instead",
                                  document.size(), MemoryManager::kArtifactSizeMax));
  }
  if (utf8_valid_size(document) != document.size() ||
      document.find('\0') != std::string_view::npos) {
    return path_error(ErrorCode::E_INVALID_FORMAT, entry.path,
                      "is not UTF-8 text; only texts are stored");
  }
  return {};
}

}  // namespace

Result<std::string> add_artifact_document(Store& store, const std::string& session_id,
                                          ArtifactEntry entry, std::string_view document) {
  BMAD_TRY(check_document(entry, document));
  BMAD_TRY(check_session_id(session_id));
  BMAD_TRY(check_write(store, EntryType::kArtifact));
  const std::string text = store.redaction == nullptr
                               ? std::string(document)
                               : store.redaction->redact_text(document, session_id);
  std::string& id = entry.common.id;
  if (id.empty()) {
    id = store.ids.entry_id(entry_type_info(EntryType::kArtifact).id_prefix);
  } else if (!is_entry_id(id)) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "id",
                       "is not an id: use 1 to 128 letters, digits and _.:@+=~-");
  }
  if (is_archived(store, session_id)) {
    BMAD_TRY(store.above.restore(store, session_id));
  }
  BMAD_TRY(check_session(store, session_id));
  {
    BMAD_TRY_ASSIGN(const FileLock::Guard guard, store.lock_session(session_id, "add artifact"));
    BMAD_TRY(ensure_folder(*store.files, session_file(session_id, kArtifactsName)));
    const std::string whole = document_line(id, text, entry.common.sensitive);
    BMAD_TRY_ASSIGN(const ParsedJson object, parse_json(whole));
    BMAD_TRY_ASSIGN(const std::optional<std::string> sealed,
                    store.sealing->seal(session_id, EntryType::kArtifact, *object, whole));
    BMAD_TRY(
        replace_file(*store.files, artifact_path(session_id, id), sealed ? *sealed + '\n' : text));
  }
  const std::string line = to_json(entry);
  const std::string_view view = line;
  BMAD_TRY_ASSIGN(const BatchReport report,
                  add_lines(store, session_id, EntryType::kArtifact, {&view, 1}, {}));
  return report.ids.front();
}

}  // namespace bmad_mem
