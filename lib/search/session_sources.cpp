// session_sources.cpp - lists where sessions are read, and reads logs as they were at a time.
#include "search/session_sources.hpp"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/return_lines.hpp"
#include "store/store.hpp"
#include "store/unpacked_files.hpp"

namespace bmad_mem {

Result<std::shared_ptr<FileSystem>> SessionSource::files(const Store& store) const {
  if (packed != nullptr) {
    return packed->files();
  }
  return std::shared_ptr<FileSystem>(std::shared_ptr<void>(), store.files.get());  // Not owned.
}

Status SessionSource::check_still_there(const Store& store) const {
  if (packed != nullptr) {
    return packed->check_still_there();
  }
  return seen ? bmad_mem::check_still_there(store, *seen)
              : bmad_mem::check_still_there(store, session_id);
}

Status SessionSource::leave_out(const Store& store, Error error) const {
  return packed == nullptr && !is_only_one ? store.leave_out(session_id, std::move(error))
                                           : Status(std::move(error));
}

namespace {

Status add_archive(const Store& store, const std::string& id, const ArchivePlace& place,
                   std::vector<SessionSource>& sources) {
  BMAD_TRY_ASSIGN(ArchiveReaderPtr packed, archive_reader(store, id, place));
  if (packed != nullptr) {
    sources.push_back({.session_id = id, .packed = std::move(packed)});
  }
  return {};
}

/// Bytes of a log, from `begin` to before `end`.
struct HiddenBytes {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What of a log was there.
struct PastLog {
  FileInfo file;  ///< That it was read of.
  std::vector<HiddenBytes> hidden = {};
  std::uint64_t size = 0;  ///< Of its whole lines: what follows was not looked at.
};

/// Blanks what of `bytes`, which stand at `at` in the log, came later.
void hide(const PastLog& past, std::uint64_t at, std::span<char> bytes) {
  auto range = std::ranges::upper_bound(past.hidden, at, {}, &HiddenBytes::end);
  for (; range != past.hidden.end() && range->begin < at + bytes.size(); ++range) {
    const std::uint64_t begin = std::max(range->begin, at) - at;
    const std::uint64_t end = std::min<std::uint64_t>(range->end - at, bytes.size());
    assert(begin <= end && end <= bytes.size());
    std::ranges::replace_if(
        bytes.subspan(begin, end - begin), [](char c) { return c != '\n'; }, ' ');
  }
}

/// `before`, and behind it `log`, null for none, without what came later. Blanks keep all lines
/// where they are.
std::unique_ptr<File> past_file(const std::string& path,
                                const std::shared_ptr<const std::string>& before,
                                const std::shared_ptr<File>& log,
                                const std::shared_ptr<const PastLog>& past) {
  FileInfo info = past->file;
  info.size = before->size() + past->size;
  const auto read = [=](std::uint64_t offset, std::span<char> out) -> Result<std::size_t> {
    std::size_t done = 0;
    if (offset < before->size()) {
      done = before->copy(out.data(), out.size(), static_cast<std::size_t>(offset));
    }
    const std::uint64_t at = offset + done - before->size();
    if (log == nullptr || done == out.size() || at >= past->size) {
      return done;
    }
    std::span<char> rest = out.subspan(done);
    rest = rest.first(std::min<std::uint64_t>(rest.size(), past->size - at));
    BMAD_TRY_ASSIGN(const std::size_t got, log->read_at(at, rest));
    hide(*past, at, rest.first(got));
    return done + got;
  };
  return std::make_unique<ArchiveMember>(path, info, read);
}

class PastFiles final : public ReadOnlyFiles {
 public:
  /// `before`: a text for each log, by path. Without a `source` there is nothing else.
  PastFiles(const Store& store, std::optional<SessionSource> source, Timestamp as_of,
            NamedBytes before)
      : store_(store), source_(std::move(source)), as_of_(as_of) {
    for (auto& [path, text] : before) {
      before_[path] = std::make_shared<const std::string>(std::move(text));
    }
  }

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override {
    BMAD_TRY_ASSIGN(const auto before, find_archive(before_, path, mode));
    if (source_) {
      BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source_->files(store_));
      Result<std::unique_ptr<File>> file = open_log(*files, path, before->second);
      if (file || !is_not_found(file.error()) || before->second->empty()) {
        return file;
      }
    }
    return past_file(path, before->second, nullptr, std::make_shared<const PastLog>());
  }
  Result<FileInfo> info(const std::string& path) override {
    BMAD_TRY_ASSIGN(const auto before, find_archive(before_, path));
    FileInfo found;
    if (source_) {
      BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, source_->files(store_));
      const Result<FileInfo> info = files->info(path);
      if (!info && (!is_not_found(info.error()) || before->second->empty())) {
        return info.error();
      }
      found = info.value_or(FileInfo{});
    }
    found.size += before->second->size();
    return found;
  }
  [[nodiscard]] std::string display_path(const std::string& path) const override {
    const auto files = source_ ? source_->files(store_) : not_in_package(path);
    return files ? (*files)->display_path(path) : store_.files->display_path(path);
  }

