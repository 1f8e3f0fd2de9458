// memory_manager.cpp - a memory is opened; its sessions, and entries written and read.
#include "bmad_mem/memory_manager.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/agent_memory.hpp"
#include "bmad_mem/json.hpp"
#include "lifecycle/maintenance.hpp"
#include "memory_impl.hpp"
#include "privacy/redaction.hpp"
#include "search/cached_indexes.hpp"
#include "search/reads.hpp"
#include "store/access.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/posix_file_system.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"

namespace bmad_mem {

namespace {

/// Whether nothing is there but the lock: what somebody else made is no root of this user.
Result<bool> is_empty_root(FileSystem& files) {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, files.list(""));
  return std::ranges::all_of(
      names, [](const std::string& name) { return name == kLockName || name == kLockInfoName; });
}

/// Writes `path` unless it is there. True when it was written.
Result<bool> create_if_missing(FileSystem& files, const char* path, std::string_view text) {
  BMAD_TRY_ASSIGN(const bool is_known, is_there(files, path));
  BMAD_TRY(is_known ? Status() : replace_file(files, path, text));
  return !is_known;
}

}  // namespace

Result<std::string> MemoryManager::find_root(std::string_view explicit_root,
                                             std::string_view env_value,
                                             const std::string& working_directory,
                                             const std::string& state_folder) {
  return bmad_mem::find_root(explicit_root, env_value, working_directory, state_folder);
}

std::string MemoryManager::worktree_problem(const std::string& working_directory) {
  return bmad_mem::worktree_problem(working_directory);
}

const std::vector<std::string>& MemoryManager::worktrees() const {
  return impl_->store.workspace.worktrees;
}

std::string MemoryManager::root_to_create(std::string_view explicit_root,
                                          std::string_view env_value,
                                          const std::string& working_directory) {
  return bmad_mem::root_to_create(explicit_root, env_value, working_directory);
}

Result<InitReport> MemoryManager::init(const std::string& root, const std::string& state_folder) {
  ignore_write_signals();
  BMAD_TRY(make_root_directory(root));
  BMAD_TRY_ASSIGN(const std::unique_ptr<FileSystem> files, open_posix_file_system(root));
  BMAD_TRY_ASSIGN(std::optional<Error> newer, newer_layout(*files));
  if (newer) {
    return *std::move(newer);
  }
  if (const RootOrigins origins(state_folder, root); origins.link_problem()) {
    return *origins.link_problem();
  }
  FileLock lock(*files, system_clock(), kLockName, kLockInfoName);
  BMAD_TRY_ASSIGN(const FileLock::Guard guard, lock.acquire({.operation = "init"}));
  InitReport report{.root = root};
  BMAD_TRY_ASSIGN(report.created_root, is_empty_root(*files));
  // Before anything is there, and again with config.json: who is killed between finds it his own.
  const auto mark_own = [&] {
    if (report.created_root && !state_folder.empty()) {
      const Status marked = RootOrigins(state_folder, root)
                                .mark(RootTrust::kOwn, Config(),
                                      read_file(*files, kConfigFile, 1U << 20U).value_or(""));
      report.trust_problem = marked ? std::nullopt : std::optional(marked.error());
    }
  };
  mark_own();
  BMAD_TRY(ensure_folder(*files, kSessionsFolder));
  BMAD_TRY_ASSIGN(report.created_gitignore,
                  create_if_missing(*files, kGitignoreFile, gitignore_text()));
  BMAD_TRY_ASSIGN(report.created_config,
                  create_if_missing(*files, kConfigFile, default_config_text()));
  BMAD_TRY(files->sync_directory(""));
  mark_own();
  return report;
}

Result<MemoryManager> MemoryManager::open(OpenOptions options) {
  ignore_write_signals();
  auto impl = std::make_unique<Impl>(options.clock != nullptr ? *options.clock : system_clock());
  BMAD_TRY(open_store(impl->store, std::move(options)));
  return MemoryManager(std::move(impl));
}

