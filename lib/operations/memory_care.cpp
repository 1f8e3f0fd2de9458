// memory_care.cpp - a memory is looked after: deletion, compaction, archives, maintenance, rights,
// verification, repair, redaction; and looked at: its locks, its settings, its encoder.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <mutex>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/encoder.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/settings.hpp"
#include "encoder/encoder_choice.hpp"
#include "lifecycle/deletion.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "memory_impl.hpp"
#include "operations/rooms.hpp"
#include "privacy/encryption.hpp"
#include "privacy/redaction.hpp"
#include "search/indexing.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/config.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

Result<DeletionReport> MemoryManager::delete_entries(const DeletionCriteria& criteria,
                                                     const DeleteOptions& options) {
  return impl_->call("delete", bmad_mem::delete_entries, criteria, options);
}

Result<DeletionReport> MemoryManager::delete_session(std::string_view session_id,
                                                     const DeleteOptions& options) {
  return impl_->call("session delete", bmad_mem::delete_session, std::string(session_id), options);
}

Result<UndeleteReport> MemoryManager::undelete(const UndeleteCriteria& criteria) {
  return impl_->call("undelete", bmad_mem::undelete, criteria);
}

Result<std::vector<Deletion>> MemoryManager::deletions() const {
  return list_deletions(impl_->store);
}

Result<std::vector<Entry>> MemoryManager::deleted_entries(std::string_view session_id) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("list"));
  BMAD_TRY_ASSIGN(std::vector<Entry> entries,
                  bmad_mem::deleted_entries(*store, std::string(session_id)));
  drop_unreadable(*store, entries);
  return entries;
}

Result<DeletionReport> MemoryManager::purge_deleted(bool all) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("purge"));
  return all ? bmad_mem::purge_deleted(*store, {.now = Timestamp::max()}) : purge_by_clock(*store);
}

Result<std::vector<Leftover>> MemoryManager::find_text(std::string_view text) const {
  return impl_->call("find text", bmad_mem::find_text, text);
}

Result<std::vector<AuditRecord>> MemoryManager::audit(const AuditFilter& filter) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("audit"));
  AuditFilter wider = filter;
  wider.limit = page_end(filter.limit, filter.offset);
  BMAD_TRY_ASSIGN(std::vector<AuditRecord> records, list_audit(*store, wider));
  assert(wider.limit == 0 || records.size() <= wider.limit);
  return without_newest(std::move(records), filter.offset);
}

Result<CompactionReport> MemoryManager::compact(std::string_view session_id,
                                                const CompactOptions& options) {
  return impl_->call("compact", compact_session, std::string(session_id), options);
}

Result<std::uint64_t> MemoryManager::restore_evicted(std::string_view session_id,
                                                     std::span<const std::string> ids) {
  return impl_->call("restore", restore_evicted_entries, std::string(session_id), ids);
}

Result<ArchiveReport> MemoryManager::archive_session(std::string_view session_id,
                                                     const ArchiveOptions& options) {
  return impl_->call("session archive", bmad_mem::archive_session, std::string(session_id),
                     options);
}

Result<Session> MemoryManager::restore_session(std::string_view session_id) {
  return impl_->call("session restore", bmad_mem::restore_session, std::string(session_id));
}

Result<bool> MemoryManager::resolve_session(std::string_view session_id) {
  return impl_->call("session restore", settle_session, std::string(session_id));
}

Result<std::vector<ArchivedSession>> MemoryManager::archived_sessions() const {
  return impl_->call("session list", list_archived);
}

Result<std::vector<DecayReport>> MemoryManager::decay(std::span<const std::string> sessions,
                                                      std::optional<Timestamp> as_of, bool write) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("decay", write));
  return age_sessions(*store, sessions, as_of, write);
}

Result<std::vector<LearnedRate>> MemoryManager::learned_decay() const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("decay", /*changes=*/false));
  return learn_decay(*store);
}

