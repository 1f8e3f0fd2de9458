// memory_tool.hpp - the six commands of Anthropic's memory tool (memory_20250818) on one folder.
//
//   {"command":"create","path":"/memories/a.md","file_text":"…"}  ->  "File created successfully …"
//
// The sentences are those of the reference implementation, word by word: models know them.
#pragma once

#include <cstdint>
#include <string>

#include "bmad_mem/json_value.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/result.hpp"
#include "exchange/memory_tool/memory_folder.hpp"

namespace bmad_mem::cli {

class MemoryTool {
 public:
  /// Both must outlive it.
  MemoryTool(MemoryFolder& folder, const SecretScanner& scanner)
      : folder_(folder), scanner_(scanner) {}

  /// Does what `command`, an object, asks for. Errors: the message is what the model is told;
  /// nothing was changed, unless the code is E_STORAGE_IO or E_STORAGE_FULL.
  Result<std::string> run(JsonValue command);

  /// How many secrets were taken out of what was written last.
  [[nodiscard]] std::uint64_t redacted() const { return redacted_; }

 private:
  Result<std::string> view(JsonValue command) const;
  Result<std::string> view_folder(const VirtualPath& path) const;
  Result<std::string> create(JsonValue command);
  Result<std::string> str_replace(JsonValue command);
  Result<std::string> insert(JsonValue command);
  Result<std::string> remove(JsonValue command);
  Result<std::string> rename(JsonValue command);

  /// The path of a file that is to be changed, or why it can't be.
  [[nodiscard]] Status check_is_file(const VirtualPath& path) const;
  /// `text` without its secrets, which are counted.
  std::string clean(std::string text);
  /// Names are stored as they are, so a secret must not be in one.
  [[nodiscard]] Status check_name(const VirtualPath& path) const;

  MemoryFolder& folder_;
  const SecretScanner& scanner_;
  std::uint64_t redacted_ = 0;
};

}  // namespace bmad_mem::cli
