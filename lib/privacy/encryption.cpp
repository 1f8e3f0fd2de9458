// encryption.cpp - reads which entries of a root are encrypted, and with which key.
#include "privacy/encryption.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/atomic_file.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kRecordSizeMax = std::uint64_t{1} << 20U;
constexpr std::string_view kCopyName = "/encryption.json";

Error no_key(std::string_view message) {
  return field_error(ErrorCode::E_ACCESS_DENIED, "key", fmt::format("{}; {}", message, kKeyRemedy));
}

/// `sealing.json` may have come with git: then the key is somebody else's.
Error not_here(FileSystem& files, std::string_view key_id, std::string_view instead) {
  Error error =
      no_key(fmt::format("the entry is to be encrypted with the key {}, {}", key_id, instead));
  error.message +=
      "; if nobody you know encrypted this memory, or the key is lost, run `bmad-mem encrypt off "
      "--without-key`: new entries are then in clear";
  error.path = files.display_path(kEncryptionFile);
  return error;
}

/// It may have gone with git: the copy is in force.
Error is_gone(FileSystem& files, std::string_view key_id) {
  return path_error(
      ErrorCode::E_ACCESS_DENIED, files.display_path(kEncryptionFile),
      fmt::format(
          "is gone, and the memory is encrypted with the key {}, so nothing is written; bring "
          "it back from git, or run `bmad-mem encrypt on` with the same key file, or "
          "`bmad-mem encrypt off` (`--without-key` where it is lost)",
          key_id));
}

Error bad_record(FileSystem& files, std::string_view field) {
  return {.code = ErrorCode::E_STORAGE_CORRUPT,
          .message = "can't be read, so nothing is written; bring the file back from git",
          .path = files.display_path(kEncryptionFile),
          .field = std::string(field)};
}

/// An unfinished merge is mended otherwise than damage.
Error no_record(FileSystem& files, std::string_view text) {
  Error error = bad_record(files, {});
  const std::size_t mark = text.starts_with("<<<<<<<") ? 0 : text.find("\n<<<<<<<");
  if (mark != std::string_view::npos) {
    error.line = 1 + static_cast<std::uint64_t>(std::ranges::count(text.substr(0, mark + 1), '\n'));
    error.message =
        fmt::format("has git's marks of a conflict, so nothing is written; {}", kConflictRemedy);
  }
  return error;
}

class KeyedOpener final : public LineOpener {
 public:
  explicit KeyedOpener(std::shared_ptr<const EncryptionKeys> keys) : keys_(std::move(keys)) {
    assert(keys_ != nullptr);
  }

  [[nodiscard]] bool has_key(JsonValue entry) const override {
    const std::string_view id = encryption_key_id(entry);
    return id.empty() || keys_->find(id) != nullptr;  // Without an id it is damaged.
  }
  [[nodiscard]] Result<std::string> open(std::string_view session_id, EntryType type,
                                         JsonValue entry) const override {
    return open_line(*keys_, {.session_id = session_id, .type = type}, entry);
  }

 private:
  std::shared_ptr<const EncryptionKeys> keys_;
};

Result<EncryptionRecord> read_record(FileSystem& files, JsonValue root) {
  EncryptionRecord record{.all = root["all"].boolean(),
                          .sensitive = root["sensitive"].boolean(),
                          .ends = root["ends"].boolean(),
                          .sessions = json_strings(root["sessions"]),
                          .key_id = std::string(root["key"].string()),
                          .former_ids = json_strings(root["former"]),
                          .recipe = {}};
  if (record.key_id.empty() || !std::ranges::all_of(record.sessions, is_session_id)) {
    return bad_record(files, record.key_id.empty() ? "key" : "sessions");
  }
  if (const JsonValue recipe = root["passphrase"]; recipe.is_object()) {
    PassphraseRecipe& its = record.recipe.emplace();
    its.passes = recipe["passes"].natural();
    its.memory = recipe["memory"].natural();
    if (!read_hash_key(recipe["salt"].string(), its.salt)) {
      return bad_record(files, "passphrase");
    }
  }
  return record;
}

