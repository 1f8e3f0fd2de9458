// segment.cpp - opens a segment, and reads its sessions, rows and statements with their checks.
#include "search/segment.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "base/ids.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {

Error Segment::corrupt(std::string_view what) const {
  return path_error(ErrorCode::E_STORAGE_CORRUPT, files->display_path(path),
                    fmt::format("the index is damaged: {}", what));
}

Error Segment::note(Error error) {
  const std::lock_guard guard(mutex);
  damage = error;
  return error;
}

namespace {

/// Longer ones are read each time: lists, which are kept as they were decoded.
constexpr std::uint64_t kCachedReadMax = 64U << 10U;
/// Rows that are read together where the next question may want others of them.
constexpr std::uint32_t kRowBlock = 64;

/// What all readers of this process have read last.
struct CachedReads {
  static constexpr std::uint64_t kSizeMax = std::uint64_t{8} << 20U;  // Of each generation.
  std::mutex mutex;
  Recent<std::uint64_t, std::shared_ptr<const std::string>> recent;
};

CachedReads& cached_reads() {
  static CachedReads all;
  return all;
}

}  // namespace

Result<std::string> Segment::read(const Stretch& stretch, std::uint64_t offset,
                                  std::uint64_t wanted) const {
  std::string bytes;
  BMAD_TRY(read_into(stretch, offset, wanted, bytes));
  return bytes;
}

Status Segment::read_into(const Stretch& stretch, std::uint64_t offset, std::uint64_t wanted,
                          std::string& bytes) const {
  if (offset > stretch.size || wanted > stretch.size - offset) {
    return corrupt("a part lies beyond its end");
  }
  const bool keeps = is_held && wanted <= kCachedReadMax;
  const std::uint64_t name = number_of_all << 40U | (stretch.offset + offset);
  if (keeps) {
    const std::lock_guard guard(cached_reads().mutex);
    const auto known = cached_reads().recent.find(name);
    if (known && (*known)->size() == wanted) {
      bytes = **known;
      return {};
    }
  }
  Result<std::size_t> got = std::size_t{0};
  bytes.resize_and_overwrite(static_cast<std::size_t>(wanted), [&](char* to, std::size_t) {
    const std::span room(to, static_cast<std::size_t>(wanted));
    take_memory_now(std::as_writable_bytes(room));
    got = file->read_at(stretch.offset + offset, room);
    return got ? *got : 0;
  });
  if (!got) {
    return corrupt(got.error().message);  // Another one can be made.
  }
  if (*got != wanted) {
    return corrupt("it is cut short");
  }
  if (keeps) {
    const std::lock_guard guard(cached_reads().mutex);
    cached_reads().recent.add(name, std::make_shared<const std::string>(bytes), wanted,
                              CachedReads::kSizeMax);
  }
  return {};
}

Result<std::string> Segment::read_hashed(const Stretch& stretch) const {
  BMAD_TRY_ASSIGN(std::string bytes, read(stretch, 0, stretch.size));
  return xxh3(bytes) == stretch.hash ? Result<std::string>(std::move(bytes))
                                     : corrupt("a part has changed");
}

Result<std::string> Segment::read_block(const Stretch& stretch, std::uint64_t offset,
                                        std::uint64_t wanted) const {
  BMAD_TRY_ASSIGN(std::string bytes, read(stretch, offset, wanted + kBlockHash));
  assert(bytes.size() == wanted + kBlockHash && "read() gives all or an error");
  const auto expected = little_at<std::uint64_t>(bytes.data() + wanted);
  bytes.resize(static_cast<std::size_t>(wanted));
  return (xxh3(bytes) ^ salt) == expected ? Result<std::string>(std::move(bytes))
                                          : corrupt("a block has changed");
}

