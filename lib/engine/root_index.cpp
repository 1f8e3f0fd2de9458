#include "root_index.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "core/hash.hpp"
#include "core/parallel.hpp"
#include "index/analyzer.hpp"
#include "packed_session.hpp"
#include "storage/atomic_file.hpp"
#include "storage/file_lock.hpp"
#include "storage/layout.hpp"
#include "store.hpp"

namespace bmad_mem {
namespace {

constexpr int kIndexVersion = 1;
constexpr std::uint64_t kCurrentSizeMax = 1U << 30U;
/// Logs that go into one segment at a time, before it is merged with others.
constexpr std::uint64_t kSealBytesMax = 16U << 20U;
constexpr std::size_t kSegmentsMax = 8;

std::string segment_path(std::string_view name) { return fmt::format("{}/{}", kIndexFolder, name); }

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? std::optional(number)
                                                                             : std::nullopt;
}

/// 17.seg
bool is_segment_name(std::string_view name) {
  return name.ends_with(".seg") && name.size() > 4 &&
         std::ranges::all_of(name.substr(0, name.size() - 4),
                             [](char c) { return c >= '0' && c <= '9'; });
}

FileLock index_lock(const Store& store) {
  return {*store.files, store.clock, segment_path(kLockName), segment_path(kLockInfoName)};
}

}  // namespace

RootIndex::SharedState RootIndex::state() {
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  const std::lock_guard guard(mutex_);
  const bool is_same = state_ != nullptr && info && info->same_file(state_->file) &&
                       info->size == state_->file.size && info->mtime_ns == state_->file.mtime_ns;
  if (!is_same) {
    state_ = info ? read_state() : std::make_shared<State>();
  }
  return state_;
}

/// What CURRENT says; nothing is covered where it does not hold.
RootIndex::SharedState RootIndex::read_state() const {
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  const Result<std::string> text = read_file(*store_.files, kIndexCurrentFile, kCurrentSizeMax);
  std::shared_ptr<State> read = text ? parse_state(*text) : nullptr;
  if (read == nullptr) {
    read = std::make_shared<State>();
  }
  read->file = info.value_or(FileInfo{});
  return read;
}

