// archive_reader.cpp - reads an archive, or evicted entries, as the folder of a session.
#include "search/archive_reader.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/json.hpp"
#include "search/indexing.hpp"
#include "search/root_index.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/present_sessions.hpp"
#include "store/return_lines.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

std::string path_of_archive(const std::string& session_id, const ArchivePlace& place) {
  return place.kept           ? retained_path(session_id)
         : place.is_evicted() ? evicted_path(session_id, place.part)
                              : archive_path(session_id);
}

/// What the packed file holds. Every log is there, if only as an empty one. Of what was evicted,
/// without older versions of an entry, and what was deleted since.
Result<NamedBytes> unpack(const Store& store, const std::string& session_id,
                          const ArchivePlace& place, const ArchiveLimits& limits) {
  if (place.is_evicted()) {
    BMAD_TRY_ASSIGN(std::vector<EvictedLine> lines,
                    read_evicted(*store.files, session_id, place.part, limits.budget));
    BMAD_TRY(drop_gone(store, session_id, lines));
    keep_last_versions(lines);
    return logs_of(session_id, std::span(lines));
  }
  if (place.kept) {
    BMAD_TRY_ASSIGN(const std::vector<EvictedLine> lines,
                    read_retained(*store.files, session_id, /*only_good=*/true));
    return logs_of(session_id, std::span(lines));
  }
  NamedBytes files = logs_of(session_id, std::span<const EvictedLine>());
  BMAD_TRY_ASSIGN(std::vector<ArchivedFile> members,
                  read_session_archive(*store.files, session_id, limits));
  for (ArchivedFile& member : members) {
    // Not session_file(): an artifact's name has a folder in it.
    files[fmt::format("{}/{}", session_folder(session_id), member.name)] = std::move(member.bytes);
  }
  return files;
}

Result<ArchiveOrigin> look_at_origin(const Store& store, const std::string& session_id,
                                     const ArchivePlace& place) {
  ArchiveOrigin origin;
  BMAD_TRY_ASSIGN(origin.file, store.files->info(path_of_archive(session_id, place)));
  Xxh3Stream hash;
  const auto add = [&](const FileInfo& info) {
    hash.add(fmt::format("{} {} {} {}\n", info.device, info.inode, info.size, info.mtime_ns));
  };
  add(origin.file);
  if (place.is_evicted()) {
    for (const std::string& path :
         {deletion_record_path(session_id), deleted_entries_path(session_id)}) {
      BMAD_TRY_ASSIGN(const auto info, if_there(store.files->info(path)));
      add(info.value_or(FileInfo{}));
    }
  }
  constexpr std::uint64_t kBits = (std::uint64_t{1} << 53U) - 1;  // As JSON has integers.
  origin.package = (hash.value() & kBits) | 1U;
  assert(origin.package != 0);
  return origin;
}

/// Whether Store::new_budget is for it, where that is limited.
bool is_new_package(const Store& store, const std::string& session_id, const ArchivePlace& place,
                    const ArchiveOrigin& origin) {
  return store.new_budget.is_limited() &&
         store.root_index->segment_of(session_id, place.part, origin.package) == nullptr &&
         !store.is_ours(path_of_archive(session_id, place), origin.file);
}

constexpr std::array kKnownTypes = {EntryType::kPreference, EntryType::kFact};
/// More is unpacked with the rest.
constexpr std::uint64_t kKnownSizeMax = 64U << 20U;

/// What stands beside the archive, if it is of that very one.
std::shared_ptr<UnpackedFiles> read_known(const Store& store, const std::string& session_id,
                                          std::uint64_t package) {
  constexpr std::size_t kHeadMax = 512;
  const std::string path = archive_known_path(session_id);
  const Result<std::unique_ptr<File>> file = store.files->open(path, OpenMode::kRead);
  std::string begin(kHeadMax, '\0');
  begin.resize(file ? (*file)->read_at(0, begin).value_or(0) : 0);
  begin.resize(std::min(begin.find('\n'), begin.size()));
  const ParsedJson head(begin);
  if (!head || (*head)["session_id"].string() != session_id ||
      static_cast<std::uint64_t>((*head)["package"].integer()) != package) {
    return nullptr;  // Before the rest is read: it may be large, and have come with a clone.
  }
  const std::string text = read_file(*store.files, path, kKnownSizeMax).value_or("");
  const std::string_view rest =
      std::string_view(text).substr(std::min(begin.size() + 1, text.size()));
  const auto size = static_cast<std::uint64_t>((*head)["preferences"].integer());
  if ((*head)["xxh3"].string() != hash_hex(xxh3(rest)) || size > rest.size()) {
    return nullptr;
  }
  NamedBytes files;
  files[log_path(session_id, EntryType::kPreference)] =
      rest.substr(0, static_cast<std::size_t>(size));
  files[log_path(session_id, EntryType::kFact)] = rest.substr(static_cast<std::size_t>(size));
  return std::make_shared<UnpackedFiles>(store.files->display_path(path), package,
                                         std::move(files));
}