/// Whether the copy says that something is encrypted.
bool is_in_force(const std::optional<EncryptionRecord>& copy) {
  return copy && !copy->key_id.empty() && !copy->ends;
}

/// Nothing without the file.
Result<std::optional<EncryptionRecord>> load_encryption(FileSystem& files) {
  BMAD_TRY_ASSIGN(const auto text, if_there(read_file(files, kEncryptionFile, kRecordSizeMax)));
  if (!text) {
    return std::optional<EncryptionRecord>();
  }
  JsonParser parser;
  const Result<JsonValue> root = parser.parse(*text);
  BMAD_TRY_ASSIGN(EncryptionRecord record, root
                                               ? read_record(files, *root)
                                               : Result<EncryptionRecord>(no_record(files, *text)));
  return std::optional(std::move(record));
}

}  // namespace

bool EncryptionRecord::wants(std::string_view session_id, EntryType type, JsonValue entry) const {
  return !ends && (all || is_of_lines() || is_among(sessions, session_id) ||
                   (sensitive && entry_head(type, entry).sensitive));
}

void EncryptionRecord::add_sessions(std::span<const std::string> more) {
  for (const std::string& session : more) {
    add_once(sessions, session);
  }
}

std::string EncryptionRecord::to_text() const {
  JsonWriter json;
  json.begin_object().member("all", all).member("sensitive", sensitive);
  json.key("sessions").raw(list_json(sessions)).member("key", key_id);
  if (!former_ids.empty()) {
    json.key("former").raw(list_json(former_ids));
  }
  if (ends) {
    json.member("ends", true);
  }
  if (recipe) {
    json.key("passphrase").begin_object().member("salt", hash_key_hex(recipe->salt));
    json.member("passes", recipe->passes).member("memory", recipe->memory).end_object();
  }
  return json_pretty(json.end_object().take()) + '\n';
}

std::optional<EncryptionRecord> StoreEncryption::noted() const {
  const std::string text = origins_.state_text(kCopyName);
  if (text.empty()) {
    return std::nullopt;
  }
  if (text == note_text(nullptr)) {  // As in most memories: it takes no parser.
    return EncryptionRecord();
  }
  JsonParser parser;
  const Result<JsonValue> copy = parser.parse(text);
  if (!copy || (*copy)["folder"].string() != origins_.identity()) {
    return std::nullopt;
  }
  return read_record(files_, *copy).value_or(EncryptionRecord());
}

std::string StoreEncryption::note_text(const EncryptionRecord* record) const {
  return fmt::format("{{\"folder\":\"{}\"{}", origins_.identity(),
                     record == nullptr ? "}\n" : "," + record->to_text().substr(1));
}

void StoreEncryption::note(const EncryptionRecord* record) const {
  static_cast<void>(
      origins_.change_state(kCopyName, [&](const std::string&) { return note_text(record); }));
}

void StoreEncryption::learn() const {
  if (origins_.state_file(kCopyName).empty()) {
    return;
  }
  EncryptionRecord found;
  const auto take = [&](const ScannedEntry& line) { found.key_id = encryption_key_id(line.value); };
  for (const std::string& session :
       list_if_there(files_, kSessionsFolder).value_or(std::vector<std::string>())) {
    if (!is_session_id(session)) {
      continue;  // What an interrupted move left.
    }
    for (const EntryType type : kEntryTypes) {
      const std::string path = log_path(session, type);
      const auto log = files_.open(path, OpenMode::kRead);
      const std::uint64_t size = log ? (*log)->info().value_or(FileInfo()).size : 0;
      JsonParser parser;
      if (size > 0 && find_bytes(**log, 0, size, "\"sealed\"").value_or(size) < size) {
        static_cast<void>(scan_log(files_, path, type, parser,
                                   {.on_entry = [](const auto&) {}, .on_encrypted = take}));
      }
    }
  }
  note(found.key_id.empty() ? nullptr : &found);
}