std::shared_ptr<RootIndex::State> RootIndex::parse_state(const std::string& text) const {
  const std::size_t end = text.find('\n');
  JsonParser parser;
  {
    const Result<JsonValue> head =
        parser.parse(end == std::string::npos ? "" : text.substr(0, end - 1) + "}");
    if (!head || (*head)["version"].integer() != kIndexVersion ||
        (*head)["xxh3"].string() != hash_hex(xxh3(std::string_view(text).substr(end + 1)))) {
      return nullptr;
    }
  }
  const Result<JsonValue> all = parser.parse(text);
  if (!all || (*all)["analyzer"].integer() != kAnalyzerVersion ||
      (*all)["language"].string() != store_.config.indexing.language) {
    return nullptr;
  }
  auto read = std::make_shared<State>();
  read->next = static_cast<std::uint64_t>((*all)["next"].integer());
  std::map<std::string, std::shared_ptr<Segment>, std::less<>> known;
  for (std::size_t i = 0; state_ != nullptr && i < state_->names.size(); ++i) {
    if (state_->segments[i] != nullptr) {
      known.emplace(state_->names[i], state_->segments[i]);
    }
  }
  std::vector<std::map<std::string_view, std::uint32_t>> numbers;
  for (const JsonMember& member : (*all)["segments"].members()) {
    const std::string name(member.key);
    const std::optional<std::uint64_t> hash = parse_hex(member.value.string());
    if (!is_segment_name(name) || !hash) {
      return nullptr;
    }
    std::shared_ptr<Segment> segment;
    if (const auto same = known.find(name); same != known.end() && same->second->hash() == *hash) {
      segment = same->second;
    } else if (Result<std::shared_ptr<Segment>> opened = Segment::open(
                   *store_.files, segment_path(name), store_.config.indexing.language)) {
      // One of that name may come from another memory, or be older than a folder made anew.
      segment = (*opened)->hash() == *hash ? *std::move(opened) : nullptr;
    }
    numbers.emplace_back();
    for (std::uint32_t i = 0; segment != nullptr && i < segment->session_count(); ++i) {
      numbers.back().emplace(segment->session_id(i), i);
    }
    read->names.push_back(name);
    read->segments.push_back(std::move(segment));
  }
  for (const JsonMember& member : (*all)["sessions"].members()) {
    Covered covered{.segment = static_cast<std::uint32_t>(member.value["segment"].integer())};
    if (covered.segment >= numbers.size()) {
      return nullptr;
    }
    const auto number = numbers[covered.segment].find(std::string_view(member.key));
    if (number == numbers[covered.segment].end()) {
      continue;  // Its segment can't be read.
    }
    covered.number = number->second;
    covered.package = static_cast<std::uint64_t>(member.value["package"].integer());
    std::array<std::int64_t, 2> folder{};
    std::size_t at = 0;
    for (const JsonValue part : member.value["folder"].elements()) {
      folder[std::min<std::size_t>(at++, 1)] = part.integer();
    }
    covered.folder_inode = static_cast<std::uint64_t>(folder[0]);
    covered.folder_mtime_ns = folder[1];
    covered.empty_logs = static_cast<std::uint32_t>(member.value["empty"].integer());
    for (const JsonMember& log : member.value["logs"].members()) {
      const std::optional<EntryType> type = try_parse_entry_type(log.key);
      const std::optional<std::uint64_t> hash = parse_hex(log.value["xxh3"].string());
      if (!type || !hash) {
        return nullptr;
      }
      const auto number_of = [&](std::string_view key) {
        return static_cast<std::uint64_t>(log.value[key].integer());
      };
      CoveredLog kept{.type = *type,
                      .bytes = number_of("bytes"),
                      .xxh3 = *hash,
                      .size = number_of("size"),
                      .device = number_of("device"),
                      .inode = number_of("inode"),
                      .mtime_ns = log.value["mtime_ns"].integer(),
                      .lines = number_of("lines")};
      kept.mtime_is_telling = kept.mtime_ns != 0;
      covered.logs.push_back(kept);
    }
    read->sessions.emplace(member.key, std::move(covered));
  }
  return read;
}

/// Replaces CURRENT. The caller holds the lock of the index.
Status RootIndex::write_state(State& state) {
  std::string rest =
      fmt::format("\"analyzer\": {}, \"language\": {}, \"next\": {},\n\"segments\": {{",
                  kAnalyzerVersion, json_quoted(store_.config.indexing.language), state.next);
  for (std::size_t i = 0; i < state.names.size(); ++i) {
    rest += fmt::format("{}\"{}\": \"{}\"", i == 0 ? "" : ", ", state.names[i],
                        hash_hex(state.segments[i] == nullptr ? 0 : state.segments[i]->hash()));
  }
  rest += "},\n\"sessions\": {";
  bool is_first = true;
  for (const auto& [id, covered] : state.sessions) {
    rest +=
        fmt::format("{}\n\"{}\": {{\"segment\": {}, ", is_first ? "" : ",", id, covered.segment);
    is_first = false;
    if (covered.package != 0) {
      rest += fmt::format("\"package\": {}}}", covered.package);
      continue;
    }
    rest += fmt::format("\"folder\": [{}, {}], \"empty\": {}, \"logs\": {{",
                        static_cast<std::int64_t>(covered.folder_inode), covered.folder_mtime_ns,
                        covered.empty_logs);
    bool is_first_log = true;
    for (const CoveredLog& log : covered.logs) {
      rest += fmt::format(
          "{}\"{}\": {{\"bytes\": {}, \"lines\": {}, \"xxh3\": \"{}\", \"size\": {}, \"device\": "
          "{}, \"inode\": {}, \"mtime_ns\": {}}}",
          is_first_log ? "" : ", ", entry_type_name(log.type), log.bytes, log.lines,
          hash_hex(log.xxh3), log.size, static_cast<std::int64_t>(log.device),
          static_cast<std::int64_t>(log.inode), log.mtime_is_telling ? log.mtime_ns : 0);
      is_first_log = false;
    }
    rest += "}}";
  }
  rest += "\n}\n}\n";
  return replace_derived_file(*store_.files, kIndexCurrentFile,
                              fmt::format("{{\"version\": {}, \"xxh3\": \"{}\",\n{}", kIndexVersion,
                                          hash_hex(xxh3(rest)), rest));
}

