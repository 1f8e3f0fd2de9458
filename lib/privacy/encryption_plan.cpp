// encryption_plan.cpp - decides what a run of `encrypt` does, and with which keys.
#include "encryption_plan.hpp"

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace bmad_mem {

Error nothing_encrypted() {
  return invalid_query("step", "nothing is encrypted in this memory; `bmad-mem encrypt on` begins");
}

namespace {

/// Whether a key here opens what an interrupted rotation has not reached.
bool has_former(const EncryptionRecord& record, const EncryptionKeys& here) {
  return std::ranges::any_of(record.former_ids,
                             [&](const std::string& id) { return here.find(id) != nullptr; });
}

Error other_key(const EncryptionRecord& record, const EncryptionKeys& here) {
  assert(!here.empty());
  return field_error(
      ErrorCode::E_ACCESS_DENIED, "key",
      fmt::format(
          "the memory is encrypted with the key {}, and the key here is {}; {}", record.key_id,
          here.current().id(),
          has_former(record, here)
              ? "`bmad-mem encrypt rotate` was interrupted: run it again with the same new key"
              : "name that one; nothing was changed"));
}

Status check_drawn(const EncryptionKey& key) {
  return key.is_weak()
             ? Status(field_error(ErrorCode::E_INVALID_FORMAT, "key",
                                  "the key is zeros or a pattern, which anybody guesses; name "
                                  "a key file that is not there, and a key is made"))
             : Status();
}

/// The new key encrypts, and the one of before is a former one until all is encrypted again: a run
/// that is cut short loses neither. Errors: E_ACCESS_DENIED when no key here opens what is
/// encrypted, before anything changes.
Status plan_rotation(const StoreEncryption& own, const std::string& new_key_file,
                     Encryption& encryption) {
  EncryptionRecord& record = encryption.record;
  std::error_code failed;
  assert(!record.key_id.empty() && "only what is encrypted gets another key");
  const bool opens = encryption.keys.find(record.key_id) != nullptr;
  const bool may_go_on =
      has_former(record, encryption.keys) && std::filesystem::exists(new_key_file, failed);
  if (!opens && !may_go_on) {
    return other_key(record, encryption.keys);
  }
  BMAD_TRY(own.make_file(new_key_file));
  BMAD_TRY_ASSIGN(const EncryptionKeys others, own.read_file(new_key_file));
  const EncryptionKey& next = others.current();
  BMAD_TRY(check_drawn(next));
  if (next.id() != record.key_id) {
    if (!opens) {
      return other_key(record, encryption.keys);
    }
    std::erase(record.former_ids, next.id());
    record.former_ids.push_back(std::exchange(record.key_id, next.id()));
  }
  if (encryption.keys.find(next.id()) == nullptr) {
    encryption.keys.rotate(next);
  }
  return {};
}

constexpr std::string_view kWithoutKey =
    "; if it is lost, `bmad-mem encrypt off --without-key` ends encryption and leaves what is "
    "encrypted as it is";

}  // namespace

Result<Encryption> plan_encryption(const StoreEncryption& own, const EncryptOptions& options) {
  Encryption encryption{.step = options.step, .record = {}, .keys = {}};
  BMAD_TRY_ASSIGN(const std::optional<EncryptionRecord> before, own.record());
  if (!before && options.step != EncryptStep::kOn) {
    return nothing_encrypted();
  }
  EncryptionRecord& record = encryption.record = before.value_or(EncryptionRecord());
  if (!before && !own.source().passphrase.empty()) {
    record.recipe = new_passphrase_recipe();
  }
  if (!before && !own.source().key_file.empty()) {
    BMAD_TRY(own.make_file(own.source().key_file));
  }
  const Result<std::shared_ptr<const EncryptionKeys>> here = own.keys(record.recipe);
  const bool opens = here && (*here)->find(record.key_id) != nullptr;
  if (options.without_key) {
    if (opens) {
      return invalid_query(
          "without-key", "the key of this memory is here; `bmad-mem encrypt off` opens everything");
    }
    record.ends = encryption.forgets = true;
    return encryption;
  }
  const std::string_view way_out = options.step == EncryptStep::kOff ? kWithoutKey : "";
  if (!here) {
    Error error = here.error();
    error.message += before ? fmt::format("; this memory is encrypted with the key {}{}",
                                          before->key_id, way_out)
                            : std::string();
    return error;
  }
  const std::shared_ptr<const EncryptionKeys>& keys = *here;
  encryption.keys = *keys;
  if (options.step == EncryptStep::kRotate) {
    BMAD_TRY(plan_rotation(own, options.new_key_file, encryption));
  }
  if (record.key_id.empty() || (record.is_gone && record.is_of_lines() && !opens)) {
    BMAD_TRY(check_drawn(keys->current()));  // Lines of another key may be a stranger's.
    record.key_id = keys->current().id();
  }
  const EncryptionKey* const current = encryption.keys.find(record.key_id);
  if (current == nullptr) {
    Error error = other_key(record, *keys);
    error.message += way_out;
    return error;
  }
  encryption.keys.rotate(EncryptionKey(*current));
  assert(encryption.keys.current().id() == record.key_id);
  record.ends = options.step == EncryptStep::kOff;
  if (options.step == EncryptStep::kOn) {
    record.all = record.all || (options.sessions.empty() && !options.sensitive);
    record.sensitive = record.sensitive || options.sensitive;
    record.add_sessions(options.sessions);
  }
  return encryption;
}

}  // namespace bmad_mem
