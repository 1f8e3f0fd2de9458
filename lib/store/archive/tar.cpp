// tar.cpp - writes and lists tar files with libarchive.
#include "tar.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <new>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

namespace bmad_mem {
namespace {

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using TarEntry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

/// Two blocks of NUL bytes end a tar.
constexpr std::size_t kEndMarkSize = 1024;

/// ustar has 11 octal digits for it, which last until 2242.
constexpr std::int64_t kTimeMax = (std::int64_t{1} << 33U) - 1;

constexpr int kMemberMode = 0600;

Error trouble(archive* handle) {
  const char* reason = archive_error_string(handle);
  return {.code = ErrorCode::E_STORAGE_CORRUPT,
          .message = reason == nullptr ? "is no tar" : std::string(reason)};
}

la_ssize_t append_to_text(archive* /*handle*/, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

Status write_member(archive* writer, archive_entry* entry, std::string_view folder,
                    const ArchivedFile& member) {
  assert(!member.name.empty());
  archive_entry_clear(entry);
  archive_entry_set_pathname(entry, fmt::format("{}/{}", folder, member.name).c_str());
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_perm(entry, kMemberMode);
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

/// What libarchive reads: `bytes`, piece by piece, and not what it skips.
struct Client {
  const TarBytes& bytes;
  std::uint64_t size;
  std::uint64_t at = 0;
  Status problem = {};
};

la_ssize_t read_piece(archive* /*handle*/, void* client, const void** piece) {
  auto& from = *static_cast<Client*>(client);
  if (from.at >= from.size) {
    return 0;
  }
  const Result<std::string_view> bytes = from.bytes(from.at);
  if (!bytes) {
    from.problem = bytes.error();
    return -1;
  }
  assert(!bytes->empty() && bytes->size() <= from.size - from.at);
  *piece = bytes->data();
  from.at += bytes->size();
  return static_cast<la_ssize_t>(bytes->size());
}

la_int64_t skip_bytes(archive* /*handle*/, void* client, la_int64_t wanted) {
  auto& from = *static_cast<Client*>(client);
  assert(wanted >= 0);
  const std::uint64_t rest = from.size - std::min(from.at, from.size);
  const std::uint64_t skipped = std::min(static_cast<std::uint64_t>(wanted), rest);
  from.at += skipped;
  return static_cast<la_int64_t>(skipped);
}

std::uint64_t position(archive* reader) {
  return static_cast<std::uint64_t>(archive_filter_bytes(reader, 0));
}

/// Where the bytes of `entry` are, of which the reader has just read the header.
Result<PlacedFile> place_of(archive* reader, archive_entry* entry, std::uint64_t tar_size) {
  const char* name = archive_entry_pathname(entry);
  PlacedFile place{.name = name == nullptr ? "" : name,
                   .kind = kind_of(entry),
                   .mtime_s = archive_entry_mtime(entry),
                   .offset = std::min(position(reader), tar_size),
                   .size = 0};
  if (place.kind != kTarFile) {
    return place;
  }
  const la_int64_t size = archive_entry_size(entry);
  if (size < 0 || static_cast<std::uint64_t>(size) > tar_size - place.offset) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = fmt::format("a member says it has {} bytes, more than follow", size)};
  }
  place.size = static_cast<std::uint64_t>(size);
  return place;
}

/// Whether there is nothing but NUL from `begin` to `end`.
Result<bool> is_blank(const TarBytes& bytes, std::uint64_t begin, std::uint64_t end) {
  constexpr std::string_view kNul("\0", 1);
  while (begin < end) {
    BMAD_TRY_ASSIGN(std::string_view piece, bytes(begin));
    assert(!piece.empty() && "the bytes of a tar come one at least");
    piece = piece.substr(0, static_cast<std::size_t>(end - begin));
    if (piece.find_first_not_of(kNul) != std::string_view::npos) {
      return false;
    }
    begin += piece.size();
  }
  return true;
}

Status check_end(const TarBytes& bytes, std::uint64_t size, std::uint64_t read) {
  const std::uint64_t mark = size - std::min<std::uint64_t>(size, kEndMarkSize);
  BMAD_TRY_ASSIGN(const bool has_mark, is_blank(bytes, mark, size));
  if (!has_mark || size < kEndMarkSize) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT, .message = "the tar has no end mark"};
  }
  BMAD_TRY_ASSIGN(const bool ends, is_blank(bytes, read, size));
  if (!ends) {
    return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                 .message = "there is data after the end mark of the tar"};
  }
  return {};
}

}  // namespace

Result<std::string> make_tar(std::string_view folder, std::span<const ArchivedFile> members) {
  std::string text;
  const Writer writer(archive_write_new(), archive_write_free);
  const TarEntry entry(archive_entry_new(), archive_entry_free);
  if (writer == nullptr || entry == nullptr) {
    throw std::bad_alloc();
  }
  if (archive_write_set_format_pax_restricted(writer.get()) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(writer.get(), 1) != ARCHIVE_OK ||
      archive_write_open(writer.get(), &text, nullptr, append_to_text, nullptr) != ARCHIVE_OK) {
    return trouble(writer.get());
  }
  for (const ArchivedFile& member : members) {
    BMAD_TRY(write_member(writer.get(), entry.get(), folder, member));
  }
  if (archive_write_close(writer.get()) != ARCHIVE_OK) {
    return trouble(writer.get());
  }
  assert(text.size() >= kEndMarkSize);
  return text;
}

Status list_tar(std::uint64_t size, const TarBytes& bytes,
                const std::function<Status(PlacedFile)>& take) {
  const Reader reader(archive_read_new(), archive_read_free);
  if (reader == nullptr) {
    throw std::bad_alloc();
  }
  Client client{.bytes = bytes, .size = size, .at = 0};
  const auto problem = [&] {
    return client.problem ? Status(trouble(reader.get())) : client.problem;
  };
  if (archive_read_support_format_tar(reader.get()) != ARCHIVE_OK ||
      archive_read_open2(reader.get(), &client, nullptr, read_piece, skip_bytes, nullptr) !=
          ARCHIVE_OK) {
    return problem();
  }
  std::uint64_t end = 0;  // Of the bytes of the last file.
  while (true) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(reader.get(), &entry);
    // A warning is about an owner's name or the like, which we do not use.
    const bool has_member = status == ARCHIVE_OK || status == ARCHIVE_WARN;
    if (!has_member && status != ARCHIVE_EOF) {
      return problem();
    }
    const auto header = static_cast<std::uint64_t>(archive_read_header_position(reader.get()));
    if (header < end) {
      return Error{.code = ErrorCode::E_STORAGE_CORRUPT,
                   .message = "a member has fewer bytes than it says"};
    }
    if (!has_member) {
      return check_end(bytes, size, position(reader.get()));
    }
    BMAD_TRY_ASSIGN(PlacedFile place, place_of(reader.get(), entry, size));
    end = place.offset + place.size;
    BMAD_TRY(take(std::move(place)));
  }
}

}  // namespace bmad_mem