/// Whether the log at `path` holds what is covered and nothing else; `log` is put right where only
/// the file is another one, as in a copy.
bool RootIndex::is_log_as_covered(const std::string& path, CoveredLog& log, bool& is_other) const {
  const Result<FileInfo> info = store_.files->info(path);
  if (!info) {
    return is_not_found(info.error()) && log.bytes == 0;
  }
  if (info->kind != FileKind::kRegular || info->size != log.size) {
    return false;
  }
  const FileInfo covered{.device = log.device, .inode = log.inode};
  if (log.mtime_is_telling && info->same_file(covered) && info->mtime_ns == log.mtime_ns) {
    return true;
  }
  if (log.bytes != log.size) {
    return false;  // What stood behind the covered lines, torn, may be a line now.
  }
  const bool telling = mtime_is_telling(*info, store_.clock.now());
  const Result<std::uint64_t> hash = hash_of_prefix(*store_.files, path, log.bytes);
  if (!hash || *hash != log.xxh3) {
    return false;
  }
  log.mtime_is_telling = telling;
  log.device = info->device;
  log.inode = info->inode;
  log.mtime_ns = info->mtime_ns;
  is_other = true;
  return true;
}

/// Whether it is there, without a byte. Nothing when there is something in it, or nobody can tell.
std::optional<bool> RootIndex::is_empty_log(const std::string& id, EntryType type) const {
  const Result<FileInfo> info =
      store_.files->info(session_file(id, entry_type_info(type).log_file));
  if (info) {
    return info->kind == FileKind::kRegular && info->size == 0 ? std::optional(true) : std::nullopt;
  }
  return is_not_found(info.error()) ? std::optional(false) : std::nullopt;
}

bool RootIndex::is_as_covered(const std::string& id, const Covered& covered,
                              std::optional<Covered>& remembered) const {
  if (covered.package != 0) {
    const Result<std::uint64_t> package = package_of_archive(store_, id);
    return package && *package == covered.package;
  }
  const Result<FileInfo> folder = store_.files->info(session_folder(id));
  if (!folder || folder->kind != FileKind::kDirectory) {
    return false;
  }
  const bool is_same_folder = covered.folder_mtime_ns != 0 &&
                              folder->inode == covered.folder_inode &&
                              folder->mtime_ns == covered.folder_mtime_ns;
  Covered now = covered;
  bool is_other = false;
  std::uint32_t seen = 0;
  for (CoveredLog& log : now.logs) {
    seen |= 1U << static_cast<unsigned>(log.type);
    if (!is_log_as_covered(session_file(id, entry_type_info(log.type).log_file), log, is_other)) {
      return false;
    }
  }
  for (const EntryType type : kEntryTypes) {
    const std::uint32_t bit = 1U << static_cast<unsigned>(type);
    if ((seen & bit) == 0 && (!is_same_folder || (covered.empty_logs & bit) != 0)) {
      const std::optional<bool> is_there = is_empty_log(id, type);
      if (!is_there) {
        return false;
      }
      now.empty_logs |= *is_there ? bit : 0;
    }
  }
  if (!is_same_folder) {
    if (mtime_is_telling(*folder, store_.clock.now())) {
      now.folder_inode = folder->inode;
      now.folder_mtime_ns = folder->mtime_ns;
      is_other = true;
    }
  }
  if (is_other) {
    remembered = std::move(now);
  }
  return true;
}

