// opening.cpp - a root becomes a Store: this one, the user's own beside it, those of other
// projects.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/process.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/text.hpp"
#include "lifecycle/maintenance.hpp"
#include "lifecycle/repair.hpp"
#include "model/entry.hpp"
#include "operations/rooms.hpp"
#include "privacy/encryption.hpp"
#include "privacy/redaction.hpp"
#include "search/analyzer.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "store/store.hpp"
#include "store/store_watch.hpp"

namespace bmad_mem {
namespace {

/// A folder that merely exists is no memory root: writing there would litter it. The lock is what
/// git leaves of a root when it takes everything else away.
Status check_is_root(FileSystem& files) {
  for (const char* name : {kSessionsFolder, kConfigFile, kLockName}) {
    const Result<FileInfo> info = files.info(name);
    if (info || !is_not_found(info.error())) {
      return info ? Status() : Status(info.error());
    }
  }
  return path_error(ErrorCode::E_SESSION_NOT_FOUND, files.display_path(""),
                    "is a folder but not a memory root (it has neither config.json nor "
                    "sessions/); `bmad-mem init` makes it one");
}

/// Whether there is a stemmer for the config's language: the room that reads the config can't tell.
Status check_language(FileSystem& files, const Config& config) {
  if (config.indexing.language == IndexingConfig().language) {
    return {};
  }
  const Result<Analyzer> analyzer = Analyzer::create(config.indexing.language);
  if (analyzer) {
    return {};
  }
  Error error = analyzer.error();
  error.path = files.display_path(kConfigFile);
  error.field = "memory_config.indexing.language";
  return error;
}

/// Makes the redactor, and takes out of the agent's name what nobody should read in a lock file.
Status set_up_redaction(Store& store) {
  if (!store.config.privacy.auto_redaction) {
    return {};
  }
  BMAD_TRY_ASSIGN(std::unique_ptr<StoreRedaction> redaction, StoreRedaction::make(store));
  store.redaction = std::move(redaction);
  // Most agents have a name such as "claude-code": that takes no redactor, which costs 50 us when
  // it is first used, and reads the files of rules.
  constexpr std::size_t kSecretSizeMin = 8;
  const bool is_name = std::ranges::all_of(
      store.agent_id, [](char c) { return is_lower(c) || c == '-' || c == '_'; });
  if (store.agent_id.size() >= kSecretSizeMin && !is_name) {
    store.agent_id = store.redaction->redact_text(store.agent_id, {});
  }
  return {};
}

/// A file that is invalid has no effect where it can be a stranger's: what the user trusted holds.
Status read_config(Store& store, bool tolerates) {
  assert(store.files != nullptr && store.origins != nullptr);
  Result<LoadedConfig> loaded = load_config(*store.files);
  if (loaded) {
    take_config(store, *std::move(loaded));
    return check_language(*store.files, store.config);
  }
  const bool is_invalid = loaded.error().code == ErrorCode::E_SCHEMA_INVALID ||
                          loaded.error().code == ErrorCode::E_INVALID_FORMAT;
  const Result<LoadedConfig> trusted =
      parse_config(store.origins->trusted_config(Config(), {}), kConfigFile);
  const bool is_known = trusted || store.origins->is_foreign();
  BMAD_TRY(tolerates || (is_invalid && is_known) ? Status() : Status(loaded.error()));
  store.config = store.written.config = trusted ? trusted->config : Config();
  store.config_problem = loaded.error();
  return check_language(*store.files, store.config);
}

std::chrono::milliseconds chosen_timeout(const OpenOptions& options, const Config& config) {
  return options.lock_timeout.value_or(
      std::chrono::milliseconds(config.concurrency.lock_timeout_ms));
}

/// What goes wrong beside `store`, which must outlive it, is told as of it.
std::function<void(const Error&)> problems_of(const Store& store) {
  return [&store](const Error& problem) {
    const std::lock_guard guard(store.damaged_mutex);
    store.on_problem(problem);
  };
}

}  // namespace

Status open_store(Store& store, OpenOptions options) {
  BMAD_TRY_ASSIGN(std::unique_ptr<FileSystem> disk, open_posix_file_system(options.root));
  store.files = std::make_unique<RetryingFileSystem>(std::move(disk));
  BMAD_TRY(check_is_root(*store.files));
  store.root = std::move(options.root);
  store.origins = std::make_unique<RootOrigins>(options.state_folder, store.root);
  BMAD_TRY_ASSIGN(store.why_read_only, newer_layout(*store.files));
  if (!store.why_read_only) {
    store.why_read_only = store.origins->link_problem();
  }
  if (store.why_read_only) {
    store.files = read_only_files(std::move(store.files), *store.why_read_only);
  }
  if (Status usable = read_config(store, options.tolerate_bad_config); !usable) {
    BMAD_TRY(options.tolerate_bad_config ? Status() : usable);
    store.config.indexing.language = IndexingConfig().language;
    store.config_problem = std::move(usable).error();
  }
  store.notes_accesses = options.note_accesses;
  store.runs_programs = options.runs_programs;
  store.indexes_at_the_end = options.index_at_the_end;
  if (options.index_at_the_end) {
    store.new_budget.limit(UnpackBudget::kQuickMax);
  }
  store.lock_timeout = chosen_timeout(options, store.config);
  store.state_folder = std::move(options.state_folder);
  store.writes_as = options.writes_as;
  if (!options.working_directory.empty()) {
    store.checkout_root = checkout_root(store.root, options.working_directory, store.state_folder);
  }
  const bool is_users = options.user_root == store.root;
  store.user_root = is_users ? std::string() : std::move(options.user_root);
  store.workspace = workspace_of(store.root);
  const bool is_home = is_users || store.workspace.resolved == store.workspace.home;
  options.encryption_key.key_file = with_home(options.encryption_key.key_file);
  store.encryption = std::make_unique<StoreEncryption>(
      *store.files, *store.origins, std::move(options.encryption_key),
      is_home ? store.root : store.workspace.resolved);
  store.agent_id = std::move(options.agent_id);
  store.access = std::move(options.access);
  if (options.on_problem) {
    store.on_problem = std::move(options.on_problem);
  }
  store.watch = options.watch_folders ? std::make_unique<StoreWatch>(store) : nullptr;
  if (is_users && store.origins->is_unknown()) {
    // It is in no project, so nobody but the user has made it.
    static_cast<void>(trust_root(store));
  }
  if (Status ready = set_up_redaction(store); !ready) {
    BMAD_TRY(options.tolerate_bad_config ? Status() : ready);
    store.config_problem = std::move(ready).error();
    store.config.privacy.redaction = {};  // Nothing is written unredacted because of a bad pattern.
    store.config.privacy.allow.clear();
    return set_up_redaction(store);
  }
  return {};
}

Status check_config(Store& store, Config& config) {
  std::swap(store.config, config);
  Status usable = check_language(*store.files, store.config);
  if (usable) {
    const auto rules = StoreRedaction::make(store, KeyUse::kNone);
    usable = rules ? Status() : Status(rules.error());
  }
  std::swap(store.config, config);
  return usable;
}

Result<std::unique_ptr<Store>> open_user_store(const Store& store) {
  assert(!store.user_root.empty());
  auto user = std::make_unique<Store>(store.clock, all_rooms());
  const auto* const encryption = dynamic_cast<const StoreEncryption*>(store.encryption.get());
  BMAD_TRY(open_store(*user, {.root = store.user_root,
                              .user_root = store.user_root,
                              .agent_id = store.agent_id,
                              .state_folder = store.state_folder,
                              .writes_as = store.writes_as,
                              .access = store.access,
                              .tolerate_bad_config = true,
                              .encryption_key = encryption == nullptr ? EncryptionKeySource()
                                                                      : encryption->source(),
                              .note_accesses = store.notes_accesses,
                              .index_at_the_end = store.indexes_at_the_end,
                              .watch_folders = store.watch != nullptr,
                              .runs_programs = store.runs_programs,
                              .on_problem = problems_of(store)}));
  // Sessions that can't be listed would fail each question; without them the project answers.
  BMAD_TRY(list_if_there(*user->files, kSessionsFolder));
  return user;
}

Result<std::unique_ptr<Store>> open_other_store(const Store& store, const std::string& folder) {
  std::string root = std::filesystem::path(folder).lexically_normal().string();
  while (root.size() > 1 && root.ends_with('/')) {
    root.pop_back();
  }
  const std::filesystem::path within = std::filesystem::path(root) / kRootFolder;
  std::error_code failure;
  const bool is_project = std::filesystem::is_directory(within, failure);
  auto other = std::make_unique<Store>(store.clock, all_rooms());
  assert(root == "/" || !root.ends_with('/'));
  other->root = is_project ? within.string() : std::move(root);
  Result<std::unique_ptr<FileSystem>> disk = open_posix_file_system(other->root);
  if (!disk && is_not_found(disk.error())) {
    return path_error(ErrorCode::E_SESSION_NOT_FOUND, other->root,
                      "there is no such folder, so no memory to search");
  }
  BMAD_TRY_ASSIGN(std::unique_ptr<FileSystem> files, std::move(disk));
  other->files = std::make_unique<RetryingFileSystem>(std::move(files));
  BMAD_TRY(check_is_root(*other->files));
  BMAD_TRY_ASSIGN(other->why_read_only, newer_layout(*other->files));
  other->files = read_only_files(
      std::move(other->files), other->why_read_only.value_or(
                                   Error{.code = ErrorCode::E_ACCESS_DENIED,
                                         .message = "the memory of another project is only read"}));
  // Nothing of its config.json: that says what is started, and how to rank, to who opens it.
  other->config = store.config;
  other->notes_accesses = false;
  other->runs_programs = false;
  other->origins = std::make_unique<RootOrigins>(store.state_folder, other->root);
  other->state_folder = store.state_folder;
  other->workspace = workspace_of(other->root);
  const auto* const encryption = dynamic_cast<const StoreEncryption*>(store.encryption.get());
  other->encryption = std::make_unique<StoreEncryption>(
      *other->files, *other->origins,
      encryption == nullptr ? EncryptionKeySource() : encryption->source(),
      other->workspace.resolved);
  other->agent_id = store.agent_id;
  other->access = store.access;
  other->on_problem = problems_of(store);
  return other;
}

RoomsAbove all_rooms() {
  return {.make_root_index = [](const Store& store) { return std::make_shared<RootIndex>(store); },
          .compact = compact_session,
          .restore = restore_session,
          .newest_line = newest_line,
          .maintain_index =
              [](const Store& store) {
                maintain_index(
                    store, kEncodeAtTheEnd, store.flushes_any ? FlushWhen::kAny : FlushWhen::kSome,
                    store.replaces_vectors ? OtherVectors::kReplace : OtherVectors::kKeep);
              },
          .hide_id = hidden_id,
          .look_before_append = look_before_append,
          .open_user = open_user_store,
          .open_other = open_other_store};
}

}  // namespace bmad_mem