MemoryManager::MemoryManager(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MemoryManager::MemoryManager(MemoryManager&&) noexcept = default;
MemoryManager& MemoryManager::operator=(MemoryManager&&) noexcept = default;
MemoryManager::~MemoryManager() = default;

HookPolicy MemoryManager::hook_policy() const {
  const Store& store = impl_->store;
  const Config& config = store.config;
  const bool may_sync = config.hub.automatic == "session_end" && !store.origins->is_foreign();
  return {.tells = config.context.inject,
          .records = config.recording.enabled && !store.origins->link_problem(),
          .learns_at_end = config.knowledge.learn_at_session_end,
          .asks_agent = config.learning.ask_agent,
          .syncs_at_end = may_sync && store.files->info(kHubStateFile),
          .skip_clients = config.recording.skip_clients,
          .skip_tools = config.recording.skip_tools,
          .skip_paths = config.recording.skip_paths};
}

std::vector<std::string> MemoryManager::config_warnings() const {
  const WrittenConfig& written = impl_->store.written;
  std::vector<std::string> warnings = impl_->store.config_warnings;
  if (const std::optional<Error>& problem = impl_->store.config_problem) {
    warnings.push_back(fmt::format("{}: {}; it has no effect until it is corrected",
                                   error_code_name(problem->code), problem->to_string()));
  }
  if (!written.waiting.empty()) {
    const std::size_t more = written.waiting.size() - 1;
    warnings.push_back(fmt::format(
        "config.json is not as you trusted it: {}{} without effect until you have run `bmad-mem "
        "trust`, which shows what it changes",
        written.waiting[0].key, more == 0 ? "" : fmt::format(" and {} more", more)));
  }
  if (!written.stricter.empty()) {
    warnings.push_back(fmt::format(
        "config.json is not as you trusted it: {} of it {} an effect already, since it "
        "protects more; `bmad-mem config set KEY VALUE` changes it back",
        fmt::join(written.stricter, ", "), written.stricter.size() == 1 ? "has" : "have"));
  }
  return warnings;
}

const std::optional<Error>& MemoryManager::config_problem() const {
  return impl_->store.config_problem;
}

const std::string& MemoryManager::root() const { return impl_->store.root; }

Result<std::string> MemoryManager::create_session(const SessionParams& params) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("session new"));
  BMAD_TRY(check_may_encrypt(*store, params.session_id));
  Result<std::string> created = bmad_mem::create_session(*store, params);
  if (created) {
    impl_->maintain_by_the_way();
  }
  return created;
}

Result<UsualSession> MemoryManager::usual_session(const SessionParams& fresh,
                                                  const std::function<Result<bool>()>& is_needed) {
  return impl_->call("session new", bmad_mem::usual_session, fresh, is_needed);
}

Result<Session> MemoryManager::load_session(std::string_view session_id) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("session show"));
  const std::string id(session_id);
  return titled_session(store_of(*store, std::span(&id, 1)), id);
}

std::string MemoryManager::log_stamp(std::string_view session_id) const {
  std::string stamp;
  for (const EntryType type : kEntryTypes) {
    if (const Result<FileInfo> log = impl_->store.files->info(log_path(session_id, type))) {
      stamp += fmt::format("{} {} {} {} {};", log->device, log->inode, log->size, log->mtime_ns,
                           log->ctime_ns);
    }
  }
  return stamp.empty() ? stamp : hash_hex(xxh3(stamp));
}

Result<Session> MemoryManager::update_session(std::string_view session_id,
                                              const SessionChange& change) {
  return impl_->call("session set", bmad_mem::update_session, std::string(session_id), change);
}

Result<std::vector<Session>> MemoryManager::list_sessions() const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("session list"));
  BMAD_TRY_ASSIGN(const std::vector<std::string> ids, store->session_ids());
  std::vector<Session> sessions;
  for (const std::string& id : ids) {
    Result<Session> session = titled_session(*store, id);
    if (!session) {
      session = Session{.session_id = id, .problem = std::move(session).error()};
    }
    sessions.push_back(std::move(*session));
  }
  assert(sessions.size() == ids.size() && "a session that can't be read is listed, too");
  std::ranges::stable_sort(sessions, {}, &Session::created_at);
  return sessions;
}