FilesOf RootIndex::files_of() const {
  const Store* const store = &store_;
  return
      [store](const std::string& session_id, bool archived) -> Result<std::shared_ptr<FileSystem>> {
        return archived ? archive_lines(*store, session_id)
                        : std::shared_ptr<FileSystem>(std::shared_ptr<void>(), store->files.get());
      };
}

std::shared_ptr<SegmentPart> RootIndex::part_of(const std::shared_ptr<Segment>& segment,
                                                std::vector<std::uint32_t> wanted) {
  std::ranges::sort(wanted);
  const std::lock_guard guard(mutex_);
  for (const Part& each : parts_) {
    if (each.segment == segment && each.wanted == wanted) {
      return each.part;
    }
  }
  if (parts_.size() >= 2 * kSegmentsMax) {
    parts_.clear();
  }
  parts_.push_back({.segment = segment,
                    .wanted = wanted,
                    .part = std::make_shared<SegmentPart>(segment, wanted, files_of())});
  return parts_.back().part;
}

std::vector<std::shared_ptr<SegmentPart>> RootIndex::sweep(std::span<Candidate> candidates) {
  std::vector<std::shared_ptr<SegmentPart>> parts;
  if (!store_.config.indexing.enabled) {
    return parts;
  }
  const SharedState now = state();
  std::vector<const Covered*> found(candidates.size());
  std::vector<std::optional<Covered>> remembered(candidates.size());
  // One stat takes half a microsecond: a few sessions at a time.
  constexpr std::size_t kAtOnce = 64;
  for_each_parallel((candidates.size() + kAtOnce - 1) / kAtOnce, [&](std::size_t chunk) {
    for (std::size_t i = chunk * kAtOnce; i < std::min((chunk + 1) * kAtOnce, candidates.size());
         ++i) {
      const auto known = now->sessions.find(candidates[i].id);
      if (known != now->sessions.end() && (known->second.package != 0) == candidates[i].archived &&
          is_as_covered(known->first, known->second, remembered[i])) {
        found[i] = &known->second;
      }
    }
  });
  std::vector<std::vector<std::uint32_t>> wanted(now->segments.size());
  std::map<std::string, Covered, std::less<>> changed;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (found[i] == nullptr) {
      continue;
    }
    if (is_distrusted(now->names[found[i]->segment])) {
      continue;
    }
    candidates[i].is_covered = true;
    wanted[found[i]->segment].push_back(found[i]->number);
    if (remembered[i]) {
      changed.emplace(candidates[i].id, *std::move(remembered[i]));
    }
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i].empty()) {
      parts.push_back(part_of(now->segments[i], std::move(wanted[i])));
    }
  }
  if (!changed.empty()) {
    remember(now, changed);
  }
  return parts;
}

/// Writes down what was found out about copies and checkouts, so that nobody has to hash them
/// again.
void RootIndex::remember(const SharedState& now,
                         const std::map<std::string, Covered, std::less<>>& changed) {
  auto next = std::make_shared<State>(*now);
  bool is_worth_it = false;
  for (const auto& [id, covered] : changed) {
    Covered& known = next->sessions.at(id);
    for (const CoveredLog& log : covered.logs) {
      is_worth_it = is_worth_it || log.mtime_is_telling;
    }
    is_worth_it = is_worth_it || known.folder_mtime_ns != covered.folder_mtime_ns;
    known = covered;
  }
  {
    const std::lock_guard guard(mutex_);
    if (state_ != now) {
      return;  // It may say something else of these sessions.
    }
    state_ = next;
  }
  if (!is_worth_it || changed.size() * 8 < next->sessions.size()) {
    return;  // A few are asked again as quickly as CURRENT is written.
  }
  FileLock lock = index_lock(store_);
  const Result<FileLock::Guard> turn =
      lock.acquire({.operation = "index", .timeout = std::chrono::milliseconds(0)});
  const Result<FileInfo> info = store_.files->info(kIndexCurrentFile);
  if (turn && info && info->same_file(next->file) && info->mtime_ns == next->file.mtime_ns) {
    static_cast<void>(write_state(*next));
  }
}

