#include "left_lines.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "lifecycle/log_lines.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/origin_ledger.hpp"
#include "store/seal.hpp"

namespace bmad_mem {
namespace {

template <typename Line>
LineKey key_of(const Line& line) {
  return {line.type, xxh3(line.line)};
}

std::vector<std::string_view> whole_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// The logs of the session as it was deleted as a whole, each time: `use` gets type, path and text.
template <typename Use>
Status for_deleted_logs(const Store& store, const std::string& session_id, const Use& use) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(files, session_id));
  for (const Deletion& deletion : record.deletions) {
    for (const EntryType type : kEntryTypes) {
      if (!deletion.whole_session) {
        break;
      }
      const std::string path =
          fmt::format("{}/{}", deleted_session_folder(session_id, deletion.deletion_id),
                      entry_type_info(type).log_file);
      Result<std::string> text = read_file(files, path, kLogSizeMax);
      if (text) {
        BMAD_TRY(use(type, path, *std::move(text)));
      } else if (!is_not_found(text.error())) {
        return text.error();
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<LeftLine>> read_left_lines(const Store& store, const std::string& session_id) {
  std::vector<LeftLine> left;
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> deleted, read_deleted(*store.files, session_id));
  for (const DeletedLine& line : deleted) {
    if (!line.is_damaged) {
      left.push_back({FeedOp::kDelete, line.type, line.line, xxh3(line.line)});
    }
  }
  BMAD_TRY(for_deleted_logs(
      store, session_id, [&](EntryType type, const std::string&, const std::string& text) {
        for (const std::string_view line : whole_lines(text)) {
          left.push_back({FeedOp::kDelete, type, std::string(line), xxh3(line), true});
        }
        return Status();
      }));
  BMAD_TRY_ASSIGN(const std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  for (const EvictedLine& line : evicted) {
    left.push_back({FeedOp::kEvict, line.type, line.line, xxh3(line.line)});
  }
  return left;
}

Status redact_left_line(Store& store, const std::string& session_id, const LineKey& of,
                        const std::string& line) {
  const auto change = [&](auto& kept) {
    bool is_changed = false;
    for (auto& each : kept) {
      if (key_of(each) == of && each.line != line) {
        CarriedLines carried(store.origins->ledger(), session_id);
        carried.add(each.type, each.line, line);
        carried.settle();
        each.line = line;
        is_changed = true;
      }
    }
    return is_changed;
  };
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> deleted, read_deleted(files, session_id));
  if (change(deleted)) {
    BMAD_TRY(replace_deleted(files, session_id, deleted));
  }
  BMAD_TRY(for_deleted_logs(store, session_id,
                            [&](EntryType type, const std::string& path, const std::string& text) {
                              std::vector<DeletedLine> lines;
                              for (const std::string_view each : whole_lines(text)) {
                                lines.push_back({.type = type, .line = std::string(each)});
                              }
                              if (type != of.first || !change(lines)) {
                                return Status();
                              }
                              std::string changed;
                              for (const DeletedLine& each : lines) {
                                changed.append(each.line).append("\n");
                              }
                              return replace_log(files, path, changed);
                            }));
  BMAD_TRY_ASSIGN(std::vector<EvictedLine> evicted, read_evicted(files, session_id));
  return change(evicted) ? replace_evicted(files, session_id, evicted) : Status();
}

Status drop_deleted_lines(Store& store, const std::string& session_id,
                          const std::set<LineKey>& keys) {
  FileSystem& files = *store.files;
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> deleted, read_deleted(files, session_id));
  if (std::erase_if(deleted, [&](const auto& line) { return keys.contains(key_of(line)); }) == 0) {
    return {};
  }
  BMAD_TRY_ASSIGN(DeletionRecord record, load_deletion_record(files, session_id));
  std::erase_if(record.deletions, [&](const Deletion& deletion) {
    return !deletion.whole_session && std::ranges::none_of(deleted, [&](const DeletedLine& line) {
      return line.is_of(deletion.deletion_id);
    });
  });
  BMAD_TRY(replace_deleted(files, session_id, deleted));
  return save_deletion_record(files, record);
}

Status drop_evicted_lines(Store& store, const std::string& session_id,
                          const std::set<LineKey>& keys) {
  BMAD_TRY_ASSIGN(std::vector<EvictedLine> evicted, read_evicted(*store.files, session_id));
  const bool is_changed =
      std::erase_if(evicted, [&](const auto& line) { return keys.contains(key_of(line)); }) > 0;
  return is_changed ? replace_evicted(*store.files, session_id, evicted) : Status();
}

}  // namespace bmad_mem