/// The packed file at `path` as it is now, the same object for the same file.
ArchiveReaderPtr open_archive(const Store& store, const std::string& session_id,
                              const ArchivePlace& place, const ArchiveOrigin& now,
                              bool is_new = false) {
  ArchiveReaderPtr old;  // Freed without the mutex.
  const std::lock_guard guard(store.indexes_mutex);
  ArchiveReaderPtr& session = store.packed[path_of_archive(session_id, place)];
  if (session == nullptr || session->package() != now.package) {
    old = std::exchange(session,
                        std::make_shared<ArchiveReader>(store, session_id, place, now, is_new));
  }
  assert(session->package() == now.package);
  return session;
}

}  // namespace

ArchiveReader::ArchiveReader(const Store& store, const std::string& session_id,
                             const ArchivePlace& place, const ArchiveOrigin& origin, bool is_new)
    : store_(store),
      session_id_(session_id),
      place_(place),
      origin_(origin),
      is_new_(is_new),
      owner_(store.unpacked.new_owner()),
      index_(*this, store.clock, [&] {
        SessionIndex::Options options =
            based_options(store, session_id, place.part, origin.package);
        options.archived = !place.is_evicted();
        return options;
      }()) {}

Result<std::shared_ptr<FileSystem>> ArchiveReader::files() {
  const std::lock_guard guard(mutex_);
  if (is_new_ && !is_taken_) {  // Counted before the first byte is read.
    BMAD_TRY(check_read(store_.new_budget.take(origin_.file.size, 0)));
    is_taken_ = true;
    store_.flushes_any = true;  // The next process takes the rest.
  }
  if (ranged_ == nullptr && place_.is_archive() && !is_one_piece_) {
    // What git ignores of it is in a file beside it.
    BMAD_TRY_ASSIGN(const bool has_local, is_there(*store_.files, archive_local_path(session_id_)));
    Result<std::shared_ptr<RangedFiles>> opened =
        has_local ? nullptr
                  : RangedFiles::open(store_, session_id_, origin_.file, origin_.package, owner_,
                                      is_new_);
    BMAD_TRY(check_read(opened));
    ranged_ = *std::move(opened);
    is_one_piece_ = ranged_ == nullptr;
  }
  if (ranged_ != nullptr) {
    return std::shared_ptr<FileSystem>(ranged_);
  }
  BMAD_TRY_ASSIGN(std::shared_ptr<UnpackedFiles> files, unpack_once());
  return std::shared_ptr<FileSystem>(std::move(files));
}

Result<std::shared_ptr<FileSystem>> ArchiveReader::knowledge() {
  if (place_.is_archive()) {
    if (auto known = read_known(store_, session_id_, package())) {
      return known->size() == 0 ? std::shared_ptr<FileSystem>() : std::move(known);
    }
    wants_known_ = true;
  }
  return files();
}

Status ArchiveReader::check_still_there() const {
  BMAD_TRY_ASSIGN(const ArchiveOrigin now, look_at_origin(store_, session_id_, place_));
  return now.package == package() ? Status()
                                  : Status(not_in_package(path_of_archive(session_id_, place_)));
}

Status ArchiveReader::write_known() {
  assert(place_.is_archive());
  BMAD_TRY(check_still_there());  // Else it could hold words of what was purged.
  BMAD_TRY(ensure_ignored(*store_.files, kArchiveKnown));
  std::string logs;
  std::array<std::size_t, kKnownTypes.size()> sizes{};
  for (std::size_t i = 0; i < kKnownTypes.size(); ++i) {
    BMAD_TRY_ASSIGN(const std::string log,
                    read_file(*this, log_path(session_id_, kKnownTypes[i]), kKnownSizeMax));
    sizes[i] = log.size();
    logs += log;
  }
  BMAD_TRY(replace_derived_file(
      *store_.files, archive_known_path(session_id_),
      fmt::format("{{\"session_id\":\"{}\",\"package\":{},\"preferences\":{},\"facts\":{},"
                  "\"xxh3\":\"{}\"}}\n{}",
                  session_id_, package(), sizes[0], sizes[1], hash_hex(xxh3(logs)), logs)));
  wants_known_ = false;
  return {};
}

Result<std::unique_ptr<File>> ArchiveReader::open(const std::string& path, OpenMode mode) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> unpacked, files());
  return unpacked->open(path, mode);
}

Result<FileInfo> ArchiveReader::info(const std::string& path) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<FileSystem> unpacked, files());
  return unpacked->info(path);
}

std::string ArchiveReader::display_path(const std::string& /*path*/) const {
  return store_.files->display_path(path_of_archive(session_id_, place_));
}