std::optional<SessionBase> RootIndex::base_of(const std::string& session_id) {
  const SharedState now = state();
  const auto known = now->sessions.find(session_id);
  if (known == now->sessions.end() || known->second.package != 0) {
    return std::nullopt;
  }
  if (is_distrusted(now->names[known->second.segment])) {
    return std::nullopt;
  }
  SessionBase base;
  base.part = std::make_shared<SegmentPart>(now->segments[known->second.segment],
                                            std::span(&known->second.number, 1), files_of());
  for (const CoveredLog& log : known->second.logs) {
    base.covers[static_cast<std::size_t>(log.type)] = {.bytes = log.bytes,
                                                       .lines = log.lines,
                                                       .xxh3 = log.xxh3,
                                                       .file = {.device = log.device,
                                                                .inode = log.inode,
                                                                .size = log.size,
                                                                .mtime_ns = log.mtime_ns},
                                                       .mtime_is_telling = log.mtime_is_telling};
  }
  return base;
}

std::shared_ptr<SegmentPart> RootIndex::without(const SegmentPart& part,
                                                std::string_view session_id) const {
  std::vector<std::uint32_t> rest;
  const std::shared_ptr<Segment> segment = part.shared_segment();
  for (const std::uint32_t number : part.numbers()) {
    if (segment->session_id(number) != session_id) {
      rest.push_back(number);
    }
  }
  return rest.empty() ? nullptr : std::make_shared<SegmentPart>(segment, rest, files_of());
}

void RootIndex::distrust(std::string_view path) {
  const std::lock_guard guard(mutex_);
  distrusted_.emplace(path);
}

bool RootIndex::is_distrusted(std::string_view name) const {
  const std::lock_guard guard(mutex_);
  return !distrusted_.empty() && distrusted_.contains(segment_path(name));
}

void RootIndex::seal(std::span<const std::shared_ptr<SessionIndex>> indexes, bool any) {
  if (indexes.empty() || !store_.config.indexing.enabled) {
    return;
  }
  const SharedState now = state();
  any = any || std::ranges::any_of(now->names, [&](const std::string& name) {
          return is_distrusted(name);  // It costs everybody a try.
        });
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;
  for (const std::shared_ptr<SessionIndex>& index : indexes) {
    const auto guard = index->lock();
    const SessionIndex::Unknown unknown = index->unknown();
    entries += unknown.entries;
    bytes += unknown.bytes;
  }
  const auto entries_max =
      static_cast<std::uint64_t>(store_.config.indexing.rebuild_threshold_writes);
  if (!any && entries < entries_max && bytes < kTailSizeMax) {
    return;
  }
  if (!store_.files->info(kIndexFolder)) {
    if (!store_.files->make_directory(kIndexFolder) ||
        !replace_derived_file(*store_.files, kIndexIgnoreFile, "*\n")) {
      return;
    }
  }
  FileLock lock = index_lock(store_);
  const Result<FileLock::Guard> turn =
      lock.acquire({.operation = "index", .timeout = std::chrono::milliseconds(0)});
  if (!turn) {
    return;
  }
  const SharedState before = state();
  State next = *before;
  std::erase_if(next.sessions,
                [&](const auto& each) { return is_distrusted(next.names[each.second.segment]); });
  if (add_segments(next, indexes)) {
    State merged = next;
    if (Status done = merge_where_many(merged); done) {
      next = std::move(merged);
    } else {
      distrust(done.error().field);  // Where that is a segment, the next time goes without it.
    }
    if (write_state(next)) {
      static_cast<void>(remove_unused(next));
      for (const std::shared_ptr<SessionIndex>& index : indexes) {
        if (!index->is_archived()) {
          index->forget();  // It begins in the new segment the next time.
        }
      }
      return;
    }
  }
  for (const std::string& name : next.names) {
    if (std::ranges::find(before->names, name) == before->names.end()) {
      static_cast<void>(store_.files->remove(segment_path(name)));
    }
  }
}

