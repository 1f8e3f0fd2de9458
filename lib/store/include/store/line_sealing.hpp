// line_sealing.hpp - seals what is written and opens what is read, where sealing.json wants it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"
#include "bmad_mem/json_writer.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem {

/// Opens many lines. Threads: safe.
class LineOpener {
 public:
  virtual ~LineOpener() = default;
  /// Whether the key of a sealed line is here; nothing is said of the line.
  [[nodiscard]] virtual bool has_key(JsonValue entry) const = 0;
  /// The line that was sealed as `entry`. Errors: as open_line().
  [[nodiscard]] virtual Result<std::string> open(std::string_view session_id, EntryType type,
                                                 JsonValue entry) const = 0;
};

/// What is to be sealed.
struct SealingRule {
  /// By session, type and value; null where nothing is.
  std::function<bool(std::string_view, EntryType, JsonValue)> wants;
  std::string command;  ///< Which seals what is not.
};

/// StoreSealing (privacy/sealing.hpp) is the one; this, of a root that nobody has opened with keys.
class LineSealing {
 public:
  virtual ~LineSealing() = default;

  /// Whether lines of this memory are to be sealed, or opened. Costs a look at one or two files.
  [[nodiscard]] virtual bool is_on() const { return false; }
  /// The same; on a machine that knows nothing of the root, its lines are read first, once.
  [[nodiscard]] virtual bool is_on_for_writes() const { return is_on(); }
  /// Errors: E_STORAGE_CORRUPT when sealing.json can't be read, E_ACCESS_DENIED when it is gone.
  [[nodiscard]] virtual Result<SealingRule> rule() const { return SealingRule(); }
  /// Whether a key was named, which may open what is sealed.
  [[nodiscard]] virtual bool opens() const { return false; }
  /// Who opens lines with the keys that are here; null where nobody may have any. Errors: as
  /// open(), of the key.
  [[nodiscard]] virtual Result<std::unique_ptr<LineOpener>> opener() const {
    return std::unique_ptr<LineOpener>();
  }
  /// `line`, a whole entry whose value is `entry`, sealed; nothing when it is to stay as it is.
  /// Errors: E_ACCESS_DENIED without the key, and where sealing.json is gone; as
  /// seal_line() and read_private_file().
  [[nodiscard]] virtual Result<std::optional<std::string>> seal(std::string_view /*session_id*/,
                                                                EntryType /*type*/,
                                                                JsonValue /*entry*/,
                                                                std::string_view /*line*/) const {
    return std::optional<std::string>();
  }
  /// The line that was sealed as `entry`. Errors: as LineOpener::open().
  [[nodiscard]] Result<std::string> open(std::string_view session_id, EntryType type,
                                         JsonValue entry) const {
    BMAD_TRY_ASSIGN(const std::unique_ptr<LineOpener> all, opener());
    return all == nullptr ? Result<std::string>(Error{.code = ErrorCode::E_ACCESS_DENIED,
                                                      .message = "there is no key"})
                          : all->open(session_id, type, entry);
  }
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