Result<Session> MemoryManager::close_session(std::string_view session_id) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("session close"));
  Result<Session> closed = bmad_mem::close_session(*store, std::string(session_id));
  if (closed) {
    impl_->maintain_by_the_way();
  }
  return closed;
}

Result<SessionStatistics> MemoryManager::statistics(std::string_view session_id) const {
  return impl_->call("stats", count_session, std::string(session_id));
}

Result<GlobalStatistics> MemoryManager::global_statistics() const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("stats"));
  BMAD_TRY_ASSIGN(const std::vector<Session> sessions, list_sessions());
  GlobalStatistics global;
  for (const Session& session : sessions) {
    Result<SessionStatistics> counted = count_session(*store, session.session_id);
    if (counted) {
      global.sessions.push_back(std::move(*counted));
    } else {
      global.problems.push_back(std::move(counted).error());
    }
  }
  assert(global.sessions.size() + global.problems.size() == sessions.size());
  return global;
}

Result<std::string> MemoryManager::add(std::string_view session_id, EntryType type,
                                       std::string_view json) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("add"));
  BMAD_TRY(check_decides_nothing(*store, json, false));
  return Impl::single_id(type == EntryType::kPreference
                             ? impl_->add_preferences(session_id, {&json, 1}, {})
                             : add_versions(*store, std::string(session_id), type, {&json, 1}, {}));
}

Result<Entry> MemoryManager::update_entry(std::string_view id, std::string_view changes,
                                          std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("edit"));
  const std::string wanted(id);
  BMAD_TRY_ASSIGN(Store* const its, impl_->store_with({&wanted, 1}, sessions));
  BMAD_TRY(check_decides_nothing(*its, changes, true));
  Result<Entry> updated = bmad_mem::update_entry(*its, wanted, changes, sessions);
  if (updated) {
    updated->of_user = its != store;
  }
  return updated;
}

Result<LinkReport> MemoryManager::link(const LinkRequest& request) {
  return impl_->call("link", link_entries, request);
}

Result<PinReport> MemoryManager::pin(std::span<const std::string> ids, bool pinned,
                                     std::span<const std::string> sessions) {
  BMAD_TRY_ASSIGN(Store * store, impl_->enter(pinned ? "pin" : "unpin"));
  BMAD_TRY_ASSIGN(store, impl_->store_with(ids, sessions));
  return pin_entries(*store, ids, pinned, sessions);
}

Result<MoveReport> MemoryManager::move_entries(std::span<const std::string> ids,
                                               MemoryManager& target) {
  BMAD_TRY_ASSIGN(Store* const from, impl_->enter("move"));
  BMAD_TRY_ASSIGN(Store* const to, target.impl_->enter("move"));
  return bmad_mem::move_entries(*from, *to, ids);
}

Result<std::string> MemoryManager::add_artifact_document(std::string_view session_id,
                                                         ArtifactEntry entry,
                                                         std::string_view document) {
  return impl_->call("artifact add", bmad_mem::add_artifact_document, std::string(session_id),
                     std::move(entry), document);
}

Result<std::optional<Entry>> MemoryManager::agent_state(
    std::string_view agent_id, std::span<const std::string> sessions) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("state get"));
  const EntryFilter filter{.sessions = {sessions.begin(), sessions.end()},
                           .types = {EntryType::kAgentState},
                           .agents = {std::string(agent_id)},
                           .limit = 1};
  BMAD_TRY_ASSIGN(std::vector<Entry> newest, list_entries(*store, filter));
  assert(newest.size() <= filter.limit);
  return newest.empty() ? std::optional<Entry>() : std::move(newest.front());
}

std::uint64_t MemoryManager::count_waiting() const { return bmad_mem::count_waiting(impl_->store); }

Result<std::uint64_t> MemoryManager::write_waiting() {
  return impl_->call("add", bmad_mem::write_waiting);
}

