#include "tar.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace bmad_mem {
namespace {

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

/// Two blocks of NUL bytes end a tar.
constexpr std::size_t kEndMarkSize = 1024;

/// ustar has 11 octal digits for it, which last until 2242.
constexpr std::int64_t kTimeMax = (std::int64_t{1} << 33U) - 1;

constexpr int kFileMode = 0600;

Error trouble(archive* handle) {
  const char* reason = archive_error_string(handle);
  return {.code = ErrorCode::E_STORAGE_CORRUPT,
          .message = reason == nullptr ? "is no tar" : std::string(reason)};
}

la_ssize_t append_to_text(archive* /*handle*/, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

Status write_member(archive* writer, archive_entry* entry, const TarFile& member) {
  archive_entry_clear(entry);
  archive_entry_set_pathname(entry, member.name.c_str());
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, kFileMode);
  archive_entry_set_mtime(entry, std::clamp<std::int64_t>(member.mtime_s, 0, kTimeMax), 0);
  archive_entry_set_size(entry, static_cast<la_int64_t>(member.bytes.size()));
  if (archive_write_header(writer, entry) != ARCHIVE_OK ||
      archive_write_data(writer, member.bytes.data(), member.bytes.size()) !=
          static_cast<la_ssize_t>(member.bytes.size())) {
    return trouble(writer);
  }
  return {};
}

std::string_view kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) {
    return "a hard link";
  }
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return archive_entry_sparse_count(entry) > 0 ? "a sparse file" : kTarFile;
    case AE_IFDIR:
      return kTarFolder;
    case AE_IFLNK:
      return "a symbolic link";
    case AE_IFIFO:
      return "a FIFO";
    default:
      return "a device or something else";
  }
}

/// The bytes of the file `entry`, of which the reader has just read the header.
Status read_bytes(archive* reader, archive_entry* entry, std::size_t size_max, std::string& out) {
  const la_int64_t size = archive_entry_size(entry);
  if (size < 0 || static_cast<std::uint64_t>(size) > size_max) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = fmt::format("a member says it has {} bytes, more than follow", size)};
  }
  out.resize(static_cast<std::size_t>(size));
  const la_ssize_t got = archive_read_data(reader, out.data(), out.size());
  if (got < 0) {
    return trouble(reader);
  }
  if (static_cast<std::size_t>(got) != out.size()) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = fmt::format("a member has {} bytes instead of {}", got, size)};
  }
  return {};
}

Status check_end(std::string_view tar, archive* reader) {
  const auto read = static_cast<std::size_t>(archive_filter_bytes(reader, 0));
  const std::string_view rest = tar.substr(std::min(read, tar.size()));
  const std::string_view mark = tar.substr(tar.size() - std::min(tar.size(), kEndMarkSize));
  constexpr std::string_view kNul("\0", 1);
  if (mark.size() < kEndMarkSize || mark.find_first_not_of(kNul) != std::string_view::npos) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT, .message = "the tar has no end mark"};
  }
  if (rest.find_first_not_of(kNul) != std::string_view::npos) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = "there is more behind the end mark of the tar"};
  }
  return {};
}

}  // namespace

Result<std::string> make_tar(std::span<const TarFile> members) {
  std::string text;
  const Writer writer(archive_write_new(), archive_write_free);
  const Entry entry(archive_entry_new(), archive_entry_free);
  if (writer == nullptr || entry == nullptr) {
    throw std::bad_alloc();
  }
  if (archive_write_set_format_pax_restricted(writer.get()) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(writer.get(), 1) != ARCHIVE_OK ||
      archive_write_open(writer.get(), &text, nullptr, append_to_text, nullptr) != ARCHIVE_OK) {
    return trouble(writer.get());
  }
  for (const TarFile& member : members) {
    BMAD_TRY(write_member(writer.get(), entry.get(), member));
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) {
    return trouble(writer.get());
  }
  return text;
}

Status read_tar(std::string_view tar, const std::function<Status(TarMember)>& take) {
  const Reader reader(archive_read_new(), archive_read_free);
  if (reader == nullptr) {
    throw std::bad_alloc();
  }
  if (archive_read_support_format_tar(reader.get()) != ARCHIVE_OK ||
      archive_read_open_memory(reader.get(), tar.data(), tar.size()) != ARCHIVE_OK) {
    return trouble(reader.get());
  }
  archive_entry* entry = nullptr;
  int status = archive_read_next_header(reader.get(), &entry);
  // A warning is about an owner's name or the like, which we do not use.
  while (status == ARCHIVE_OK || status == ARCHIVE_WARN) {
    const char* name = archive_entry_pathname(entry);
    TarMember member{.name = name == nullptr ? "" : name,
                     .kind = kind_of(entry),
                     .mtime_s = archive_entry_mtime(entry),
                     .bytes = {}};
    if (member.kind == kTarFile) {
      BMAD_TRY(read_bytes(reader.get(), entry, tar.size(), member.bytes));
    }
    BMAD_TRY(take(std::move(member)));
    status = archive_read_next_header(reader.get(), &entry);
  }
  if (status != ARCHIVE_EOF) {
    return trouble(reader.get());
  }
  return check_end(tar, reader.get());
}

}  // namespace bmad_mem
