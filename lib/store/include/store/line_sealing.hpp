// line_sealing.hpp - seals what is written and opens what is read, where sealing.json wants it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// StoreSealing (privacy/sealing.hpp) is the one.
class LineSealing {
 public:
  virtual ~LineSealing() = default;

  /// Whether lines of this memory are sealed. Costs a look at a file's name.
  [[nodiscard]] virtual bool is_on() const = 0;
  /// Whether they are, and a key was named to open them.
  [[nodiscard]] virtual bool opens() const = 0;
  /// `line`, a whole entry whose value is `entry`, sealed; nothing when it is to stay as it is.
  /// Errors: E_ACCESS_DENIED without the key; as seal_line() and read_private_file().
  [[nodiscard]] virtual Result<std::optional<std::string>> seal(std::string_view session_id,
                                                                EntryType type, JsonValue entry,
                                                                std::string_view line) const = 0;
  /// The line that was sealed as `entry`. Errors: as open_line().
  [[nodiscard]] virtual Result<std::string> open(std::string_view session_id, EntryType type,
                                                 JsonValue entry) const = 0;
};

/// The document of artifact `id` as what is sealed of it: an object with its text.
inline std::string document_line(std::string_view id, std::string_view text, bool is_sensitive) {
  JsonWriter json;
  json.begin_object().member("id", id).member("document", text);
  if (is_sensitive) {
    json.member("sensitive", true);
  }
  json.end_object();
  return json.take();
}

}  // namespace bmad_mem
