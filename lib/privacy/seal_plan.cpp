// seal_plan.cpp - decides what a run of `encrypt` does, and with which keys.
#include "seal_plan.hpp"

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

Error nothing_sealed() {
  return invalid_query("step", "nothing is sealed in this memory; `bmad-mem encrypt on` begins");
}

namespace {

/// Whether a key here opens what an interrupted rotation has not reached.
bool has_former(const SealingRecord& record, const SealKeys& here) {
  return std::ranges::any_of(record.former_ids,
                             [&](const std::string& id) { return here.find(id) != nullptr; });
}

Error other_key(const SealingRecord& record, const SealKeys& here) {
  assert(!here.empty());
  return field_error(
      ErrorCode::E_ACCESS_DENIED, "key",
      fmt::format(
          "the memory is sealed with the key {}, and the key here is {}; {}", record.key_id,
          here.current().id(),
          has_former(record, here)
              ? "`bmad-mem encrypt rotate` was interrupted: run it again with the same new key"
              : "name that one; nothing was changed"));
}

Status check_drawn(const SealKey& key) {
  return key.is_weak()
             ? Status(field_error(ErrorCode::E_INVALID_FORMAT, "key",
                                  "the key is zeros or a pattern, which anybody guesses; name "
                                  "a key file that is not there, and a key is made"))
             : Status();
}

/// The new key seals, and the one of before is a former one until all is sealed anew: a run that
/// is cut short loses neither. Errors: E_ACCESS_DENIED when no key here opens what is sealed,
/// before anything changes.
Status plan_rotation(const StoreSealing& own, const std::string& new_key_file, Sealing& sealing) {
  SealingRecord& record = sealing.record;
  std::error_code failed;
  assert(!record.key_id.empty() && "only what is encrypted gets another key");
  const bool opens = sealing.keys.find(record.key_id) != nullptr;
  const bool may_go_on =
      has_former(record, sealing.keys) && std::filesystem::exists(new_key_file, failed);
  if (!opens && !may_go_on) {
    return other_key(record, sealing.keys);
  }
  BMAD_TRY(own.make_file(new_key_file));
  BMAD_TRY_ASSIGN(const SealKeys others, own.read_file(new_key_file));
  const SealKey& next = others.current();
  BMAD_TRY(check_drawn(next));
  if (next.id() != record.key_id) {
    if (!opens) {
      return other_key(record, sealing.keys);
    }
    std::erase(record.former_ids, next.id());
    record.former_ids.push_back(std::exchange(record.key_id, next.id()));
  }
  if (sealing.keys.find(next.id()) == nullptr) {
    sealing.keys.rotate(next);
  }
  return {};
}

constexpr std::string_view kWithoutKey =
    "; if it is lost, `bmad-mem encrypt off --without-key` ends encryption and leaves what is "
    "sealed as it is";

}  // namespace

Result<Sealing> plan_sealing(const StoreSealing& own, const SealOptions& options) {
  Sealing sealing{.step = options.step, .record = {}, .keys = {}};
  BMAD_TRY_ASSIGN(const std::optional<SealingRecord> before, own.record());
  if (!before && options.step != SealStep::kOn) {
    return nothing_sealed();
  }
  SealingRecord& record = sealing.record = before.value_or(SealingRecord());
  if (!before && !own.source().passphrase.empty()) {
    record.recipe = new_passphrase_recipe();
  }
  if (!before && !own.source().key_file.empty()) {
    BMAD_TRY(own.make_file(own.source().key_file));
  }
  const Result<std::shared_ptr<const SealKeys>> here = own.keys(record.recipe);
  const bool opens = here && (*here)->find(record.key_id) != nullptr;
  if (options.without_key) {
    if (opens) {
      return invalid_query(
          "without-key", "the key of this memory is here; `bmad-mem encrypt off` opens everything");
    }
    record.ends = sealing.forgets = true;
    return sealing;
  }
  const std::string_view way_out = options.step == SealStep::kOff ? kWithoutKey : "";
  if (!here) {
    Error error = here.error();
    error.message +=
        before ? fmt::format("; this memory is sealed with the key {}{}", before->key_id, way_out)
               : std::string();
    return error;
  }
  const std::shared_ptr<const SealKeys>& keys = *here;
  sealing.keys = *keys;
  if (options.step == SealStep::kRotate) {
    BMAD_TRY(plan_rotation(own, options.new_key_file, sealing));
  }
  if (record.key_id.empty() || (record.is_gone && record.is_of_lines() && !opens)) {
    BMAD_TRY(check_drawn(keys->current()));  // Lines of another key may be a stranger's.
    record.key_id = keys->current().id();
  }
  const SealKey* const current = sealing.keys.find(record.key_id);
  if (current == nullptr) {
    Error error = other_key(record, *keys);
    error.message += way_out;
    return error;
  }
  sealing.keys.rotate(SealKey(*current));
  assert(sealing.keys.current().id() == record.key_id);
  record.ends = options.step == SealStep::kOff;
  if (options.step == SealStep::kOn) {
    record.all = record.all || (options.sessions.empty() && !options.sensitive);
    record.sensitive = record.sensitive || options.sensitive;
    record.add_sessions(options.sessions);
  }
  return sealing;
}

}  // namespace bmad_mem