Result<BatchReport> MemoryManager::add_batch(std::string_view session_id, EntryType type,
                                             std::span<const std::string_view> lines,
                                             const BatchOptions& options) {
  BMAD_TRY_ASSIGN(Store* const store, impl_->enter("add"));
  const bool is_imported =
      options.known == KnownEntries::kSkipId || options.known == KnownEntries::kSkipIdentical;
  const ActingAs writer(is_imported ? Origin::kElsewhere : ActingAs::current(store->writes_as));
  BMAD_TRY(check_decide_nothing(*store, lines));
  if (type == EntryType::kPreference && !is_imported) {
    return impl_->add_preferences(session_id, lines, options);
  }
  return add_versions(*store, std::string(session_id), type, lines, options);
}

Result<BatchReport> MemoryManager::check_batch(EntryType type,
                                               std::span<const std::string_view> lines,
                                               const BatchOptions& options) const {
  return impl_->call("add", check_lines, type, lines, options);
}

Result<ExportReport> MemoryManager::export_entries(const ExportOptions& options,
                                                   ExportVisitor& visitor) const {
  BMAD_TRY_ASSIGN(const Store* const store, impl_->enter("export"));
  ExportOptions allowed = options;
  BMAD_TRY_ASSIGN(allowed.filter, readable(*store, options.filter));
  return bmad_mem::export_entries(*store, allowed, visitor);
}

Status MemoryManager::adopt_session(const Session& identity) {
  return impl_->call("session adopt", bmad_mem::adopt_session, identity);
}

Result<AnonymizeReport> MemoryManager::export_anonymized(const AnonymizeOptions& options,
                                                         ExportVisitor& visitor) const {
  return impl_->call("anonymize", bmad_mem::export_anonymized, options, visitor);
}

Result<AnonymizeReport> MemoryManager::anonymize(
    const AnonymizeOptions& options, const std::function<void(const Error&)>& on_problem) {
  return impl_->call("anonymize", anonymize_sessions, options, on_problem);
}

AgentMemory::AgentMemory(MemoryManager& memory, AgentMemoryOptions options)
    : memory_(&memory), options_(std::move(options)) {}

Result<std::vector<ConversationTurn>> AgentMemory::get_conversation_context(
    std::size_t turn_count) const {
  BMAD_TRY_ASSIGN(
      std::vector<Entry> newest_first,
      memory_->list(
          {.sessions = {options_.session_id}, .types = {EntryType::kConversation}, .limit = 0}));
  std::vector<ConversationTurn> turns;
  ConversationTurn turn;
  JsonParser parser;
  const auto close_turn = [&] {
    std::ranges::reverse(turn.messages);
    turns.push_back(std::exchange(turn, {}));
  };
  for (Entry& entry : newest_first) {
    if (turns.size() == turn_count) {
      break;
    }
    BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(entry.json));
    const bool begins_turn = value["role"].string() == "user";
    turn.messages.push_back(std::move(entry));
    if (begins_turn) {
      close_turn();
    }
  }
  if (!turn.messages.empty() && turns.size() < turn_count) {
    close_turn();  // What was said before the user's first word.
  }
  std::ranges::reverse(turns);
  return turns;
}

Result<std::vector<Hit>> AgentMemory::get_relevant_decisions(std::string_view topic,
                                                             std::size_t limit) const {
  return memory_->query({.text = std::string(topic),
                         .filter = {.types = {EntryType::kDecision}, .limit = limit},
                         .text_is_prose = true});
}

Result<std::string> AgentMemory::record_decision(DecisionRecord entry) {
  if (entry.made_by.empty()) {
    entry.made_by = options_.agent_id;
  }
  return memory_->add_decision(options_.session_id, entry);
}

Result<std::string> AgentMemory::record_finding(FindingRecord entry) {
  if (entry.discovered_by.empty()) {
    entry.discovered_by = options_.agent_id;
  }
  return memory_->add_finding(options_.session_id, entry);
}

}  // namespace bmad_mem