 private:
  /// The log behind `before`. Errors: one that is_not_found() when it was replaced meanwhile.
  Result<std::unique_ptr<File>> open_log(FileSystem& files, const std::string& path,
                                         const std::shared_ptr<const std::string>& before) {
    BMAD_TRY_ASSIGN(std::shared_ptr<const PastLog> past, look_at(files, path));
    BMAD_TRY_ASSIGN(std::unique_ptr<File> log, files.open(path, OpenMode::kRead));
    BMAD_TRY_ASSIGN(const FileInfo info, log->info());
    if (!info.same_file(past->file)) {
      return not_in_package(path);
    }
    return past_file(path, before, std::move(log), past);
  }

  /// Which lines of the log came later; read once as long as it is the same.
  Result<std::shared_ptr<const PastLog>> look_at(FileSystem& files, const std::string& path) {
    BMAD_TRY_ASSIGN(const FileInfo info, files.info(path));
    const std::lock_guard guard(mutex_);
    std::shared_ptr<const PastLog>& known = logs_[path];
    if (known != nullptr && known->file.is_unchanged(info)) {
      return known;
    }
    PastLog past{.file = info};
    JsonParser parser;
    const auto take = [&](const ScannedEntry& entry) {
      if (entry_written_time(entry.value) <= as_of_) {
        return;
      }
      const std::uint64_t end = entry.offset + entry.line_size;
      assert(past.hidden.empty() || past.hidden.back().end <= entry.offset);
      if (!past.hidden.empty() && past.hidden.back().end == entry.offset) {
        past.hidden.back().end = end;
      } else {
        past.hidden.push_back({.begin = entry.offset, .end = end});
      }
    };
    BMAD_TRY_ASSIGN(const LogScan scan,
                    scan_log(files, path, type_of(path), parser, {.on_entry = take}));
    past.size = scan.whole_end;
    known = std::make_shared<const PastLog>(std::move(past));
    return known;
  }

  [[nodiscard]] EntryType type_of(const std::string& path) const {
    assert(source_ && "without one there is no log to look at");
    return *std::ranges::find_if(
        kEntryTypes, [&](EntryType type) { return path == log_path(source_->session_id, type); });
  }

  const Store& store_;
  std::optional<SessionSource> source_;
  Timestamp as_of_;
  std::map<std::string, std::shared_ptr<const std::string>> before_;
  std::mutex mutex_;  // Guards what follows.
  std::map<std::string, std::shared_ptr<const PastLog>> logs_;
};

/// What was evicted and not deleted, of the versions there were at `as_of`.
Result<std::vector<EvictedLine>> evicted_versions(const Store& store, const std::string& session_id,
                                                  Timestamp as_of) {
  const Result<ArchiveReaderPtr> packed = archive_reader(store, session_id, {.part = 1});
  if (!packed) {
    return is_not_found(packed.error())
               ? Result<std::vector<EvictedLine>>(std::vector<EvictedLine>())
               : packed.error();
  }
  if (*packed == nullptr) {  // It is damaged, and somebody was told.
    return std::vector<EvictedLine>();
  }
  Result<std::vector<EvictedLine>> lines = read_evicted(*store.files, session_id);
  BMAD_TRY((*packed)->check_still_there());
  if (!lines) {
    const Result<std::shared_ptr<FileSystem>> files = (*packed)->files();  // It notes the damage.
    return files || is_not_found(files.error()) ? std::move(lines) : std::vector<EvictedLine>();
  }
  BMAD_TRY(drop_gone(store, session_id, *lines, as_of));
  return lines;
}

/// The session that something was evicted from; null when it has gone.
Result<std::optional<SessionSource>> session_of(const Store& store, const std::string& session_id) {
  const Status there = check_session(store, session_id);
  if (there) {
    return std::optional(SessionSource{.session_id = session_id});
  }
  if (there.error().code != ErrorCode::E_SESSION_ARCHIVED) {
    return std::optional<SessionSource>();
  }
  BMAD_TRY_ASSIGN(ArchiveReaderPtr packed, archive_reader(store, session_id));
  return packed == nullptr ? std::optional<SessionSource>()
                           : SessionSource{.session_id = session_id, .packed = std::move(packed)};
}

/// Leaves out of `lines` those of which `session` has a version: an entry that was evicted and
/// pinned is in its session again.
Status drop_those_in(FileSystem& session, const std::string& session_id,
                     std::vector<EvictedLine>& lines) {
  JsonParser parser;
  for (const EntryType type : kEntryTypes) {
    if (std::ranges::find(lines, type, &EvictedLine::type) == lines.end()) {
      continue;
    }
    std::set<std::string, std::less<>> ids;
    const auto take = [&](const ScannedEntry& entry) { ids.emplace(entry_id(entry.value)); };
    BMAD_TRY(scan_log(session, log_path(session_id, type), type, parser, {.on_entry = take}));
    std::erase_if(lines, [&](const EvictedLine& line) {
      const Result<JsonValue> value = parser.parse(line.line);
      return line.type == type && value && ids.contains(entry_id(*value));
    });
  }
  return {};
}

/// What was evicted by then.
Result<std::vector<EvictedLine>> evicted_until(const Store& store, const std::string& session_id,
                                               Timestamp as_of) {
  BMAD_TRY_ASSIGN(std::vector<EvictedLine> lines, evicted_versions(store, session_id, as_of));
  std::erase_if(lines, [&](const EvictedLine& line) { return line.evicted_at > as_of; });
  keep_last_versions(lines);
  BMAD_TRY_ASSIGN(const std::optional<SessionSource> session, session_of(store, session_id));
  if (session && !lines.empty()) {
    BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, past_files(store, *session, as_of));
    BMAD_TRY(drop_those_in(*files, session_id, lines));
  }
  return lines;
}

}  // namespace