Status Segment::read_footer(std::string_view language) {
  BMAD_TRY_ASSIGN(const FileInfo info, file->info());
  size = info.size;
  const Stretch whole{.size = size};
  constexpr std::uint64_t kFooterSizeMax = 1024;
  const std::uint64_t wanted = std::min(size, kTrailerSize + kFooterSizeMax);
  if (wanted < kTrailerSize) {
    return corrupt("it is cut short");
  }
  BMAD_TRY_ASSIGN(const std::string end, read(whole, size - wanted, wanted));
  assert(end.size() == wanted && wanted >= kTrailerSize);
  const std::string_view trailer = std::string_view(end).substr(end.size() - kTrailerSize);
  const auto footer_size = little_at<std::uint64_t>(trailer.data());
  if (!trailer.ends_with(kSegmentMagic) || footer_size > end.size() - kTrailerSize) {
    return corrupt("it does not end like one");
  }
  const std::string_view footer = std::string_view(end).substr(
      end.size() - kTrailerSize - static_cast<std::size_t>(footer_size),
      static_cast<std::size_t>(footer_size));
  hash = xxh3(footer);
  if (hash != little_at<std::uint64_t>(trailer.data() + 8)) {
    return corrupt("its footer has changed");
  }
  BytesReader reader(footer);
  if (reader.number<std::uint32_t>() != kSegmentVersion) {
    return corrupt("it is of another version");
  }
  const auto analyzer = reader.number<std::uint32_t>();
  const auto count = reader.number<std::uint64_t>();
  reader.number<std::uint64_t>();  // The hash of all before: in that of the footer, it names all.
  salt = reader.number<std::uint64_t>();
  for (Stretch& stretch : stretches) {
    stretch.offset = reader.number<std::uint64_t>();
    stretch.size = reader.number<std::uint64_t>();
    stretch.hash = reader.number<std::uint64_t>();
    if (stretch.offset > size || stretch.size > size - stretch.offset) {
      return corrupt("a part lies beyond its end");
    }
  }
  if (analyzer != static_cast<std::uint32_t>(kAnalyzerVersion) || !reader.good() ||
      !footer.ends_with(language) || footer.size() != 32 + kPlaceCount * 24 + language.size()) {
    return corrupt("its words were analyzed in another way");
  }
  // Each slot has a row: so a count that is a lie takes no memory.
  if (place(SegmentPlace::kRows).size % kRowSize != 0 ||
      place(SegmentPlace::kRows).size / kRowSize != count || count > (std::uint64_t{1} << 31U)) {
    return corrupt("its parts don't belong together");
  }
  entries = static_cast<std::uint32_t>(count);
  return {};
}

Status Segment::read_sessions() {
  BMAD_TRY_ASSIGN(const std::string bytes, read_hashed(place(SegmentPlace::kSessions)));
  BytesReader reader(bytes);
  const auto session_total = reader.number<std::uint64_t>();
  const auto name_total = reader.number<std::uint64_t>();
  const auto member_size = reader.number<std::uint64_t>();
  if (session_total > bytes.size() / kSessionSize || name_total > bytes.size()) {
    return corrupt("its sessions are none");
  }
  BytesReader table(reader.bytes(session_total * kSessionSize));
  const std::string_view members = reader.bytes(member_size);
  sessions.resize(static_cast<std::size_t>(session_total));
  std::uint64_t next = 0;  // Slot.
  for (SegmentSession& session : sessions) {
    session.begin = table.number<std::uint32_t>();
    session.count = table.number<std::uint32_t>();
    session.totals.entries = session.count;
    session.totals.lengths = table.number<std::uint64_t>();
    session.totals.window_lengths = table.number<std::uint64_t>();
    session.newest = Timestamp(std::chrono::milliseconds(table.number<std::int64_t>()));
    session.oldest = Timestamp(std::chrono::milliseconds(table.number<std::int64_t>()));
    const auto offset = table.number<std::uint64_t>();
    const auto named = table.number<std::uint32_t>();
    const auto id_size = table.number<std::uint32_t>();
    const auto bits = table.number<std::uint64_t>();
    session.archived = (bits & 1U) != 0;
    session.has_user = (bits & 2U) != 0;
    session.has_assistant = (bits & 4U) != 0;
    session.evicted = static_cast<std::uint32_t>(bits >> 3U);
    if (session.begin != next || offset > members.size()) {
      return corrupt("its sessions are none");
    }
    next += session.count;
    BytesReader own(members.substr(static_cast<std::size_t>(offset)));
    for (std::uint32_t i = 0; i < named && own.good(); ++i) {
      session.participants.push_back(own.number<std::uint32_t>());
      if (session.participants.back() >= name_total) {
        return corrupt("its sessions are none");
      }
    }
    session.id = own.bytes(id_size);
    if (!own.good() || !is_session_id(session.id)) {
      return corrupt("its sessions are none");
    }
  }
  for (std::uint64_t i = 0; i < name_total && reader.good(); ++i) {
    participants.emplace_back(reader.bytes(reader.varint()));
  }
  return next == entries && reader.good() && table.good() ? Status()
                                                          : corrupt("its sessions are none");
}