std::optional<EncryptionRecord> StoreEncryption::noted_or_learned() const {
  std::optional<EncryptionRecord> copy = noted();
  if (!copy) {
    std::call_once(learned_, [this] { learn(); });
    copy = noted();
  }
  return copy;
}

Result<std::optional<EncryptionRecord>> StoreEncryption::record() const {
  BMAD_TRY_ASSIGN(std::optional<EncryptionRecord> record, load_encryption(files_));
  std::optional<EncryptionRecord> copy = record ? noted() : noted_or_learned();
  if (!is_in_force(copy)) {
    return record;
  }
  if (!record) {
    copy->is_gone = true;
    return copy;
  }
  record->all = record->all || copy->all;
  record->sensitive = record->sensitive || copy->sensitive;
  record->ends = false;
  record->add_sessions(copy->sessions);
  record->is_noted = record->to_text() == copy->to_text();
  return record;
}

bool StoreEncryption::is_on() const { return files_.info(kEncryptionFile) || is_in_force(noted()); }

bool StoreEncryption::is_on_for_writes() const {
  return files_.info(kEncryptionFile) || is_in_force(noted_or_learned());
}

bool StoreEncryption::opens() const { return !source_.is_empty(); }

Status StoreEncryption::check_place(const std::string& path) const {
  std::error_code failed;
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, failed);
  const std::filesystem::path project = std::filesystem::weakly_canonical(project_, failed);
  const std::filesystem::path inside = file.lexically_relative(project);
  if (!project_.empty() && !inside.empty() && *inside.begin() != "..") {
    Error error = path_error(
        ErrorCode::E_ACCESS_DENIED, path,
        "the key file is in the project, where git and backups take it along; move it out");
    error.field = "key";
    return error;
  }
  return {};
}

Result<EncryptionKeys> StoreEncryption::read_file(const std::string& path) const {
  BMAD_TRY(check_place(path));
  return EncryptionKeys::read(path);
}

Status StoreEncryption::make_file(const std::string& path) const {
  BMAD_TRY(check_place(path));
  return create_private_file(path, EncryptionKey::make().to_text() + '\n');
}

Result<EncryptionKeys> StoreEncryption::read_keys(
    const std::optional<PassphraseRecipe>& recipe) const {
  const int named = static_cast<int>(!source_.key.empty()) +
                    static_cast<int>(!source_.key_file.empty()) +
                    static_cast<int>(!source_.passphrase.empty());
  if (named == 0) {
    return no_key("there is no key (`bmad-mem encrypt on --key-file FILE` makes one)");
  }
  if (named > 1) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "key",
                       "two keys are named at once; leave one of them: key file, "
                       "$BMAD_MEM_KEY, $BMAD_MEM_PASSPHRASE");
  }
  if (!source_.key_file.empty()) {
    return read_file(source_.key_file);
  }
  if (!source_.key.empty()) {
    BMAD_TRY_ASSIGN(EncryptionKey key, EncryptionKey::parse(source_.key));
    return EncryptionKeys(std::move(key));
  }
  assert(named == 1 && !source_.passphrase.empty());
  if (!recipe) {
    return no_key("the key of this memory is not made of a passphrase");
  }
  BMAD_TRY_ASSIGN(EncryptionKey key, EncryptionKey::from_passphrase(source_.passphrase, *recipe));
  return EncryptionKeys(std::move(key));
}