Result<PresentSessions> asked_sessions(const Store& store, std::span<const std::string> wanted,
                                       ArchivedSessions archived, bool with_remains) {
  PresentSessions asked;
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(asked, present_sessions(store, with_remains));
  }
  for (const std::string_view each : std::set<std::string_view>(wanted.begin(), wanted.end())) {
    const std::string id(each);
    Status there = check_session(store, id);
    if (!there && (there.error().code != ErrorCode::E_SESSION_ARCHIVED ||
                   archived == ArchivedSessions::kWithout)) {
      return std::move(there).error();
    }
    (there ? asked.live : asked.packed).push_back(id);
  }
  if (archived == ArchivedSessions::kOnly) {
    asked.live.clear();
  } else if (archived == ArchivedSessions::kWithout) {
    asked.packed.clear();
  }
  if (wanted.size() != 1) {
    std::erase_if(asked.live, [&](const std::string& id) { return store.is_left_out(id); });
  }
  return asked;
}

Result<std::vector<SessionSource>> session_sources(const Store& store,
                                                   std::span<const std::string> wanted,
                                                   ArchivedSessions archived) {
  BMAD_TRY_ASSIGN(const PresentSessions asked, asked_sessions(store, wanted, archived));
  std::vector<SessionSource> found;
  for (const std::string& id : asked.live) {
    found.push_back(
        {.session_id = id, .is_only_one = wanted.size() == 1, .seen = see_folder(store, id)});
  }
  for (const std::string& id : asked.packed) {
    BMAD_TRY(add_archive(store, id, {}, found));
  }
  return found;
}

Result<std::vector<SessionSource>> evicted_sources(const Store& store,
                                                   std::span<const std::string> wanted) {
  EvictedParts parts;
  if (wanted.empty()) {
    BMAD_TRY_ASSIGN(PresentSessions present, present_sessions(store));
    parts = std::move(present.evicted);
  } else {
    BMAD_TRY_ASSIGN(parts, evicted_sessions(store, wanted));
  }
  std::vector<SessionSource> found;
  for (const auto& [id, count] : parts) {
    for (std::uint32_t part = count; part > 0; --part) {
      BMAD_TRY(add_archive(store, id, {.part = part}, found));
    }
  }
  return found;
}

Status check_evicted(const Store& store, std::span<const std::string> wanted,
                     std::span<const SessionSource> evicted) {
  for (const SessionSource& source : evicted) {
    BMAD_TRY(source.check_still_there(store));
  }
  BMAD_TRY_ASSIGN(const std::vector<SessionSource> now, evicted_sources(store, wanted));
  if (!std::ranges::equal(now, evicted, {}, &SessionSource::session_id,
                          &SessionSource::session_id)) {
    return path_error(ErrorCode::E_STORAGE_IO, store.files->display_path(kArchiveFolder),
                      "entries were evicted or restored meanwhile", ENOENT);
  }
  return {};
}

Result<std::vector<EvictedLine>> evicted_since(const Store& store, const std::string& session_id,
                                               Timestamp as_of) {
  BMAD_TRY_ASSIGN(std::vector<EvictedLine> lines, evicted_versions(store, session_id, as_of));
  std::erase_if(lines, [&](const EvictedLine& line) { return line.evicted_at <= as_of; });
  return lines;
}

Result<std::shared_ptr<FileSystem>> past_files(const Store& store, const SessionSource& source,
                                               Timestamp as_of) {
  const std::string& id = source.session_id;
  std::vector<EvictedLine> lines;
  if (!source.is_evicted()) {
    BMAD_TRY_ASSIGN(lines, evicted_since(store, id, as_of));
  } else if (source.packed->place().part == 1) {  // In one piece.
    BMAD_TRY_ASSIGN(lines, evicted_until(store, id, as_of));
  }
  return std::shared_ptr<FileSystem>(
      std::make_shared<PastFiles>(store, source.is_evicted() ? std::nullopt : std::optional(source),
                                  as_of, logs_of(id, std::span(lines))));
}

Result<std::shared_ptr<SessionIndex>> past_index(const Store& store, const SessionSource& source,
                                                 Timestamp as_of) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> files, past_files(store, source, as_of));
  SessionIndex::Options options = index_options(store, source.session_id);
  options.archived = source.is_archived();
  options.evicted = source.packed == nullptr ? 0 : source.packed->place().part;
  return index_of_files(store, files, std::move(options));
}

}  // namespace bmad_mem