std::vector<DecayTableLine> MemoryManager::decay_table() const { return list_decay(impl_->store); }

SessionState MemoryManager::session_state(const Session& session) const {
  return state_of(impl_->store, session);
}

Result<MaintenanceReport> MemoryManager::maintain(const MaintainOptions& options) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("maintain", !options.dry_run));
  return bmad_mem::maintain(*store, options);
}

Result<IndexAge> MemoryManager::index_age() const { return bmad_mem::index_age(impl_->store); }

bool MemoryManager::in_repository() const { return impl_->store.tracked.in_repository(); }

bool MemoryManager::is_tracked(std::string_view session_id) const {
  TrackedFiles& tracked = impl_->store.tracked;
  return session_id.empty() ? tracked.any() : tracked.has_session(session_id);
}

std::size_t MemoryManager::tracked_event_logs() const {
  return impl_->store.tracked.count_event_logs();
}

std::set<std::string> MemoryManager::sessions_in_conflict() const {
  return impl_->store.tracked.sessions_in_conflict();
}

Result<MaintenanceAge> MemoryManager::maintenance_age() const {
  return bmad_mem::maintenance_age(impl_->store);
}

Status MemoryManager::check_writable() const {
  return impl_->store.why_read_only ? Status(*impl_->store.why_read_only) : Status();
}

Status MemoryManager::check_allowed(std::string_view operation, bool changes) const {
  return permit(impl_->store, operation, changes);
}

std::vector<Error> MemoryManager::problems() const { return impl_->store.problems(); }

std::vector<MaintenanceAction> MemoryManager::maintained_by_the_way() {
  const std::lock_guard guard(impl_->maintained_mutex);
  return std::exchange(impl_->maintained, {});
}

Result<VerifyReport> MemoryManager::verify(std::span<const std::string> sessions,
                                           const Progress& on_progress) const {
  return impl_->call("verify", verify_store, sessions, on_progress);
}

Result<std::vector<IndexReport>> MemoryManager::rebuild_index(std::span<const std::string> sessions,
                                                              const Progress& on_progress) {
  return impl_->call("rebuild-index", rebuild_indexes, sessions, on_progress);
}

Result<EncodeReport> MemoryManager::encode(const EncodeOptions& options,
                                           const Progress& on_progress) {
  return impl_->call("encode", encode_entries, options, on_progress);
}

bool MemoryManager::index_new_entries(bool with_readable) const {
  constexpr std::chrono::milliseconds kAtOnce{500};
  std::vector<std::string> written;
  {
    const std::lock_guard guard(impl_->store.sessions_mutex);
    std::ranges::copy(std::views::keys(impl_->store.sessions), std::back_inserter(written));
  }
  for (const std::string& session_id : with_readable ? written : std::vector<std::string>()) {
    renew_readable_index(impl_->store, session_id);
  }
  return maintain_index(impl_->store, kAtOnce);
}

Result<RepairReport> MemoryManager::repair(
    std::span<const std::string> sessions, const Progress& on_progress,
    const std::function<bool(const std::string& session_id)>& is_elsewhere) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("repair"));
  BMAD_TRY(look_for_hand_edits(HandLook::kAll));  // A line without an id is set aside else.
  return repair_store(*store, sessions, on_progress, is_elsewhere);
}

Status MemoryManager::look_for_hand_edits(HandLook look) {
  return bmad_mem::look_for_hand_edits(impl_->store, look);
}

std::vector<HandEdit> MemoryManager::hand_edits(bool with_texts) const {
  return bmad_mem::hand_edits(impl_->store, with_texts);
}

Result<std::vector<HandEdit>> MemoryManager::settle_hand_edits(std::span<const HandEdit> edits,
                                                               bool restore) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("review"));
  if (ActingAs::current(store->writes_as) == Origin::kAgent) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message =
                     "only the user accepts or restores what was edited by hand: ask for "
                     "`bmad-mem review --hand` in a terminal"};
  }
  return bmad_mem::settle_hand_edits(*store, edits, restore);
}

