#include "left_lines.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/hash.hpp"
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

/// Its lines; none when it is not there.
Result<std::vector<LeftLine>> read_deleted_log(FileSystem& files, const DeletedLog& log) {
  const Result<std::string> bytes = read_file(files, log.path, kLogSizeMax);
  if (!bytes && !is_not_found(bytes.error())) {
    return bytes.error();
  }
  std::vector<LeftLine> lines;
  std::string_view text = bytes ? std::string_view(*bytes) : std::string_view();
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    lines.push_back({FeedOp::kDelete, log.type, std::string(line), xxh3(line), true});
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

Result<std::vector<DeletedLog>> deleted_logs(const Store& store, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(*store.files, session_id));
  std::vector<DeletedLog> logs;
  for (const Deletion& deletion : record.deletions) {
    for (const EntryType type : kEntryTypes) {
      if (deletion.whole_session) {
        logs.push_back(
            {type, fmt::format("{}/{}", deleted_session_folder(session_id, deletion.deletion_id),
                               entry_type_info(type).log_file)});
      }
    }
  }
  return logs;
}

Result<std::vector<LeftLine>> read_left_lines(const Store& store, const std::string& session_id) {
  std::vector<LeftLine> left;
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> deleted, read_deleted(*store.files, session_id));
  for (const DeletedLine& line : deleted) {
    if (!line.is_damaged) {
      left.push_back({FeedOp::kDelete, line.type, line.line, xxh3(line.line)});
    }
  }
  BMAD_TRY_ASSIGN(const std::vector<DeletedLog> logs, deleted_logs(store, session_id));
  for (const DeletedLog& log : logs) {
    BMAD_TRY_ASSIGN(std::vector<LeftLine> lines, read_deleted_log(*store.files, log));
    std::ranges::move(lines, std::back_inserter(left));
  }
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
  BMAD_TRY_ASSIGN(const std::vector<DeletedLog> logs, deleted_logs(store, session_id));
  for (const DeletedLog& log : logs) {
    std::vector<LeftLine> lines;
    if (log.type == of.first) {
      BMAD_TRY_ASSIGN(lines, read_deleted_log(files, log));
    }
    if (change(lines)) {
      std::string text;
      for (const LeftLine& each : lines) {
        text.append(each.line).append("\n");
      }
      BMAD_TRY(replace_log(files, log.path, text));
    }
  }
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
