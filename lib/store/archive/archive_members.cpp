// archive_members.cpp - finds the gzip members of an archive by their headers, and reads some.
#include <algorithm>
#include <array>
#include <cassert>
#include <span>

#include "store/gzip.hpp"
#include "store/session_archive.hpp"
#include "tar.hpp"

namespace bmad_mem {
namespace {

/// Far more than an archive within the limits has, each of some KB at least.
constexpr std::size_t kMembersMax = 1U << 16U;
/// What does not shrink grows by some bytes, and then there are header and end.
constexpr std::uint64_t kPackedMax = kArchiveTextMax + 1024;
constexpr std::size_t kTextSizeBytes = 4;  // How much text there is.

}  // namespace

Result<std::optional<ArchiveMembers>> ArchiveMembers::find(File& archive,
                                                           const ArchiveLimits& limits) {
  BMAD_TRY_ASSIGN(const FileInfo info, archive.info());
  const std::uint64_t tar_max = tar_size_max(info.size, limits);
  // The end of a member, and the header of the next one.
  std::array<char, kTextSizeBytes + kSizedHeaderSize> hop{};
  const std::string_view end(hop.data(), kTextSizeBytes);
  const std::string_view header(end.end(), kSizedHeaderSize);
  const std::span first(hop.data() + kTextSizeBytes, kSizedHeaderSize);
  BMAD_TRY_ASSIGN(std::size_t got, archive.read_at(0, first));
  if (info.size > limits.bytes || got < first.size()) {
    return std::optional<ArchiveMembers>();
  }
  ArchiveMembers found;
  Place next;
  while (next.packed < info.size) {
    const std::uint64_t rest = info.size - next.packed;
    const std::uint64_t size = sized_member(header).value_or(0);
    if (size <= kSizedHeaderSize + kTextSizeBytes || size > std::min(rest, kPackedMax)) {
      return std::optional<ArchiveMembers>();
    }
    found.places_.push_back(next);
    next.packed += size;
    hop.fill('\0');  // There may be no next one.
    BMAD_TRY_ASSIGN(got, archive.read_at(next.packed - kTextSizeBytes, hop));
    const std::uint64_t text = member_text_size(end);
    next.tar += text;
    if (got < kTextSizeBytes || text == 0 || text > kArchiveTextMax || next.tar > tar_max ||
        found.places_.size() > kMembersMax) {
      return std::optional<ArchiveMembers>();
    }
  }
  found.places_.push_back(next);
  assert(next.packed >= info.size && "the members fill the file");
  return std::optional<ArchiveMembers>(std::move(found));
}

std::size_t ArchiveMembers::holding(std::uint64_t offset) const {
  assert(offset < tar_size());
  const auto behind = std::ranges::upper_bound(places_, offset, {}, &Place::tar);
  return static_cast<std::size_t>(behind - places_.begin()) - 1;
}

Result<std::string> ArchiveMembers::read(File& archive, std::size_t member) const {
  assert(member < count());
  const Place& from = places_[member];
  const Place& to = places_[member + 1];
  BMAD_TRY_ASSIGN(const std::string packed,
                  read_range(archive, from.packed, to.packed - from.packed));
  return gunzip_member(packed, from.packed, to.tar - from.tar);
}

Result<std::vector<PlacedFile>> list_archive(const ArchiveMembers& members,
                                             std::string_view session_id, const MemberTexts& texts,
                                             const ArchiveLimits& limits) {
  std::shared_ptr<const std::string> text;  // As long as its bytes are used.
  const auto bytes = [&](std::uint64_t offset) -> Result<std::string_view> {
    const std::size_t member = members.holding(offset);
    BMAD_TRY_ASSIGN(text, texts(member));
    assert(text != nullptr && text->size() == members.text_size(member));
    return std::string_view(*text).substr(static_cast<std::size_t>(offset - members.begin(member)));
  };
  return place_archive_files(session_id, members.tar_size(), bytes, limits);
}

}  // namespace bmad_mem
