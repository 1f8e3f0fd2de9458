// line_encryption.hpp - encrypts what is written and opens what is read, where sealing.json wants
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/result.hpp"
#include "bmad_mem/trust.hpp"

namespace bmad_mem {

/// Opens many lines. Threads: safe.
class LineOpener {
 public:
  virtual ~LineOpener() = default;
  /// Whether the key of an encrypted line is here; nothing is said of the line.
  [[nodiscard]] virtual bool has_key(JsonValue entry) const = 0;
  /// The line that was encrypted as `entry`. Errors: as open_line().
  [[nodiscard]] virtual Result<std::string> open(std::string_view session_id, EntryType type,
                                                 JsonValue entry) const = 0;
};

/// What is to be encrypted.
struct EncryptionRule {
  /// By session, type and value; null where nothing is.
  std::function<bool(std::string_view, EntryType, JsonValue)> wants;
  std::string command;  ///< Which encrypts what is not.
};

/// StoreEncryption (privacy/encryption.hpp) is the one; this, of a root that nobody has opened with
/// keys.
class LineEncryption {
 public:
  virtual ~LineEncryption() = default;

  /// Whether lines of this memory are to be encrypted, or opened. Costs a look at one or two files.
  [[nodiscard]] virtual bool is_on() const { return false; }
  /// The same; on a machine that knows nothing of the root, its lines are read first, once.
  [[nodiscard]] virtual bool is_on_for_writes() const { return is_on(); }
  /// Errors: E_STORAGE_CORRUPT when sealing.json can't be read, E_ACCESS_DENIED when it is gone.
  [[nodiscard]] virtual Result<EncryptionRule> rule() const { return EncryptionRule(); }
  /// Whether a key was named, which may open what is encrypted.
  [[nodiscard]] virtual bool opens() const { return false; }
  /// Who opens lines with the keys that are here; null where nobody may have any. Errors: as
  /// open(), of the key.
  [[nodiscard]] virtual Result<std::unique_ptr<LineOpener>> opener() const {
    return std::unique_ptr<LineOpener>();
  }
  /// `line`, a whole entry whose value is `entry`, encrypted; nothing when it is to stay as it is.
  /// Errors: E_ACCESS_DENIED without the key, and where sealing.json is gone; as
  /// encrypt_line() and read_private_file().
  [[nodiscard]] virtual Result<std::optional<std::string>> encrypt(
      std::string_view /*session_id*/, EntryType /*type*/, JsonValue /*entry*/,
      std::string_view /*line*/) const {
    return std::optional<std::string>();
  }
  /// The line that was encrypted as `entry`. Errors: as LineOpener::open().
  [[nodiscard]] Result<std::string> open(std::string_view session_id, EntryType type,
                                         JsonValue entry) const {
    BMAD_TRY_ASSIGN(const std::unique_ptr<LineOpener> all, opener());
    return all == nullptr ? Result<std::string>(Error{.code = ErrorCode::E_ACCESS_DENIED,
                                                      .message = "there is no key"})
                          : all->open(session_id, type, entry);
  }
};

/// The document of artifact `id` as what is encrypted of it: an object with its text.
inline std::string document_line(std::string_view id, std::string_view text, bool is_sensitive) {
  JsonWriter json;
  json.begin_object().member("id", id).member("document", text);
  if (is_sensitive) {
    json.member("sensitive", true);
  }
  json.end_object();
  return json.take();
}

// The newest version of each encrypted entry that this machine has written or
// seen, in the state folder.
//
//   encrypted.jsonl   {"session":"s1","type":"fact","id":"f1","at":"2026-…Z"}    the latest counts
//
// Ids and times are in clear in the logs as well. A person who may write a log can take encrypted
// lines out of it, or put an older copy in its place, without the key: this says what was there.

inline constexpr std::string_view kHeadName = "/encrypted.jsonl";

/// Session, type and id; and when the newest version was written, see entry_written_time().
using EncryptedHead = std::map<std::tuple<std::string, EntryType, std::string>, Timestamp>;

inline std::string head_line(const EncryptedHead::key_type& key, Timestamp at) {
  const auto& [session, type, id] = key;
  JsonWriter json;
  json.begin_object().member("session", session).member("type", entry_type_name(type));
  json.member("id", id).member("at", format_rfc3339(at)).end_object();
  return json.take() + '\n';
}

// Entries that are to be encrypted, and whose key is not here: what hooks record
// must not be lost, and must not stand in the project in clear.
//
//   STATE/roots/4f0c5a…/waiting.jsonl   0600, of this user alone, outside the project
//     {"session_id":"s1","type":"conversation","origin":"person","entry":{…}}
//
// Secrets were taken out before. The first hook that finds the key, or no encryption any more,
// writes them into their sessions.

struct Store;

/// Appends `lines`, whole entries of `type` by `origin`. Durable on return. Errors: E_STORAGE_IO,
/// E_STORAGE_FULL; E_ACCESS_DENIED where no state folder is known.
Status keep_waiting(const Store& store, std::string_view session_id, EntryType type,
                    std::span<const std::string_view> lines, Origin origin);

/// How many wait. Without any, one look at a file.
std::uint64_t count_waiting(const Store& store);

/// Writes those that wait into their sessions, each once, and forgets them when all are there;
/// those of a session that is not there, as on another branch, wait on. Their number; 0 while
/// another process is at it. Errors: as add_lines(): all wait on.
Result<std::uint64_t> write_waiting(Store& store);

/// Which entries go: by session, type, value and text.
using WaitingGoes = std::function<bool(std::string_view, EntryType, JsonValue, std::string_view)>;
/// Overwrites those that go with blanks; with `dry_run` counts them. Durable on return.
Result<std::uint64_t> drop_waiting(const Store& store, const WaitingGoes& goes, bool dry_run);

/// All that waits, as it stands in its file; empty without any.
Result<std::string> waiting_text(const Store& store);

}  // namespace bmad_mem