bool RootIndex::seal_in_turns(std::span<const Candidate> candidates) {
  constexpr std::uint64_t kHeldMax = 64U << 20U;
  std::uint64_t sum = 0;
  std::vector<std::uint64_t> sizes;
  for (const Candidate& each : candidates) {
    sizes.push_back(0);
    for (const std::string& log : log_files()) {
      const Result<FileInfo> info = each.is_covered || each.archived
                                        ? Result<FileInfo>(FileInfo{})
                                        : store_.files->info(session_file(each.id, log));
      sizes.back() += info ? info->size : 0;
    }
    sum += sizes.back();
  }
  if (sum <= kHeldMax || !store_.config.indexing.enabled) {
    return false;
  }
  const SharedState before = state();
  for (std::size_t i = 0; i < candidates.size();) {
    std::vector<std::shared_ptr<SessionIndex>> indexes;
    for (std::uint64_t held = 0; i < candidates.size() && held < kSealBytesMax; ++i) {
      if (sizes[i] > 0 && !store_.is_left_out(candidates[i].id)) {
        held += sizes[i];
        indexes.push_back(store_.passing_index(candidates[i].id));
      }
    }
    for_each_parallel(indexes.size(),
                      [&](std::size_t k) { static_cast<void>(indexes[k]->refresh()); });
    seal(indexes, true);
    if (state() == before) {
      return false;  // Another process is at it, or nothing can be written.
    }
  }
  return true;
}

namespace {

/// What of a session's logs its index covers.
std::uint64_t covered_bytes(const SessionIndex& index) {
  std::uint64_t bytes = 0;
  for (const LogCover& cover : index.covers()) {
    bytes += cover.bytes;
  }
  return bytes;
}

}  // namespace

Status RootIndex::add_segments(State& state,
                               std::span<const std::shared_ptr<SessionIndex>> indexes) {
  // Before any is held: who refreshes one waits for those who hold it.
  std::vector<Result<FileInfo>> folders(indexes.size());
  std::vector<char> are_fresh(indexes.size());
  for_each_parallel(indexes.size(), [&](std::size_t at) {
    // As it is before the logs are looked at: what comes later is seen at the next look.
    folders[at] = store_.files->info(session_folder(indexes[at]->session_id()));
    are_fresh[at] = indexes[at]->refresh() ? 1 : 0;
  });
  for (std::size_t i = 0; i < indexes.size();) {
    std::vector<std::unique_ptr<SegmentSource>> sources;
    std::vector<std::shared_lock<std::shared_mutex>> guards;
    std::map<std::string, Covered, std::less<>> covered;
    std::uint64_t bytes = 0;
    for (; i < indexes.size() && bytes < kSealBytesMax; ++i) {
      SessionIndex& index = *indexes[i];
      const Result<FileInfo>& folder = folders[i];
      if (are_fresh[i] == 0) {
        continue;
      }
      guards.push_back(index.lock());
      Result<std::unique_ptr<SegmentSource>> source = index.segment_source();
      if (!source) {
        guards.pop_back();
        continue;
      }
      Covered its{.segment = static_cast<std::uint32_t>(state.names.size()),
                  .number = static_cast<std::uint32_t>(sources.size())};
      if (index.is_archived()) {
        its.package = index.package();
      } else {
        if (folder && mtime_is_telling(*folder, store_.clock.now())) {
          its.folder_inode = folder->inode;
          its.folder_mtime_ns = folder->mtime_ns;
        }
        for (const EntryType type : kEntryTypes) {
          const LogCover& cover = index.covers()[static_cast<std::size_t>(type)];
          if (cover.exists()) {
            its.logs.push_back({.type = type,
                                .mtime_is_telling = cover.mtime_is_telling,
                                .bytes = cover.bytes,
                                .xxh3 = cover.xxh3,
                                .size = cover.file.size,
                                .device = cover.file.device,
                                .inode = cover.file.inode,
                                .mtime_ns = cover.file.mtime_ns,
                                .lines = cover.lines});
          } else if (is_empty_log(index.session_id(), type) != false) {
            its.empty_logs |= 1U << static_cast<unsigned>(type);
          }
        }
      }
      bytes += covered_bytes(index);
      covered.insert_or_assign(index.session_id(), std::move(its));
      sources.push_back(*std::move(source));
    }
    if (sources.empty()) {
      continue;
    }
    const std::string name = new_name(state);
    BMAD_TRY(
        write_segment(*store_.files, segment_path(name), sources, store_.config.indexing.language));
    BMAD_TRY_ASSIGN(
        std::shared_ptr<Segment> segment,
        Segment::open(*store_.files, segment_path(name), store_.config.indexing.language));
    state.names.push_back(name);
    state.segments.push_back(std::move(segment));
    for (auto& [id, its] : covered) {
      state.sessions.insert_or_assign(id, std::move(its));
    }
  }
  return {};
}

