// inspection.cpp - what people want to know of a memory at work: its locks, its settings and its
// encoder.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/encoder.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/settings.hpp"
#include "encoder/encoder_choice.hpp"
#include "operations/rooms.hpp"
#include "search/indexing.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/config.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {

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
  assert(path != settings.end() && "list_config() has all settings");
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
  Result<std::string> before = read_file(*store->files, kConfigFile, kSizeMax);
  if (!before && !is_not_found(before.error())) {
    return std::move(before).error();
  }
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
  const std::string text = before ? *before : std::string();
  BMAD_TRY_ASSIGN(LoadedConfig loaded, edited(text));
  BMAD_TRY(check_config(*store, loaded.config));
  if (before && *before == loaded.text) {
    return {};
  }
  // What the user sets is trusted, and nothing else that has come into the file.
  RootOrigins& origins = *store->origins;
  const bool is_agent = ActingAs::current(store->writes_as) == Origin::kAgent;
  const bool keeps_trust =
      !is_agent && origins.ledger() != nullptr && origins.trusts(store->config);
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
    assert(counted->waiting <= counted->entries);
    report.entries = counted->entries;
    report.waiting = counted->waiting;
  }
  return report;
}

}  // namespace bmad_mem
