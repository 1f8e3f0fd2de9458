// evicted_file.cpp - the parts that hold evicted lines: appended, read, replaced and merged.
#include "store/evicted_file.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <functional>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/log_merge.hpp"
#include "model/entry.hpp"
#include "store/atomic_file.hpp"
#include "store/gzip.hpp"
#include "store/layout.hpp"
#include "store/unpacked_cache.hpp"

namespace bmad_mem {
namespace {

/// Hands over the lines of `text` one by one. Empty lines are passed over, and the last one may
/// lack its '\n', as people's editors have it; `skips_bad`: so are bad ones. `display_path` is
/// where the text comes from. Errors: E_STORAGE_CORRUPT with path, line and field, for a line that
/// is no wrapped one; what `take` returns, with path and line.
Status for_each_wrapped(std::string_view text, const std::string& display_path,
                        const std::function<Status(const WrappedLine&)>& take,
                        bool skips_bad = false) {
  JsonParser parser;
  std::uint64_t number = 0;
  for (const auto& each : text | std::views::split('\n')) {
    const std::string_view line(each);
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
      continue;
    }
    const Result<WrappedLine> wrapped = unwrap_line(parser, line);
    Status taken = wrapped ? take(*wrapped) : Status(wrapped.error());
    if (!taken && !skips_bad) {
      Error error = std::move(taken).error();
      error.code = ErrorCode::E_STORAGE_CORRUPT;
      error.message += "; correct the line, or take it out";
      error.path = display_path;
      error.line = number;
      return error;
    }
  }
  return {};
}

void append_line(std::string& text, const EvictedLine& line, Timestamp evicted_at) {
  const std::string time = format_rfc3339(evicted_at);
  const std::array<WrapLabel, 2> labels = {{{"evicted_at", time}, {"reason", line.reason}}};
  append_wrapped(text, line.type, labels, line.line);
  text += '\n';
}

/// What tells one version of an entry from another.
std::string identity(EntryType type, std::string_view line) {
  return std::string(entry_type_name(type)) + ' ' + std::string(line);
}

/// The file's members that are whole. No file is as good as an empty one.
Result<WholeMembers> read_whole(FileSystem& files, const std::string& path,
                                std::uint64_t size_max = kEvictedSizeMax,
                                UnpackBudget* budget = nullptr) {
  BMAD_TRY_ASSIGN(const std::string packed, read_if_there(files, path, size_max));
  if (budget != nullptr && budget->is_limited()) {
    size_max = std::min(UnpackBudget::kQuickMax, UnpackBudget::kLikelyRatio * packed.size());
  }
  Result<WholeMembers> whole = unpack_within(budget, packed, size_max, gunzip_whole);
  if (!whole) {
    whole.error().path = files.display_path(path);
    whole.error().message +=
        whole.error().os_error == 0 ? "; put back an older copy of the file, or move it away" : "";
  }
  return whole;
}

Result<std::vector<EvictedLine>> parse(std::string_view text, const std::string& display_path,
                                       std::uint32_t part) {
  std::vector<EvictedLine> lines;
  BMAD_TRY(for_each_wrapped(text, display_path, [&](const WrappedLine& wrapped) -> Status {
    BMAD_TRY_ASSIGN(const Timestamp time, parse_rfc3339(wrapped.members["evicted_at"].string()));
    lines.push_back({.type = wrapped.type,
                     .line = std::string(wrapped.entry),
                     .reason = std::string(wrapped.members["reason"].string()),
                     .evicted_at = time,
                     .part = part});
    return {};
  }));
  return lines;
}

/// Adds `text` to a part that ends at `whole_size`, or cuts off what is torn there.
Status add_text(FileSystem& files, const std::string& path, std::uint64_t whole_size,
                std::string_view text) {
  assert((!text.empty() || whole_size > 0) && "there is something to add, or to cut off");
  std::string member;
  if (!text.empty()) {
    BMAD_TRY_ASSIGN(member, gzip(text));
  }
  BMAD_TRY(ensure_folder(files, kArchiveFolder));
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kAppend));
  const auto add_member = [&]() -> Status {  // In the place of what was torn there.
    BMAD_TRY_ASSIGN(const FileInfo info, file->info());
    BMAD_TRY(info.size > whole_size ? file->truncate(whole_size) : Status());
    BMAD_TRY(write_all(*file, member));
    return file->sync_all();
  };
  if (Status added = add_member(); !added) {
    // After a failed sync the system takes the bytes for written, and a second sync would succeed
    // without writing them. So they must go: the next attempt writes them anew.
    static_cast<void>(file->truncate(whole_size));
    return added;
  }
  remember_archive(files, path, files.info(path), ArchiveNote::kOurs);
  return files.sync_directory(kArchiveFolder);
}