/// For a segment: no file has that name. Where CURRENT was lost others may hold an old one open.
std::string RootIndex::new_name(State& state) const {
  std::string name;
  do {
    name = fmt::format("{}.seg", state.next++);
  } while (store_.files->info(segment_path(name)));
  return name;
}

/// Puts what is still covered of the segments `which` into one, in their place.
Status RootIndex::merge_segments(State& state, const std::set<std::uint32_t>& which) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> wanted;
  for (const auto& [id, covered] : state.sessions) {
    if (which.contains(covered.segment)) {
      wanted[covered.segment].push_back(covered.number);
    }
  }
  std::vector<std::shared_ptr<SegmentPart>> parts;
  std::vector<std::unique_ptr<SegmentSource>> sources;
  for (auto& [number, sessions] : wanted) {
    std::ranges::sort(sessions);
    parts.push_back(std::make_shared<SegmentPart>(state.segments[number], sessions, files_of()));
    sources.push_back(parts.back()->source());
  }
  const std::string name = new_name(state);
  std::shared_ptr<Segment> merged;
  if (!sources.empty()) {
    BMAD_TRY(
        write_segment(*store_.files, segment_path(name), sources, store_.config.indexing.language));
    BMAD_TRY_ASSIGN(
        merged, Segment::open(*store_.files, segment_path(name), store_.config.indexing.language));
  }
  // The others keep their order.
  State next{.next = state.next};
  std::vector<std::uint32_t> places(state.names.size());
  for (std::uint32_t i = 0; i < state.names.size(); ++i) {
    if (!which.contains(i)) {
      places[i] = static_cast<std::uint32_t>(next.names.size());
      next.names.push_back(state.names[i]);
      next.segments.push_back(state.segments[i]);
    }
  }
  const auto last = static_cast<std::uint32_t>(next.names.size());
  std::map<std::string_view, std::uint32_t> numbers;
  if (merged != nullptr) {
    for (std::uint32_t i = 0; i < merged->session_count(); ++i) {
      numbers.emplace(merged->session_id(i), i);
    }
    next.names.push_back(name);
    next.segments.push_back(merged);
  }
  for (auto& [id, covered] : state.sessions) {
    if (which.contains(covered.segment)) {
      covered.segment = last;
      covered.number = numbers.at(id);
    } else {
      covered.segment = places[covered.segment];
    }
  }
  next.sessions = std::move(state.sessions);
  next.file = state.file;
  state = std::move(next);
  return {};
}