Result<std::shared_ptr<Segment>> Segment::open(FileSystem& files, const std::string& path,
                                               std::string_view language) {
  auto made = std::make_shared<Segment>();
  made->files = &files;
  made->path = path;
  static std::atomic<std::uint64_t> count{0};
  made->number_of_all = ++count;
  BMAD_TRY_ASSIGN(made->file, files.open(path, OpenMode::kRead));
  BMAD_TRY(made->read_footer(language));
  BMAD_TRY(made->read_sessions());
  assert(made->entries == 0 || !made->sessions.empty());
  const std::size_t entries = made->entries;
  constexpr std::size_t kSlotSize =
      sizeof(std::int64_t) + 3 * sizeof(std::uint32_t) + sizeof(WindowReach);
  LazyColumns& columns = made->memory.emplace(entries * kSlotSize);
  made->times = columns.take<std::int64_t>(entries);
  made->lengths = columns.take<std::uint32_t>(entries);
  made->flags = columns.take<std::uint32_t>(entries);
  made->windows = columns.take<std::uint32_t>(entries);
  made->reach = columns.take<WindowReach>(entries);
  made->has_scores.resize(entries / kSlotBlock + 1);
  made->packed = std::vector<std::atomic<const char*>>(entries / kSlotBlock + 1);
  made->has_times = std::vector<std::atomic<bool>>(entries / kSlotBlock + 1);
  made->has_windows = std::vector<std::atomic<bool>>(entries / kSlotBlock + 1);
  return made;
}

Status Segment::status() const {
  const std::lock_guard guard(mutex);
  return damage ? Status(*damage) : Status();
}

Status Segment::read_odd() {
  BMAD_TRY_ASSIGN(const std::string bytes, read_hashed(place(SegmentPlace::kOdd)));
  BytesReader reader(bytes);
  while (!reader.at_end() && reader.good()) {
    const auto slot = reader.number<std::uint32_t>();
    OddEntry entry{.versions = reader.number<std::uint32_t>()};
    entry.decay_factor = std::bit_cast<double>(reader.number<std::uint64_t>());
    auto has = reader.number<std::uint64_t>();
    for (std::optional<Timestamp>* const time : {&entry.last_accessed, &entry.expires_at}) {
      const Timestamp known(std::chrono::milliseconds(reader.number<std::int64_t>()));
      *time = (has & 1U) != 0 ? std::optional(known) : std::nullopt;
      has >>= 1U;
    }
    if (!std::isfinite(entry.decay_factor)) {
      return corrupt("its odd entries are none");
    }
    odd.emplace(slot, entry);
  }
  return {};
}

namespace {

/// What SegmentMaker::write_statements() wrote.
StatementRow read_statement(BytesReader& reader) {
  StatementRow each;
  StatementOutline& outline = each.outline;
  for (std::uint64_t* hash :
       {&outline.id_hash, &outline.key_hash, &outline.value_hash, &outline.agent_hash}) {
    *hash = reader.number<std::uint64_t>();
  }
  outline.at = Timestamp(std::chrono::milliseconds(reader.number<std::int64_t>()));
  outline.confidence = std::bit_cast<double>(reader.number<std::uint64_t>());
  outline.trust = std::bit_cast<double>(reader.number<std::uint64_t>());
  each.row.offset = reader.number<std::uint32_t>();
  each.row.offset |= std::uint64_t{reader.number<std::uint8_t>()} << 32U;
  const std::uint64_t expiry = reader.number<std::uint32_t>();
  outline.expires_at =
      statement_expiry(expiry | std::uint64_t{reader.number<std::uint16_t>()} << 32U);
  each.row.size = reader.number<std::uint32_t>();
  each.row.line = reader.number<std::uint32_t>();
  const auto line_hash = reader.number<std::uint32_t>();
  each.row.line_hash = line_hash & ~kSupersededBit;
  outline.superseded = (line_hash & kSupersededBit) != 0;
  const auto bits = reader.number<std::uint8_t>();
  outline.type = (bits & 1U) != 0 ? EntryType::kPreference : EntryType::kFact;
  outline.category = static_cast<Category>(unsigned{bits} >> 1U & 7U);
  outline.review = static_cast<Review>(unsigned{bits} >> 4U & 3U);
  outline.pinned = (bits & 1U << 6U) != 0;
  outline.sensitive = (bits & 1U << 7U) != 0;
  return each;
}

}  // namespace