Error refused(const char* side, std::string_view what) {
  return path_error(ErrorCode::E_STORAGE_CORRUPT, side,
                    fmt::format("{}; take the file of one side", what));
}

/// What `text` has behind `base`. Only whole members may be followed by others.
Result<std::string_view> added_behind(std::string_view base, std::string_view text,
                                      const char* side) {
  if (!text.starts_with(base)) {
    return refused(side, "this side has rewritten the file, and not only added to it");
  }
  for (const std::string_view bytes : {base, text}) {
    const Result<WholeMembers> whole = gunzip_whole(bytes, kEvictedSizeMax);
    if (!whole && whole.error().code == ErrorCode::E_SIZE_LIMIT) {
      return whole.error();
    }
    if (!whole || whole->whole_size != bytes.size()) {
      return refused(side, "this side's file is damaged, or its last write was interrupted");
    }
  }
  return text.substr(base.size());
}

}  // namespace

Result<std::uint32_t> evicted_parts(FileSystem& files, std::string_view session_id) {
  std::uint32_t parts = 0;
  for (bool is_next_there = true; is_next_there; parts += is_next_there ? 1 : 0) {
    BMAD_TRY_ASSIGN(is_next_there, is_there(files, evicted_path(session_id, parts + 1)));
  }
  return parts;
}

Status append_evicted(FileSystem& files, std::string_view session_id,
                      std::span<const EvictedLine> lines, Timestamp now) {
  BMAD_TRY_ASSIGN(std::uint32_t part, evicted_parts(files, session_id));
  part = std::max(part, 1U);
  Result<WholeMembers> last = read_whole(files, evicted_path(session_id, part), kEvictedPartSize);
  if (!last && last.error().code != ErrorCode::E_SIZE_LIMIT) {
    return last.error();
  }
  part += last ? 0 : 1;  // It is full.
  const WholeMembers whole = last ? *std::move(last) : WholeMembers{};
  std::unordered_set<std::string> known;
  BMAD_TRY(for_each_wrapped(whole.bytes, files.display_path(evicted_path(session_id, part)),
                            [&](const WrappedLine& wrapped) -> Status {
                              known.insert(identity(wrapped.type, wrapped.entry));
                              return {};
                            }));
  std::uint64_t whole_size = whole.whole_size;
  std::uint64_t present = whole.bytes.size();
  std::string text;
  for (const EvictedLine& line : lines) {
    if (!known.insert(identity(line.type, line.line)).second) {
      continue;
    }
    std::string added;
    append_line(added, line, now);
    if (present + text.size() > 0 && present + text.size() + added.size() > kEvictedPartSize) {
      if (!text.empty()) {
        BMAD_TRY(add_text(files, evicted_path(session_id, part), whole_size, text));
        text.clear();
      }
      ++part;
      whole_size = present = 0;
    }
    text += added;
  }
  return text.empty() && whole_size == 0
             ? Status()
             : add_text(files, evicted_path(session_id, part), whole_size, text);
}

Result<std::vector<EvictedLine>> read_evicted(FileSystem& files, std::string_view session_id,
                                              std::uint32_t part, UnpackBudget* budget) {
  const std::string path = evicted_path(session_id, part);
  BMAD_TRY_ASSIGN(const WholeMembers whole, read_whole(files, path, kEvictedSizeMax, budget));
  return parse(whole.bytes, files.display_path(path), part);
}

