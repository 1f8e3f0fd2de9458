// deletion_record.cpp - the record of what was deleted of a session, and the deleted lines.
#include "store/deletion_record.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <iterator>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "model/entry.hpp"
#include "store/append_log.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "store/line_reader.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint64_t kRecordSizeMax = 256U << 20U;
constexpr std::string_view kWholeSession = "session";
constexpr std::string_view kSomeEntries = "entries";

std::vector<std::string> sorted_strings(JsonValue list) {
  std::vector<std::string> strings = json_strings(list);
  std::ranges::sort(strings);
  return strings;
}

Deletion to_deletion(JsonValue value, const std::string& session_id) {
  return {.session_id = session_id,
          .deletion_id = std::string(value["deletion_id"].string()),
          .deleted_at = try_parse_rfc3339(value["deleted_at"].string()).value_or(Timestamp{}),
          // What can't be read does not expire: nothing is removed because of a slip in an editor.
          .expires_at = try_parse_rfc3339(value["expires_at"].string()).value_or(Timestamp::max()),
          .agent_id = std::string(value["agent_id"].string()),
          .whole_session = value["kind"].string() == kWholeSession,
          .entries = value["entries"].natural()};
}

void write_strings(JsonWriter& out, std::string_view key, const std::vector<std::string>& list) {
  if (!list.empty()) {
    out.key(key).raw(list_json(list));
  }
}

std::string record_text(const DeletionRecord& record) {
  JsonWriter out;
  out.begin_object().member("session_id", record.session_id);
  out.key("deletions").begin_array();
  for (const Deletion& deletion : record.deletions) {
    out.begin_object()
        .member("deletion_id", deletion.deletion_id)
        .member("deleted_at", format_rfc3339(deletion.deleted_at))
        .member("expires_at", format_rfc3339(deletion.expires_at))
        .member_unless_empty("agent_id", deletion.agent_id)
        .member("kind", deletion.whole_session ? kWholeSession : kSomeEntries)
        .member("entries", deletion.entries)
        .end_object();
  }
  out.end_array();
  write_strings(out, "purged_ids", record.purged_ids);
  write_strings(out, "purging", record.purging);
  out.end_object();
  return json_pretty(out.text()) + '\n';
}

}  // namespace

Result<DeletionRecord> load_deletion_record(FileSystem& files, const std::string& session_id) {
  DeletionRecord record{.session_id = session_id};
  const std::string path = deletion_record_path(session_id);
  const Result<std::string> text = read_file(files, path, kRecordSizeMax);
  if (!text) {
    return is_not_found(text.error()) ? Result<DeletionRecord>(record) : text.error();
  }
  const ParsedJson root(*text);
  if (!root || !root->is_object()) {
    Error error = root ? Error{} : root.error();
    error.code = ErrorCode::E_STORAGE_CORRUPT;
    error.path = files.display_path(path);
    error.message =
        "the record of deletions can't be read; correct it by hand: without it nothing "
        "that was deleted from this session is purged or restored";
    return error;
  }
  for (const JsonValue deletion : (*root)["deletions"].elements()) {
    record.deletions.push_back(to_deletion(deletion, session_id));
  }
  record.purged_ids = sorted_strings((*root)["purged_ids"]);
  record.purging = sorted_strings((*root)["purging"]);
  return record;
}

Status save_deletion_record(FileSystem& files, const DeletionRecord& record) {
  const std::string path = deletion_record_path(record.session_id);
  if (record.is_empty()) {
    return remove_durably(files, path);
  }
  BMAD_TRY(make_deleted_folder(files, record.session_id));
  return replace_file(files, path, record_text(record));
}

bool is_purged_id(const Store& store, const std::vector<std::string>& ids, std::string_view id) {
  if (std::ranges::binary_search(ids, id)) {
    return true;
  }
  const auto hidden = std::ranges::lower_bound(ids, kHiddenIdPrefix);
  if (hidden == ids.end() || !hidden->starts_with(kHiddenIdPrefix) ||
      store.above.hide_id == nullptr) {
    return false;
  }
  const Result<std::string> as_hidden = store.above.hide_id(store, id, /*makes_key=*/false);
  return as_hidden && std::ranges::binary_search(ids, *as_hidden);
}