Result<RepairReport> MemoryManager::accept_changes(std::span<const std::string> sessions) {
  return impl_->call("repair", bmad_mem::accept_changes, sessions);
}

Result<std::vector<RedactReport>> MemoryManager::redact(std::span<const std::string> sessions,
                                                        bool dry_run, const Progress& on_progress) {
  return impl_->call("redact", redact_sessions, sessions, dry_run, on_progress,
                     /*only_repeated=*/false);
}

Result<std::vector<RedactReport>> MemoryManager::redact_repeated(
    std::span<const std::string> sessions) {
  // Without a state folder there are none.
  const bool are_kept = impl_->store.origins->state_stamp(kJudgedName) != 0;
  return impl_->call("redact", redact_sessions, sessions, /*dry_run=*/false, Progress(), are_kept);
}

Result<std::vector<EncryptReport>> MemoryManager::encrypt(const EncryptOptions& options,
                                                          const Progress& on_progress) {
  return impl_->call("encrypt", encrypt_sessions, options, on_progress);
}

EncryptionState MemoryManager::encryption_state() const {
  EncryptionState state;
  if (const auto* const own = dynamic_cast<const StoreEncryption*>(impl_->store.encryption.get())) {
    state = own->state();
  }
  state.waiting = count_waiting();
  return state;
}

Result<PrivacyReport> MemoryManager::privacy_report(std::span<const std::string> sessions) const {
  return impl_->call("privacy", report_privacy, sessions);
}

Result<SecretScanner> MemoryManager::scanner() const {
  if (impl_->store.redaction != nullptr) {
    return impl_->store.redaction->scanner();
  }
  BMAD_TRY_ASSIGN(const std::unique_ptr<StoreRedaction> rules,
                  StoreRedaction::make(impl_->store, KeyUse::kNone));
  return rules->scanner();
}

Result<Store*> MemoryInside::enter(MemoryManager& memory, std::string_view operation,
                                   bool changes) {
  assert(memory.impl_ != nullptr && "the memory was moved from");
  return memory.impl_->enter(operation, changes);
}

Result<const Store*> MemoryInside::enter(const MemoryManager& memory, std::string_view operation) {
  assert(memory.impl_ != nullptr && "the memory was moved from");
  return memory.impl_->enter(operation);
}

const Store& MemoryInside::settings(const MemoryManager& memory) { return memory.impl_->store; }

Result<std::vector<LockHolder>> list_lock_holders(const MemoryManager& memory) {
  const Store& store = MemoryInside::settings(memory);
  std::vector<LockHolder> holders;
  const auto probe = [&](std::string session_id, const std::string& lock,
                         const std::string& info) -> Status {
    BMAD_TRY_ASSIGN(std::optional<LockHolder> holder, probe_lock(*store.files, lock, info));
    if (holder) {
      holder->session_id = std::move(session_id);
      holders.push_back(*std::move(holder));
    }
    return {};
  };
  BMAD_TRY(probe("", kLockName, kLockInfoName));
  BMAD_TRY_ASSIGN(const std::vector<std::string> sessions, store.session_ids());
  for (const std::string& session_id : sessions) {
    // What can't be probed, such as a link in the folder's place, is no lock of anybody.
    static_cast<void>(probe(session_id, lock_path(session_id), lock_info_path(session_id)));
  }
  return holders;
}

std::vector<std::string> setting_keys() {
  std::vector<std::string> keys;
  for (SettingInfo& setting : list_config({})) {
    keys.push_back(std::move(setting.key));
  }
  return keys;
}

