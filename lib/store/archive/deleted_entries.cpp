#include "store/deleted_entries.hpp"

#include <array>

#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/rfc3339.hpp"
#include "bmad_mem/text.hpp"
#include "model/wrapped_line.hpp"
#include "store/atomic_file.hpp"
#include "store/deletion_record.hpp"
#include "store/durable_change.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
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
    const std::array<WrapLabel, 2> labels = {
        {{.name = "deletion_id", .value = line.deletion_id}, {.name = "deleted_at", .value = at}}};
    append_wrapped(text, line.type, labels, line.line);
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
      .is_damaged = false,
      .number = number};
}

/// Cuts off what a crash left behind the last newline: the deletion that wrote it did not happen.
Status cut_torn_end(File& file) {
  BMAD_TRY_ASSIGN(const FileInfo info, file.info());
  std::uint64_t end = info.size;
  std::array<char, 1> last{};
  while (end > 0) {
    BMAD_TRY(file.read_at(end - 1, last));
    if (last[0] == '\n') {
      break;
    }
    --end;
  }
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
  std::vector<DeletedLine> lines;
  const Result<std::string> file =
      read_file(files, deleted_entries_path(session_id), kDeletedSizeMax);
  if (!file) {
    return is_not_found(file.error()) ? Result<std::vector<DeletedLine>>(std::move(lines))
                                      : file.error();
  }
  JsonParser parser;
  std::string_view text = *file;
  std::uint64_t number = 0;
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    ++number;
    if (const std::string_view each = text.substr(0, end); !is_blank(each)) {
      lines.push_back(to_deleted(parser, each, number));
    }
    text.remove_prefix(end + 1);
  }
  return lines;
}

Status replace_deleted(FileSystem& files, const std::string& session_id,
                       std::span<const DeletedLine> lines) {
  const std::string path = deleted_entries_path(session_id);
  if (!lines.empty()) {
    return replace_file(files, path, lines_text(lines));
  }
  return remove_durably(files, path);
}

}  // namespace bmad_mem
