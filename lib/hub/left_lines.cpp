#include "left_lines.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "store/deletion_record.hpp"
#include "store/evicted_file.hpp"
#include "store/line_reader.hpp"
#include "store/root_trust.hpp"
#include "store/seal.hpp"

namespace bmad_mem {
namespace {

template <typename Line>
LineKey key_of(const Line& line) {
  return {line.type, xxh3(line.line)};
}

}  // namespace

Result<std::vector<LeftLine>> read_left_lines(const Store& store, const std::string& session_id) {
  std::vector<LeftLine> left;
  BMAD_TRY_ASSIGN(const std::vector<DeletedLine> deleted,
                  read_all_deleted(*store.files, session_id));
  for (const DeletedLine& line : deleted) {
    left.push_back({FeedOp::kDelete, line.type, line.line, xxh3(line.line), line.of_session});
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
  BMAD_TRY_ASSIGN(const std::vector<DeletedLog> logs, deleted_logs(files, session_id));
  for (const DeletedLog& log : logs) {
    std::vector<DeletedLine> lines;
    if (log.type == of.first) {
      BMAD_TRY_ASSIGN(lines, read_deleted_log(files, log));
    }
    if (change(lines)) {
      std::string text;
      for (const DeletedLine& each : lines) {
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