void add_ids(std::vector<std::string>& list, std::vector<std::string> ids) {
  list.insert(list.end(), std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
}

Result<std::vector<std::string>> sessions_with_deletions(FileSystem& files) {
  BMAD_TRY_ASSIGN(std::vector<std::string> names, list_if_there(files, kDeletedFolder));
  std::erase_if(names, [](const std::string& name) { return !is_session_id(name); });
  return names;
}

Status make_deleted_folder(FileSystem& files, const std::string& session_id) {
  return ensure_folder(files, deleted_folder(session_id));
}

namespace {

/// A session's bytes many times over; only damage is larger.
constexpr std::uint64_t kDeletedSizeMax = std::uint64_t{1} << 30U;

std::string lines_text(std::span<const DeletedLine> lines) {
  std::string text;
  for (const DeletedLine& line : lines) {
    if (line.is_damaged) {
      text += line.line + '\n';
      continue;
    }
    const std::string at = format_rfc3339(line.deleted_at);
    const std::array<WrapLabel, 3> labels = {{{.name = "deletion_id", .value = line.deletion_id},
                                              {.name = "deleted_at", .value = at},
                                              {.name = "from", .value = "evicted"}}};
    append_wrapped(text, line.type, std::span(labels).first(line.was_evicted ? 3 : 2), line.line);
    text += '\n';
  }
  return text;
}

DeletedLine to_deleted(JsonParser& parser, std::string_view text, std::uint64_t number) {
  const Result<WrappedLine> line = unwrap_line(parser, text);
  if (!line) {
    return {.line = std::string(text), .is_damaged = true, .number = number};
  }
  return {
      .type = line->type,
      .deletion_id = std::string(line->members["deletion_id"].string()),
      .deleted_at = try_parse_rfc3339(line->members["deleted_at"].string()).value_or(Timestamp{}),
      .line = std::string(line->entry),
      .was_evicted = line->members["from"].string() == "evicted",
      .number = number};
}

/// Cuts off what a crash left behind the last newline: the deletion that wrote it did not happen.
Status cut_torn_end(File& file) {
  BMAD_TRY_ASSIGN(const FileInfo info, file.info());
  BMAD_TRY_ASSIGN(const std::uint64_t end, last_line_start(file, info.size));
  assert(end <= info.size);
  return end == info.size ? Status() : file.truncate(end);
}

}  // namespace

Status append_deleted(FileSystem& files, const std::string& session_id,
                      std::span<const DeletedLine> lines) {
  BMAD_TRY(make_deleted_folder(files, session_id));
  const std::string path = deleted_entries_path(session_id);
  const bool is_new = !files.info(path).has_value();
  BMAD_TRY_ASSIGN(const std::unique_ptr<File> file, files.open(path, OpenMode::kAppend));
  BMAD_TRY(cut_torn_end(*file));
  BMAD_TRY(write_all(*file, lines_text(lines)));
  BMAD_TRY(file->sync_data());
  return is_new ? files.sync_directory(parent_folder(path)) : Status();
}

Result<std::vector<DeletedLine>> read_deleted(FileSystem& files, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const std::string text,
                  read_if_there(files, deleted_entries_path(session_id), kDeletedSizeMax));
  std::vector<DeletedLine> lines;
  JsonParser parser;
  std::uint64_t number = 0;
  for_each_text_line(whole_lines(text), [&](std::string_view line) {
    ++number;
    if (!is_blank(line)) {
      lines.push_back(to_deleted(parser, line, number));
    }
  });
  return lines;
}

Result<std::vector<DeletedLog>> deleted_logs(FileSystem& files, const std::string& session_id) {
  BMAD_TRY_ASSIGN(const DeletionRecord record, load_deletion_record(files, session_id));
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

Result<std::vector<DeletedLine>> read_deleted_log(FileSystem& files, const DeletedLog& log) {
  BMAD_TRY_ASSIGN(const std::string text, read_if_there(files, log.path, kLogSizeMax));
  std::vector<DeletedLine> lines;
  for_each_text_line(whole_lines(text), [&](std::string_view line) {
    lines.push_back({.type = log.type, .line = std::string(line), .of_session = true});
  });
  return lines;
}

Result<std::vector<DeletedLine>> read_all_deleted(FileSystem& files,
                                                  const std::string& session_id) {
  BMAD_TRY_ASSIGN(std::vector<DeletedLine> all, read_deleted(files, session_id));
  std::erase_if(all, [](const DeletedLine& line) { return line.is_damaged; });
  BMAD_TRY_ASSIGN(const std::vector<DeletedLog> logs, deleted_logs(files, session_id));
  for (const DeletedLog& log : logs) {
    BMAD_TRY_ASSIGN(std::vector<DeletedLine> lines, read_deleted_log(files, log));
    std::ranges::move(lines, std::back_inserter(all));
  }
  return all;
}

Status replace_deleted(FileSystem& files, const std::string& session_id,
                       std::span<const DeletedLine> lines) {
  const std::string path = deleted_entries_path(session_id);
  return lines.empty() ? remove_durably(files, path) : replace_file(files, path, lines_text(lines));
}

}  // namespace bmad_mem
