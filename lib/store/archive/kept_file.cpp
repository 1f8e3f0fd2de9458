#include "store/kept_file.hpp"

#include <algorithm>

#include "bmad_mem/json_parser.hpp"
#include "store/durable_change.hpp"
#include "store/layout.hpp"
#include "wrapped_lines.hpp"

namespace bmad_mem {
namespace {

/// The limit of an archive: there can't be more in a part of a session than in all of it.
constexpr std::uint64_t kKeptSizeMax = 256U << 20U;

}  // namespace

Result<std::vector<KeptLine>> read_kept(FileSystem& files, std::string_view session_id) {
  const std::string path = kept_path(session_id);
  const Result<std::string> text = read_file(files, path, kKeptSizeMax);
  std::vector<KeptLine> lines;
  if (!text) {
    return is_not_found(text.error()) ? Result<std::vector<KeptLine>>(lines) : text.error();
  }
  BMAD_TRY(
      for_each_wrapped(*text, files.display_path(path), [&](const WrappedLine& wrapped) -> Status {
        lines.push_back({.type = wrapped.type, .line = std::string(wrapped.entry)});
        return {};
      }));
  return lines;
}

Result<std::vector<KeptLine>> read_good_kept(FileSystem& files, std::string_view session_id) {
  BMAD_TRY_ASSIGN(const std::string text, read_file(files, kept_path(session_id), kKeptSizeMax));
  std::vector<KeptLine> lines;
  JsonParser parser;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t size = std::min(rest.find('\n'), rest.size());
    if (const Result<WrappedLine> wrapped = unwrap_line(parser, rest.substr(0, size))) {
      lines.push_back({.type = wrapped->type, .line = std::string(wrapped->entry)});
    }
    rest.remove_prefix(std::min(size + 1, rest.size()));
  }
  return lines;
}

Status remove_kept(FileSystem& files, std::string_view session_id) {
  return remove_durably(files, kept_path(session_id));
}

Result<std::vector<std::string>> kept_session_ids(FileSystem& files) {
  return ids_of_files(files, kKeptFolder, ".jsonl");
}

}  // namespace bmad_mem
