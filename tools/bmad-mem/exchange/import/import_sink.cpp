// import_sink.cpp - gathers imported entries, and writes them in batches.
#include "exchange/import/import_sink.hpp"

#include <poll.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "exchange/git/shared_session.hpp"

namespace bmad_mem::cli {
namespace {

/// Whether every member of `entry`, as it may be written, stands in `known`, too.
bool says_the_same(const SecretScanner& scanner, const std::string& entry,
                   const std::string& known) {
  const std::vector<MemberText> there = json_members(known);
  return std::ranges::all_of(json_members(entry), [&](const MemberText& member) {
    const auto found = std::ranges::find(there, member.key, &MemberText::key);
    return found != there.end() &&
           (found->value == member.value || found->value == scanner.redact(member.value));
  });
}

/// Which entry a line is, and when this version of it was made.
struct Version {
  std::string id;
  Timestamp time{};
};
Version version_of(JsonParser& parser, const std::string& json) {
  const Result<JsonValue> value = parser.parse(json);
  return value ? Version{std::string((*value)["id"].string()), version_time(*value)} : Version{};
}

using EntriesById = std::map<std::string_view, const Entry*>;
/// The newest of each id. Must not outlive `listed`, in which the newest comes first.
EntriesById by_id(const std::vector<Entry>& listed) {
  EntriesById found;
  for (const Entry& entry : listed) {
    found.try_emplace(entry.id, &entry);
  }
  return found;
}

/// The time of an entry that an importer wrote: the first member of the name. Spares parsing it.
std::optional<Timestamp> time_in(std::string_view json) {
  static constexpr std::string_view kMember = R"("timestamp":")";
  const std::size_t found = json.find(kMember);
  if (found == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view time = json.substr(found + kMember.size());
  return try_parse_rfc3339(time.substr(0, time.find('"')));
}

}  // namespace

Timestamp version_time(JsonValue entry) {
  const auto time_of = [&](const char* member) {
    return try_parse_rfc3339(entry[member].string());
  };
  const Timestamp stated =
      time_of("updated_at").value_or(time_of("timestamp").value_or(Timestamp()));
  return std::max(stated, time_of("written_at").value_or(stated));
}

std::uint64_t ImportReport::written_in_all() const {
  return std::accumulate(written.begin(), written.end(), std::uint64_t{0});
}

Status ImportSink::need_session(const SessionParams& params,
                                const std::optional<Session>& identity) {
  if (report_.sessions.contains(params.session_id)) {
    return {};
  }
  if (there() == nullptr) {
    report_.sessions.insert(params.session_id);
    return {};
  }
  Result<Session> session = there()->load_session(params.session_id);
  const bool is_archived = !session && session.error().code == ErrorCode::E_SESSION_ARCHIVED;
  if (is_archived && memory_ != nullptr) {
    // A write would bring it back by itself, but what is known already has to be asked before.
    session = memory_->restore_session(params.session_id);
    BMAD_TRY(session);
    report_.notices.push_back(
        fmt::format("session {} was archived; it has been restored", params.session_id));
  }
  if (!session && session.error().code != ErrorCode::E_SESSION_NOT_FOUND && !is_archived) {
    return session.error();
  }
  BMAD_TRY(read_recorded(params.session_id, session || is_archived));
  SessionImport& at = session_import(params.session_id);
  at.type = params.session_type;
  if (session && session->closed_at) {
    at.closed = std::move(*session);
  } else if (!session && memory_ != nullptr) {
    at.is_new = !identity;
    at.make = [this, params, identity]() -> Status {
      Status made;
      if (identity) {
        made = memory_->adopt_session(*identity);
      } else if (Result<std::string> id = memory_->create_session(params); !id) {
        made = id.error();
      }
      // A hook or another import may have been quicker.
      return !made && memory_->load_session(params.session_id) ? Status() : made;
    };
    if (identity && at.deleted.empty()) {
      BMAD_TRY(make_session(at));
    }
  }
  report_.sessions.insert(params.session_id);
  return {};
}

Status ImportSink::make_session(SessionImport& session) {
  if (session.make) {
    BMAD_TRY(session.make());
    session.make = nullptr;
  }
  return {};
}

Result<std::string> ImportSink::need_shared_session(SessionParams params) {
  tally().is_odd = true;
  if (const auto known = shared_.find(params.session_id); known != shared_.end()) {
    return known->second;
  }
  const std::string name = params.session_id;
  std::vector<std::string> siblings;
  bool in_repository = false;
  if (there() != nullptr) {
    BMAD_TRY_ASSIGN(siblings, shared_sessions(*there(), name));
    // Outside of git, the one of the name is the session, also when it is archived.
    in_repository = there()->in_repository();
    if (in_repository) {
      BMAD_TRY_ASSIGN(params.session_id, writable_session_id(*there(), name));
    }
    std::erase(siblings, params.session_id);
    BMAD_TRY_ASSIGN(const auto deleted, deleted_of_shared(*there(), name));
    session_import(params.session_id).deleted.insert(deleted.begin(), deleted.end());
  }
  BMAD_TRY(need_session(params));
  shared_.emplace(name, params.session_id);
  SessionImport& at = session_import(params.session_id);
  at.is_shared = true;
  if (in_repository) {  // It was made for more than what this import has.
    at.is_new = false;
    at.closed.reset();
  }
  if (!siblings.empty()) {
    BMAD_TRY_ASSIGN(scanner_, there()->scanner());
    at.siblings = std::move(siblings);
  }
  return params.session_id;
}

bool ImportSink::is_there(const std::string& session_id) const {
  if (memory_ == nullptr) {
    return false;
  }
  const Result<Session> session = memory_->load_session(session_id);
  return session || session.error().code != ErrorCode::E_SESSION_NOT_FOUND;
}

ImportSink::Pending ImportSink::pending(std::string json, KnownEntries known,
                                        const ImportOrigin& origin) const {
  return {.json = std::move(json),
          .known = known,
          .file = std::string(origin.file),
          .file_number = report_.files,
          .line = origin.line};
}

Status ImportSink::add(std::string_view session_id, EntryType type, std::string json,
                       KnownEntries known, const ImportOrigin& origin) {
  static constexpr std::uint64_t kAddsBetweenLooks = 64;
  pollfd stop{.fd = stop_descriptor_, .events = POLLIN, .revents = 0};
  is_stopped_ = is_stopped_ || (stop_descriptor_ >= 0 && adds_++ % kAddsBetweenLooks == 0 &&
                                ::poll(&stop, 1, 0) == 1);
  if (is_stopped_) {
    return Error{.code = ErrorCode::E_RESOURCE_LIMIT, .message = "the import was stopped"};
  }
  if (memory_ == nullptr && checker_ == nullptr) {
    ++report_.written[static_cast<std::size_t>(type)];
    return {};
  }
  assert(report_.sessions.contains(session_id) && "need_session() has seen it");
  SessionImport& at = session_import(session_id);
  if (!at.deleted.empty() && at.deleted.contains(version_of(parser_, json).id)) {
    ++report_.deleted;
    tally().is_odd = true;
    return {};
  }
  ++tally().entries;
  BMAD_TRY(make_session(at));
  if (const std::optional<Timestamp> time = time_in(json)) {
    at.first = std::min(at.first.value_or(*time), *time);
    at.last = std::max(at.last.value_or(*time), *time);
  }
  pending_bytes_ += json.size();
  pending_[Key(session_id, type)].push_back(pending(std::move(json), known, origin));
  return pending_bytes_ < kBytesMax ? Status() : flush();
}

Status ImportSink::add_again(const std::string& session_id, EntryType type, std::string json,
                             const std::string& id, const ImportOrigin& origin) {
  if (memory_ == nullptr) {
    return add(session_id, type, std::move(json), KnownEntries::kAppendVersion, origin);
  }
  BMAD_TRY(flush());
  BMAD_TRY_ASSIGN(const std::vector<Entry> there, memory_->history(id, {&session_id, 1}));
  ++tally().entries;
  if (there.empty()) {
    ++report_.known;
    return {};
  }
  const Pending entry = pending(std::move(json), KnownEntries::kAppendVersion, origin);
  return write_batch(Key(session_id, type), {&entry, 1}, KnownEntries::kAppendVersion);
}

void ImportSink::refuse(Error error, const ImportOrigin& origin) {
  ++report_.refused;
  tally().is_odd = true;
  error.path = origin.file;
  error.line = origin.line;
  on_refused_(error);
}

Status ImportSink::flush() {
  std::map<Key, std::vector<Pending>> pending = std::exchange(pending_, {});
  pending_bytes_ = 0;
  // One session that is full or locked must not cost the others their entries.
  Status first_problem;
  for (auto& [key, entries] : pending) {
    Status status = memory_ != nullptr ? write(key, entries) : check(key, entries);
    for (auto& [number, tally] : tallies_) {
      tally.is_odd = tally.is_odd || !status;
    }
    if (!status && first_problem) {
      first_problem = std::move(status);
    }
  }
  if (!judged_.empty()) {  // An earlier batch may repeat what a later one has named.
    const std::vector<std::string> sessions(judged_.begin(), judged_.end());
    judged_.clear();
    const Result<std::vector<RedactReport>> done = memory_->redact_repeated(sessions);
    first_problem = first_problem && !done ? Status(done.error()) : std::move(first_problem);
  }
  return first_problem;
}

Status ImportSink::finish() {
  Status first_problem = flush();
  if (memory_ == nullptr) {
    return first_problem;
  }
  for (const auto& [session_id, had] : sessions_) {
    if (Status status = give_times(session_id, had); !status && first_problem) {
      first_problem = std::move(status);
    }
  }
  return first_problem;
}

Status ImportSink::give_times(const std::string& session_id, const SessionImport& had) {
  static constexpr std::chrono::hours kOpenFor(24);
  if (had.make || (!had.is_new && !had.closed)) {
    return {};
  }
  BMAD_TRY_ASSIGN(Session session, memory_->load_session(session_id));
  if (session.closed_at) {
    return {};  // Nothing was written to it.
  }
  if (had.closed) {
    session.closed_at = std::max(*had.closed->closed_at, had.last.value_or(Timestamp()));
    return memory_->adopt_session(session);
  }
  assert(had.first.has_value() == had.last.has_value());
  const Timestamp now = session.created_at;  // It was made a moment ago.
  if (!had.first || *had.first >= now) {
    return {};
  }
  session.created_at = *had.first;
  if (!had.is_shared && *had.last + kOpenFor < now) {
    session.closed_at = had.last;
  }
  return memory_->adopt_session(session);
}

/// Compares each entry with the newest version that is there or was left before it. An entry of
/// kSkipId is identified by its id, another one by its time.
Status ImportSink::leave_out_known(const std::string& session_id, EntryType type,
                                   std::vector<Pending>& entries) {
  // Not get(): that counts as being asked for the entry, and would make it decay later.
  std::vector<Entry> listed;
  if (memory_ != nullptr || checker_->load_session(session_id)) {
    BMAD_TRY_ASSIGN(listed, there()->list({.sessions = {session_id}, .types = {type}, .limit = 0}));
  }
  const EntriesById stored = by_id(listed);
  std::map<std::string, std::optional<Timestamp>> times;  // Of what is there, or was left.
  std::erase_if(entries, [&](const Pending& entry) {
    const auto [id, time] = version_of(parser_, entry.json);
    const auto [known, is_first] = times.try_emplace(id);
    std::optional<Timestamp>& newest = known->second;
    if (const auto found = stored.find(id); is_first && found != stored.end()) {
      newest = version_of(parser_, found->second->json).time;
    }
    const bool is_same = memory_ == nullptr && time == newest;  // add_batch() compares.
    if (newest && (is_same || entry.known == KnownEntries::kSkipId)) {
      ++report_.known;
      return true;
    }
    if (newest && time < *newest) {
      ++report_.skipped[std::string(kOlderVersions)];
      tallies_[entry.file_number].is_odd = true;
      return true;
    }
    newest = newest.value_or(time);
    return false;
  });
  return {};
}

Status ImportSink::leave_out_shared(const Key& key, std::vector<Pending>& entries) {
  const std::vector<std::string>& siblings = session_import(key.first).siblings;
  if (siblings.empty()) {
    return {};
  }
  BMAD_TRY_ASSIGN(const std::vector<Entry> listed,
                  there()->list({.sessions = siblings, .types = {key.second}, .limit = 0}));
  const EntriesById known = by_id(listed);
  assert(scanner_ && "need_shared_session() makes it for the siblings");
  std::vector<Pending> left;
  std::map<std::string, std::vector<Pending>> newer;
  for (Pending& entry : entries) {
    const auto found = known.find(version_of(parser_, entry.json).id);
    if (found == known.end()) {
      left.push_back(std::move(entry));
    } else if (entry.known == KnownEntries::kSkipId ||
               says_the_same(*scanner_, entry.json, found->second->json)) {
      ++report_.known;
    } else {
      newer[found->second->session_id].push_back(std::move(entry));
    }
  }
  entries = std::move(left);
  for (auto& [session_id, versions] : newer) {
    BMAD_TRY(write(Key(session_id, key.second), versions));
  }
  return {};
}

Status ImportSink::write(const Key& key, std::vector<Pending>& entries) {
  const auto& [session_id, type] = key;
  BMAD_TRY(leave_out_shared(key, entries));
  if (entries.empty()) {
    return {};
  }
  // A message of several blocks comes when its last block was read.
  std::ranges::stable_sort(entries, [](const Pending& a, const Pending& b) {
    return std::tie(a.file_number, a.line) < std::tie(b.file_number, b.line);
  });
  const auto all_have = [&](KnownEntries rule) {
    return std::ranges::all_of(entries, [&](const Pending& entry) { return entry.known == rule; });
  };
  const bool one_rule = all_have(KnownEntries::kSkipId);
  if (!one_rule && !all_have(KnownEntries::kAppendVersion)) {
    BMAD_TRY(leave_out_known(session_id, type, entries));
  }
  return write_batch(key, entries, one_rule ? KnownEntries::kSkipId : KnownEntries::kSkipIdentical);
}

Status ImportSink::write_batch(const Key& key, std::span<const Pending> entries,
                               KnownEntries rule) {
  const auto& [session_id, type] = key;
  assert(memory_ != nullptr);
  std::vector<std::string_view> lines(entries.size());
  std::ranges::transform(entries, lines.begin(), &Pending::json);
  const Result<BatchReport> written = memory_->add_batch(
      session_id, type, lines,
      {.keep_going = true, .known = rule, .spaced = session_import(session_id).is_spaced});
  if (!written && written.error().code == ErrorCode::E_SIZE_LIMIT && entries.size() > 1) {
    BMAD_TRY(write_batch(key, entries.first(entries.size() / 2), rule));
    return write_batch(key, entries.subspan(entries.size() / 2), rule);
  }
  if (!written) {
    return written.error();
  }
  const BatchReport& batch = *written;
  assert(batch.deleted <= batch.skipped);
  if (batch.judged > 0) {
    judged_.insert(session_id);
  }
  for (const Pending& entry : entries) {
    ImportTally& tally = tallies_[entry.file_number];
    tally.differs = tally.differs || batch.judged > 0;
    tally.is_odd = tally.is_odd || batch.deleted > 0;
  }
  report_.written[static_cast<std::size_t>(type)] += batch.ids.size();
  report_.known += batch.skipped - batch.deleted;
  report_.deleted += batch.deleted;
  for (const std::string& notice : batch.notices) {
    add_once(report_.notices, notice);
  }
  refuse_all(batch.rejected, entries);
  return {};
}

Status ImportSink::check(const Key& key, std::vector<Pending>& entries) {
  const auto& [session_id, type] = key;
  BMAD_TRY(leave_out_shared(key, entries));
  BMAD_TRY(leave_out_known(session_id, type, entries));
  std::vector<std::string_view> lines(entries.size());
  std::ranges::transform(entries, lines.begin(), &Pending::json);
  BMAD_TRY_ASSIGN(const BatchReport batch,
                  checker_->check_batch(type, lines, {.keep_going = true}));
  assert(batch.rejected.size() <= entries.size());
  report_.written[static_cast<std::size_t>(type)] += entries.size() - batch.rejected.size();
  refuse_all(batch.rejected, entries);
  return {};
}

void ImportSink::refuse_all(const std::vector<RejectedLine>& rejected,
                            std::span<const Pending> entries) {
  for (const RejectedLine& line : rejected) {
    assert(line.line > 0 && line.line <= entries.size());
    const Pending& entry = entries[line.line - 1];
    Error error = line.error;
    error.column = 0;  // It counts in the text that was made from the line, not in the line.
    tallies_[entry.file_number].is_odd = true;
    refuse(std::move(error), {.file = entry.file, .line = entry.line});
  }
}

}  // namespace bmad_mem::cli