Status Segment::read_statements() {
  const Stretch& stretch = place(SegmentPlace::kStatements);
  const std::uint64_t head_size = sessions.size() * sizeof(std::uint32_t);
  BMAD_TRY_ASSIGN(const std::string head, read(stretch, 0, head_size));
  BytesReader counts(head);
  std::vector<std::size_t> ends;
  std::size_t count = 0;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    count += counts.number<std::uint32_t>();
    ends.push_back(count);
  }
  if (stretch.size != head_size + count * kStatementSize) {
    return corrupt("its statements are none");
  }
  statements.clear();
  reserve_now(statements, count);
  Xxh3Stream hash_of_all;
  hash_of_all.add(head);
  while (statements.size() < count) {  // In pieces, so that there are not twice as many bytes.
    constexpr std::size_t kAtOnce = 800;
    const std::size_t wanted = std::min(kAtOnce, count - statements.size());
    BMAD_TRY_ASSIGN(
        const std::string bytes,
        read(stretch, head_size + statements.size() * kStatementSize, wanted * kStatementSize));
    hash_of_all.add(bytes);
    BytesReader reader(bytes);
    for (std::size_t i = 0; i < wanted; ++i) {
      statements.push_back(read_statement(reader));
      const StatementOutline& outline = statements.back().outline;
      if (!std::isfinite(outline.confidence) || !std::isfinite(outline.trust)) {
        return corrupt("its statements are none");
      }
    }
  }
  if (hash_of_all.value() != stretch.hash) {
    return corrupt("a part has changed");
  }
  assert(statements.size() == count && ends.size() == sessions.size());
  statement_ends = std::move(ends);
  return {};
}

std::span<const StatementRow> Segment::statements_of(std::uint32_t session) const {
  assert(session < statement_ends.size() && "load_statements() comes first");
  const std::size_t begin = session == 0 ? 0 : statement_ends[session - 1];
  return std::span(statements).subspan(begin, statement_ends[session] - begin);
}

Result<std::vector<IndexRow>> Segment::rows(std::uint32_t begin, std::uint32_t count) const {
  assert(begin <= entries && count <= entries - begin);
  constexpr std::size_t kChecked = kRowSize - 3;
  std::uint32_t first = begin;
  std::uint32_t end = begin + count;
  if (is_held) {
    first -= first % kRowBlock;
    end = std::min(entries, end + (kRowBlock - end % kRowBlock) % kRowBlock);
  }
  BMAD_TRY_ASSIGN(const std::string bytes,
                  read(place(SegmentPlace::kRows), std::uint64_t{first} * kRowSize,
                       std::uint64_t{end - first} * kRowSize));
  std::vector<IndexRow> rows;
  reserve_now(rows, count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view row =
        std::string_view(bytes).substr((begin - first + i) * kRowSize, kRowSize);
    std::string check;
    put_little(xxh3(row.substr(0, kChecked)) ^ salt, check);
    if (!check.starts_with(row.substr(kChecked))) {
      return corrupt("a row has changed");
    }
    const std::uint64_t high = static_cast<unsigned char>(row[4]);  // Of the five bytes.
    const std::uint64_t id_time = little_at<std::uint32_t>(row.data() + 21) |
                                  std::uint64_t{little_at<std::uint16_t>(row.data() + 25)} << 32U;
    rows.push_back({.row = {.offset = high << 32U | little_at<std::uint32_t>(row.data()),
                            .size = little_at<std::uint32_t>(row.data() + 5),
                            .line = little_at<std::uint32_t>(row.data() + 9),
                            .line_hash = little_at<std::uint32_t>(row.data() + 13)},
                    .id_hash = little_at<std::uint32_t>(row.data() + 17),
                    .id = {.time = id_time, .random = little_at<std::uint32_t>(row.data() + 27)}});
  }
  return rows;
}

}  // namespace bmad_mem