/// The caller holds the mutex.
Result<std::shared_ptr<UnpackedFiles>> ArchiveReader::unpack_once() {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  if (auto known = store_.unpacked.find<UnpackedFiles>(owner_, kAll)) {
    return known;
  }
  Result<NamedBytes> files = unpack(store_, session_id_, place_, question_limits(store_, is_new_));
  BMAD_TRY(check_read(files));
  auto unpacked = std::make_shared<UnpackedFiles>(display_path({}), package(), *std::move(files));
  store_.unpacked.add(owner_, kAll, unpacked, unpacked->size(), store_.archives_size_max);
  return unpacked;
}

/// What is to be made of `read`. When the packed file went meanwhile, it is not known what that is.
template <typename T>
Status ArchiveReader::check_read(const Result<T>& read) const {
  BMAD_TRY(check_still_there());
  if (read) {
    return {};
  }
  Error error = read.error();
  if (is_new_ && error.code == ErrorCode::E_SIZE_LIMIT && error.os_error == 0) {
    error.os_error = EFBIG;  // For a command it may be as large.
  }
  store_.note_damage(path_of_archive(session_id_, place_), origin_.file, error);
  return error;
}

Result<ArchiveReaderPtr> archive_reader(const Store& store, const std::string& session_id,
                                        const ArchivePlace& place) {
  BMAD_TRY_ASSIGN(const ArchiveOrigin now, look_at_origin(store, session_id, place));
  const bool is_new = is_new_package(store, session_id, place, now);
  if (!store.is_damaged(path_of_archive(session_id, place), now.file, is_new)) {
    return open_archive(store, session_id, place, now, is_new);
  }
  constexpr ArchivePlace kKept{.kept = true};
  const Result<ArchiveOrigin> kept = look_at_origin(store, session_id, kKept);
  return place.is_archive() && kept && !store.is_damaged(retained_path(session_id), kept->file)
             ? open_archive(store, session_id, kKept, *kept, store.new_budget.is_limited())
             : nullptr;
}

Result<std::shared_ptr<FileSystem>> archive_files(const Store& store,
                                                  const std::string& session_id) {
  const Result<ArchiveOrigin> now = look_at_origin(store, session_id, {});
  if (!now) {
    BMAD_TRY(read_session_archive(*store.files, session_id));  // It says what is wrong.
    return now.error();
  }
  return open_archive(store, session_id, {}, *now)->files();
}

Result<std::shared_ptr<FileSystem>> archive_lines(const Store& store,
                                                  const std::string& session_id) {
  BMAD_TRY_ASSIGN(const ArchiveOrigin now, look_at_origin(store, session_id, {}));
  return std::shared_ptr<FileSystem>(open_archive(store, session_id, {}, now));
}

void index_archive(const Store& store, const std::string& session_id) {
  const Result<ArchiveOrigin> now = look_at_origin(store, session_id, {});
  if (!now || !store.config.indexing.enabled) {
    return;
  }
  const ArchiveReaderPtr packed = open_archive(store, session_id, {}, *now);
  static_cast<void>(packed->write_known());
  const std::shared_ptr<SessionIndex> index = index_of(packed);
  if (index->refresh()) {
    const Result<ReadableIndex> readable = readable_index(store, *index);
    if (readable && packed->check_still_there() && ensure_ignored(*store.files, kArchiveIndexes)) {
      static_cast<void>(
          replace_derived_file(*store.files, archive_index_path(session_id), readable->text));
    }
    store.root_index->flush({&index, 1}, FlushWhen::kAny);
  }
  packed->forget();  // Nobody has asked for it.
}

Result<std::uint64_t> package_of_archive(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const ArchiveOrigin now, look_at_origin(store, session_id, {}));
  return now.package;
}

std::shared_ptr<SessionIndex> index_of(const ArchiveReaderPtr& packed) {
  return {packed, &packed->index()};
}

SessionIndex::Options index_options(const Store& store, const std::string& session_id) {
  return {.session_id = session_id,
          .language = store.config.indexing.language,
          .cache_size = store.config.index_cache_size_bytes()};
}

SessionIndex::Options based_options(const Store& store, const std::string& session_id,
                                    std::uint32_t evicted, std::uint64_t package) {
  SessionIndex::Options options = index_options(store, session_id);
  RootIndex* const root = store.root_index.get();
  options.package = package;
  options.base = [=] { return root->base_of(session_id, evicted, package); };
  options.base_segment = [=] { return root->segment_of(session_id, evicted, package); };
  options.evicted = evicted;
  return options;
}

std::shared_ptr<SessionIndex> index_of_files(const Store& store,
                                             const std::shared_ptr<FileSystem>& files,
                                             SessionIndex::Options options) {
  return {new SessionIndex(*files, store.clock, std::move(options)),
          [files](const SessionIndex* index) { delete index; }};
}

}  // namespace bmad_mem