Result<std::vector<EvictedLine>> read_evicted(FileSystem& files, std::string_view session_id) {
  std::vector<EvictedLine> all;
  BMAD_TRY_ASSIGN(const std::uint32_t parts, evicted_parts(files, session_id));
  for (std::uint32_t part = 1; part <= parts; ++part) {
    BMAD_TRY_ASSIGN(std::vector<EvictedLine> lines, read_evicted(files, session_id, part));
    std::ranges::move(lines, std::back_inserter(all));
  }
  return all;
}

Status replace_evicted_part(FileSystem& files, std::string_view session_id,
                            std::span<const EvictedLine> lines, std::uint32_t part) {
  BMAD_TRY(remove_durably(files, evicted_index_path(session_id)));  // It holds the old words.
  BMAD_TRY_ASSIGN(const bool has_next, is_there(files, evicted_path(session_id, part + 1)));
  if (lines.empty() && !has_next) {
    return remove_durably(files, evicted_path(session_id, part));
  }
  std::string text;
  for (const EvictedLine& line : lines) {
    append_line(text, line, line.evicted_at);
  }
  BMAD_TRY_ASSIGN(const std::string packed, gzip(text));
  BMAD_TRY(ensure_folder(files, kArchiveFolder));
  const std::string path = evicted_path(session_id, part);
  BMAD_TRY(replace_file(files, path, packed));
  remember_archive(files, path, files.info(path), ArchiveNote::kOurs);
  return {};
}

Status replace_evicted(FileSystem& files, std::string_view session_id,
                       std::span<const EvictedLine> lines) {
  BMAD_TRY_ASSIGN(std::uint32_t part, evicted_parts(files, session_id));
  for (part = std::max(part, 1U); part > 0; --part) {
    std::vector<EvictedLine> its;
    std::ranges::copy_if(lines, std::back_inserter(its),
                         [part](const EvictedLine& line) { return line.part == part; });
    if (!its.empty()) {
      const Result<std::vector<EvictedLine>> before = read_evicted(files, session_id, part);
      if (before && *before == its) {
        continue;
      }
    }
    BMAD_TRY(replace_evicted_part(files, session_id, its, part));
  }
  return {};
}

namespace {

/// The limit of an archive: there can't be more in a part of a session than in all of it.
constexpr std::uint64_t kRetainedSizeMax = 64U << 20U;

}  // namespace

Result<std::vector<EvictedLine>> read_retained(FileSystem& files, std::string_view session_id,
                                               bool only_good) {
  const std::string path = retained_path(session_id);
  BMAD_TRY_ASSIGN(const std::string text, read_if_there(files, path, kRetainedSizeMax));
  std::vector<EvictedLine> lines;
  const auto take = [&](const WrappedLine& wrapped) -> Status {
    lines.push_back({.type = wrapped.type, .line = std::string(wrapped.entry)});
    return {};
  };
  BMAD_TRY(for_each_wrapped(text, files.display_path(path), take, only_good));
  return lines;
}

Status remove_retained(FileSystem& files, std::string_view session_id) {
  return remove_durably(files, retained_path(session_id));
}

Result<std::vector<std::string>> retained_session_ids(FileSystem& files) {
  return ids_of_files(files, kRetainedFolder, ".jsonl");
}

Result<std::string> merge_evicted(std::string_view base, std::string_view ours,
                                  std::string_view theirs) {
  if (ours == theirs || base == theirs) {
    return std::string(ours);
  }
  if (base == ours) {
    return std::string(theirs);
  }
  BMAD_TRY_ASSIGN(std::string_view first, added_behind(base, ours, "ours"));
  BMAD_TRY_ASSIGN(std::string_view second, added_behind(base, theirs, "theirs"));
  if (second < first) {
    std::swap(first, second);  // The same bytes, whoever merges.
  }
  return fmt::format("{}{}{}", base, first, second);
}

}  // namespace bmad_mem
