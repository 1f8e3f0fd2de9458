// text_search.cpp - finds a text in every file below the root; compressed files are unpacked.
#include <algorithm>
#include <cassert>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "search/reads.hpp"
#include "store/beside_files.hpp"
#include "store/gzip.hpp"
#include "store/layout.hpp"
#include "store/line_encryption.hpp"
#include "store/line_reader.hpp"
#include "store/session_archive.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

constexpr int kDepthMax = 16;

class TextSearch {
 public:
  TextSearch(const Store& store, std::string_view text)
      : store_(store), text_(text), escaped_(json_quoted(text)) {
    assert(!text_.empty() && escaped_.size() > 2 && "it has its quotes");
    escaped_ = escaped_.substr(1, escaped_.size() - 2);
  }

  Status search_folder(const std::string& folder, int depth) {
    if (depth > kDepthMax) {
      return {};
    }
    BMAD_TRY_ASSIGN(const std::vector<std::string> names, store_.files->list(folder));
    for (const std::string& name : names) {
      const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
      if (holds(name)) {
        found_.push_back({.place = store_.files->display_path(path),
                          .detail = "in its name",
                          .remedy = "rename or remove it"});
      }
      BMAD_TRY_ASSIGN(const FileInfo info, store_.files->info(path));
      if (info.kind == FileKind::kDirectory) {
        BMAD_TRY(search_folder(path, depth + 1));
      } else if (info.kind == FileKind::kRegular) {
        BMAD_TRY(search_file(path, info.size));
      }
    }
    return {};
  }

  /// What waits for its key, outside the memory.
  Status search_waiting() {
    BMAD_TRY_ASSIGN(const std::string bytes, waiting_text(store_));
    note(bytes, store_.origins->state_file(RootOrigins::kWaitingName),
         "`bmad-mem forget --match TEXT` removes the entries that contain it");
    return {};
  }

  std::vector<Leftover> take() { return std::move(found_); }

 private:
  [[nodiscard]] bool holds(std::string_view bytes) const {
    return bytes.find(text_) != std::string_view::npos ||
           (escaped_ != text_ && bytes.find(escaped_) != std::string_view::npos);
  }

  Status search_file(const std::string& path, std::uint64_t size) {
    const bool is_text = !path.ends_with(".gz") && !path.starts_with(kHubSessionsFolder);
    if (is_text && size > kTextLineMax) {
      return search_pieces(path, size);
    }
    Result<std::string> read = read_file(*store_.files, path, kReadLimits.bytes);
    if (read && path.ends_with(".gz")) {
      read = gunzip(*read, kReadLimits.bytes);
    }
    if (!read) {
      if (!is_not_found(read.error())) {
        found_.push_back({.place = store_.files->display_path(path),
                          .detail = fmt::format("can't be searched: it {}", read.error().message),
                          .remedy = "look into it by hand, or remove it"});
      }
      return {};
    }
    std::string bytes = *std::move(read);
    if (path.starts_with(kHubSessionsFolder)) {  // Text within text: its quotes are there twice.
      bytes = mirrored_manifest(bytes);
    }
    note(bytes, store_.files->display_path(path), remedy_for(path));
    return {};
  }

  Status search_pieces(const std::string& path, std::uint64_t size) {
    const Result<std::unique_ptr<File>> file = store_.files->open(path, OpenMode::kRead);
    BMAD_TRY(file || is_not_found(file.error()) ? Status() : Status(file.error()));
    std::uint64_t at = size;
    for (const std::string_view wanted : {text_, std::string_view(escaped_)}) {
      BMAD_TRY_ASSIGN(at, file ? find_bytes(**file, 0, at, wanted) : Result<std::uint64_t>(at));
    }
    if (at < size) {
      found_.push_back({.place = store_.files->display_path(path),
                        .detail = fmt::format("byte {}", at),
                        .remedy = remedy_for(path)});
    }
    return {};
  }

  void note(const std::string& bytes, std::string place, std::string remedy) {
    if (!holds(bytes)) {
      return;
    }
    const std::size_t at = std::min(bytes.find(text_), bytes.find(escaped_));
    assert(at < bytes.size() && "holds() has found one of them");
    const auto line =
        1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    found_.push_back({.place = std::move(place),
                      .detail = fmt::format("line {}", line),
                      .remedy = std::move(remedy)});
  }

  static std::string remedy_for(std::string_view path) {
    if (path == kConfigFile) {
      return "edit it by hand: it contains settings, not entries";
    }
    if (path == kHubStateFile) {
      return "it contains the names of the hub, and no entries; `bmad-mem hub leave` removes it";
    }
    if (path == kHubPolicyFile) {
      return "it contains the rules of the hub; `bmad-mem hub policy FILE` sets others";
    }
    return "`bmad-mem forget --match TEXT` removes the entries that contain it; edit the rest by "
           "hand";
  }

  const Store& store_;
  std::string_view text_;
  std::string escaped_;
  std::vector<Leftover> found_;
};

}  // namespace

Result<std::vector<Leftover>> find_text(const Store& store, std::string_view text) {
  if (text.empty()) {
    return Error{.code = ErrorCode::E_INVALID_QUERY, .message = "the text to look for is empty"};
  }
  TextSearch search(store, text);
  BMAD_TRY(search.search_folder("", 0));
  BMAD_TRY(search.search_waiting());
  std::vector<Leftover> found = search.take();
  if (store.encryption->is_on()) {
    found.push_back(
        {.place = store.files->display_path(kEncryptionFile),
         .detail = "encrypted entries can't be searched, and may hold it",
         .remedy = "run `bmad-mem encrypt off`, then this again, or delete them by id"});
  }
  return found;
}

}  // namespace bmad_mem