/// Few segments, and none that is mostly what was replaced.
Status RootIndex::merge_where_many(State& state) {
  std::vector<std::uint64_t> live(state.names.size());
  for (const auto& [id, covered] : state.sessions) {
    live[covered.segment] += state.segments[covered.segment]->entry_count(covered.number);
  }
  std::set<std::uint32_t> which;
  std::vector<std::uint32_t> by_size;
  for (std::uint32_t i = 0; i < state.names.size(); ++i) {
    if (state.segments[i] == nullptr || is_distrusted(state.names[i]) ||
        live[i] * 2 < state.segments[i]->entry_count()) {
      which.insert(i);
    }
    by_size.push_back(i);
  }
  std::ranges::sort(by_size, {}, [&](std::uint32_t i) { return live[i]; });
  if (state.names.size() > kSegmentsMax) {
    // Small ones, and larger ones as long as they are no larger than those together.
    constexpr std::size_t kAtLeast = 4;
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < by_size.size(); ++i) {
      if (i >= kAtLeast && live[by_size[i]] > sum) {
        break;
      }
      which.insert(by_size[i]);
      sum += live[by_size[i]];
    }
  }
  return which.empty() ? Status() : merge_segments(state, which);
}

/// Removes segments that CURRENT does not name, and what a process that died left. The caller holds
/// the lock of the index.
Status RootIndex::remove_unused(const State& state) const {
  BMAD_TRY_ASSIGN(const std::vector<std::string> names, store_.files->list(kIndexFolder));
  for (const std::string& name : names) {
    if ((is_segment_name(name) || name.ends_with(".tmp")) &&
        std::ranges::find(state.names, name) == state.names.end()) {
      const Status removed = store_.files->remove(segment_path(name));
      const Result<FileInfo> left = store_.files->info(segment_path(name));
      // A folder that somebody made is no segment.
      BMAD_TRY(removed || (left && left->kind == FileKind::kDirectory) ? Status() : removed);
    }
  }
  return {};
}

/// Whether there is none to be changed. Errors: as the file system's.
Result<bool> RootIndex::is_missing() const {
  const Result<FileInfo> folder = store_.files->info(kIndexFolder);
  if (!folder && !is_not_found(folder.error())) {
    return folder.error();
  }
  return !folder || folder->kind != FileKind::kDirectory;
}

Status RootIndex::remove(std::span<const std::string> session_ids) {
  BMAD_TRY_ASSIGN(const bool is_nothing, is_missing());
  if (is_nothing) {
    return {};
  }
  FileLock lock = index_lock(store_);
  BMAD_TRY_ASSIGN(const FileLock::Guard turn,
                  lock.acquire({.operation = "index", .timeout = store_.lock_timeout}));
  State next = *state();
  std::set<std::uint32_t> which;
  for (std::uint32_t i = 0; i < next.names.size(); ++i) {
    for (std::uint32_t s = 0; next.segments[i] != nullptr && s < next.segments[i]->session_count();
         ++s) {
      if (std::ranges::find(session_ids, next.segments[i]->session_id(s)) != session_ids.end()) {
        which.insert(i);
      }
    }
    if (next.segments[i] == nullptr) {
      which.insert(i);
    }
  }
  for (const std::string& id : session_ids) {
    next.sessions.erase(id);
  }
  if (!which.empty() && (!merge_segments(next, which) || !write_state(next))) {
    next = State{};  // A full disk, or a segment that does not hold: all of it goes.
    const Status gone = store_.files->remove(kIndexCurrentFile);
    BMAD_TRY(gone || is_not_found(gone.error()) ? Status() : gone);
  }
  BMAD_TRY(remove_unused(next));
  return store_.files->sync_directory(kIndexFolder);
}

Status RootIndex::clear() {
  BMAD_TRY_ASSIGN(const bool is_nothing, is_missing());
  if (is_nothing) {
    return {};
  }
  FileLock lock = index_lock(store_);
  BMAD_TRY_ASSIGN(const FileLock::Guard turn,
                  lock.acquire({.operation = "index", .timeout = store_.lock_timeout}));
  State next{.next = state()->next};
  BMAD_TRY(write_state(next));
  BMAD_TRY(remove_unused(next));
  const std::lock_guard guard(mutex_);
  distrusted_.clear();
  return {};
}

}  // namespace bmad_mem