Result<std::shared_ptr<const EncryptionKeys>> StoreEncryption::keys(
    const std::optional<PassphraseRecipe>& recipe) const {
  const std::lock_guard guard(mutex_);
  const bool is_same = source_.passphrase.empty() || (recipe && recipe->salt == recipe_.salt);
  if (keys_ == nullptr || !is_same) {
    BMAD_TRY_ASSIGN(EncryptionKeys keys, read_keys(recipe));
    keys_ = std::make_shared<const EncryptionKeys>(std::move(keys));
    recipe_ = recipe.value_or(PassphraseRecipe());
  }
  assert(keys_ != nullptr && !keys_->empty() && "what is read without a key is an error");
  return keys_;
}

/// Errors: as keys(), and E_ACCESS_DENIED when it is not here.
Result<EncryptionKey> StoreEncryption::encryption_key(const EncryptionRecord& record) const {
  assert(!record.key_id.empty() && "record() has none without a key");
  if (record.is_gone) {
    return is_gone(files_, record.key_id);
  }
  if (source_.is_empty()) {
    return not_here(files_, record.key_id, "which is not here");
  }
  BMAD_TRY_ASSIGN(const std::shared_ptr<const EncryptionKeys> all, keys(record.recipe));
  const EncryptionKey* const key = all->find(record.key_id);
  if (key == nullptr) {
    return not_here(files_, record.key_id,
                    fmt::format("and the key here is {}", all->current().id()));
  }
  return *key;
}

EncryptionState StoreEncryption::state() const {
  const Result<std::optional<EncryptionRecord>> record = this->record();
  if (!record) {
    return {.is_on = true, .problem = record.error()};
  }
  if (!*record) {
    return {};
  }
  const Result<EncryptionKey> key = encryption_key(**record);
  return {.is_on = !(*record)->ends,
          .is_gone = (*record)->is_gone,
          .key_id = (*record)->key_id,
          .problem = key ? std::optional<Error>() : key.error()};
}

Result<EncryptionRule> StoreEncryption::rule() const {
  BMAD_TRY_ASSIGN(const std::optional<EncryptionRecord> record, this->record());
  if (!record || record->ends) {
    return EncryptionRule();
  }
  if (record->is_gone) {
    return is_gone(files_, record->key_id);
  }
  return EncryptionRule{
      .wants = [record = *record](std::string_view session, EntryType type,
                                  JsonValue entry) { return record.wants(session, type, entry); },
      .command = record->all ? "bmad-mem encrypt on"
                 : record->sessions.empty()
                     ? "bmad-mem encrypt on --sensitive"
                     : "bmad-mem encrypt on --session " + record->sessions[0]};
}

Result<std::optional<std::string>> StoreEncryption::encrypt(std::string_view session_id,
                                                            EntryType type, JsonValue entry,
                                                            std::string_view line) const {
  BMAD_TRY_ASSIGN(const std::optional<EncryptionRecord> record, this->record());
  if (!record || !record->wants(session_id, type, entry)) {
    return std::optional<std::string>();
  }
  Result<EncryptionKey> key = encryption_key(*record);
  if (!key && !record->all && !record->is_gone) {
    key.error().message += "; `--session ID` writes to a session that is not encrypted";
  }
  BMAD_TRY(key ? Status() : Status(key.error()));
  BMAD_TRY_ASSIGN(std::string encrypted,
                  encrypt_line(*key, {.session_id = session_id, .type = type}, entry, line));
  if (!record->is_noted) {
    note(&*record);
  }
  return std::optional(std::move(encrypted));
}

Result<std::unique_ptr<LineOpener>> StoreEncryption::opener() const {
  auto all = std::make_shared<const EncryptionKeys>();
  if (!source_.is_empty()) {
    std::optional<PassphraseRecipe> recipe;
    if (!source_.passphrase.empty()) {
      BMAD_TRY_ASSIGN(const std::optional<EncryptionRecord> record, this->record());
      recipe = record ? record->recipe : std::nullopt;
    }
    BMAD_TRY_ASSIGN(all, keys(recipe));
  }
  return std::unique_ptr<LineOpener>(std::make_unique<KeyedOpener>(std::move(all)));
}

}  // namespace bmad_mem