Result<std::vector<SettingInfo>> list_settings(const MemoryManager& memory, std::string_view key) {
  std::string wanted;
  if (!key.empty()) {
    BMAD_TRY_ASSIGN(wanted, known_config_key(key));
  }
  const Store& store = MemoryInside::settings(memory);
  std::vector<SettingInfo> settings = list_config(store.config);
  for (SettingInfo& each : settings) {
    const auto waiting = std::ranges::find(store.written.waiting, each.key, &WaitingSetting::key);
    each.waiting = waiting == store.written.waiting.end() ? std::string() : waiting->value;
  }
  const auto path = std::ranges::find(settings, "encoder.path", &SettingInfo::key);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets a variable.
  if (const char* weights = std::getenv(kWeightsVariable);
      weights != nullptr && path->set_by == "program") {
    path->value = json_quoted(weights);
    path->set_by = "environment";
  }
  std::erase_if(settings, [&](const SettingInfo& each) {
    return !wanted.empty() && each.key != wanted && !each.key.starts_with(wanted + '.');
  });
  return settings;
}

Status edit_settings(
    MemoryManager& memory, const std::map<std::string, std::optional<std::string>>& changes,
    const std::function<Result<std::string>(std::string_view text, const std::string& key,
                                            const std::optional<std::string>& value)>& write) {
  constexpr std::uint64_t kSizeMax = 1U << 20U;  // As when it is read.
  BMAD_TRY_ASSIGN(Store* const store, MemoryInside::enter(memory, "config set"));
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, store->lock_root("config set"));
  BMAD_TRY_ASSIGN(const auto before, if_there(read_file(*store->files, kConfigFile, kSizeMax)));
  const auto edited = [&](std::string text) -> Result<LoadedConfig> {
    const auto write_all = [&](const SettingChanges& settings) -> Status {
      for (const auto& [key, value] : settings) {
        BMAD_TRY_ASSIGN(text, write(text, key, value));
      }
      return {};
    };
    BMAD_TRY(write_all(changes));
    BMAD_TRY_ASSIGN(LoadedConfig loaded,
                    parse_config(text, store->files->display_path(kConfigFile), changes));
    BMAD_TRY(write_all(loaded.renewals));
    loaded.text = std::move(text);
    return loaded;
  };
  const std::string text = before.value_or("");
  BMAD_TRY_ASSIGN(LoadedConfig loaded, edited(text));
  BMAD_TRY(check_config(*store, loaded.config));
  if (before == loaded.text) {
    return {};
  }
  // What the user sets is trusted, and nothing else that has come into the file.
  RootOrigins& origins = *store->origins;
  const bool is_agent = ActingAs::current(store->writes_as) == Origin::kAgent;
  const bool keeps_trust =
      !is_agent && origins.provenance() != nullptr && origins.trusts(store->config);
  BMAD_TRY_ASSIGN(const LoadedConfig trusted,
                  edited(keeps_trust ? origins.trusted_config(store->config, text) : text));
  BMAD_TRY(replace_file(*store->files, kConfigFile, loaded.text));
  BMAD_TRY(keeps_trust ? origins.mark(origins.trust(), trusted.config, trusted.text) : Status());
  take_config(*store, std::move(loaded));
  return {};
}

std::string effective_settings(const MemoryManager& memory) {
  return config_text(MemoryInside::settings(memory).config);
}

EncoderReport encoder_report(const MemoryManager& memory) {
  const Store& store = MemoryInside::settings(memory);
  EncoderReport report{.is_enabled = store.config.encoder.enabled};
  const Result<std::shared_ptr<TextEncoder>> encoder = encoder_of(store);
  if (!encoder) {
    report.problem = encoder.error();
  } else if (*encoder != nullptr) {
    const std::array<std::string, 1> sentence{"Is anybody there?"};
    if (const auto vector = (*encoder)->encode(sentence); !vector) {
      report.problem = vector.error();
    }
    report.name = (*encoder)->name();
    report.dimension = (*encoder)->dimension();
    const Result<EncodedCount> counted =
        count_encoded(store, vectors_of(**encoder, store.config.encoder.sensitive));
    if (!counted) {
      report.problem = report.problem.value_or(counted.error());
      return report;
    }
    report.entries = counted->entries;
    report.waiting = counted->waiting;
  }
  return report;
}

}  // namespace bmad_mem
