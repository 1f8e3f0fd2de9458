// provenance_log.cpp - the file of records: appended under a lock, sorted now and then, looked up.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "state_file.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {
namespace {

struct Record {
  std::uint64_t tag = 0;
  std::uint32_t seen_day = 0;  ///< Since 1970.
  std::uint32_t origin = 0;
};

/// The first two records of a file.
struct Header {
  std::uint64_t magic = kMagic;
  std::uint64_t version = 1;
  std::uint64_t sorted = 0;  ///< Records that are by their tags.
  std::int64_t day = 0;      ///< When they were sorted.

  static constexpr std::uint64_t kMagic = 0x72656764656C6D62;  // "bmledger"
};
static_assert(sizeof(Header) == 2 * sizeof(Record));

std::int64_t day_of(std::int64_t seconds) {
  constexpr std::int64_t kSecondsADay = 86'400;
  return seconds / kSecondsADay;
}

constexpr std::uint32_t kNoOrigin = ~std::uint32_t{0};

bool is_origin(std::uint32_t number) {
  return number <= static_cast<std::uint32_t>(Origin::kByHand);
}

/// Which of two records of a line holds: what was not known of it at first, a person decides later.
int strength(Origin origin) {
  return origin == Origin::kElsewhere ? 0 : origin == Origin::kByHand ? 1 : 2;
}
int strength(const Record& record) {
  return is_origin(record.origin) ? strength(static_cast<Origin>(record.origin)) : -1;
}

/// Of `count` things at `data`, as they are in memory.
template <typename Thing>
std::string_view bytes_of(const Thing* data, std::size_t count) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
  return {reinterpret_cast<const char*>(data), count * sizeof(Thing)};
}

enum class Appended : std::uint8_t {
  kWhole,
  kNothing,     ///< As on a full disk.
  kOutOfOrder,  ///< Fewer records were there than the header calls sorted: some were cut.
};

/// Appends whole records or nothing.
Appended append(const std::string& path, std::span<const Record> records) {
  assert(!records.empty());
  const LockedFile locked(path);
  const OpenFile* const file = locked.get();
  if (file == nullptr) {
    return Appended::kNothing;
  }
  const std::size_t size = file->size();
  const std::size_t whole = size < sizeof(Header) ? 0 : size / sizeof(Record) * sizeof(Record);
  if (whole != size && ::ftruncate(file->get(), static_cast<off_t>(whole)) != 0) {
    return Appended::kNothing;
  }
  Header header;
  const bool has_header = whole > 0 ? ::pread(file->get(), &header, sizeof header, 0) > 0
                                    : file->write(bytes_of(&header, 1));
  if (!has_header || !file->write(bytes_of(records.data(), records.size()))) {
    static_cast<void>(::ftruncate(file->get(), static_cast<off_t>(whole)) == 0);
    return Appended::kNothing;
  }
  return whole == 0 || header.sorted * sizeof(Record) <= whole - sizeof header
             ? Appended::kWhole
             : Appended::kOutOfOrder;
}

/// What there is in a file; nothing when it is something else. Read, not mapped: where memory is
/// virtual twice a fault of a page costs 40 us, a read 2.
class Records {
 public:
  explicit Records(const OpenFile& file) : file_(file) {
    Header header;
    if (file.is_open() && ::pread(file.get(), &header, sizeof header, 0) == sizeof header &&
        header.magic == Header::kMagic && header.version == 1) {
      count_ = (std::max(file.size(), sizeof header) - sizeof header) / sizeof(Record);
      sorted_ = std::min<std::size_t>(header.sorted, count_);
      day_ = header.day;
    }
  }

  [[nodiscard]] std::int64_t day() const { return day_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t sorted() const { return sorted_; }

  /// `count` records from the one of this number on; fewer when not all can be read.
  [[nodiscard]] std::vector<Record> read(std::size_t first, std::size_t count) const {
    assert(first + count <= count_);
    std::vector<Record> records(count);
    const auto at = static_cast<off_t>(sizeof(Header) + first * sizeof(Record));
    const ssize_t size =
        count == 0 ? 0 : ::pread(file_.get(), records.data(), count * sizeof(Record), at);
    records.resize(size < 0 ? 0 : static_cast<std::size_t>(size) / sizeof(Record));
    return records;
  }

  /// The origin of `tag` among those that are sorted. Tags are spread evenly, so that it is near
  /// where its number says: one or two reads of 8 KB.
  [[nodiscard]] std::uint32_t origin_of(std::uint64_t tag) const {
    constexpr std::size_t kWindow = 512;
    constexpr double kTags = 18446744073709551616.0;  // 2^64.
    const auto guess =
        static_cast<std::size_t>(static_cast<double>(tag) / kTags * static_cast<double>(sorted_));
    std::size_t begin = guess - std::min(guess, kWindow / 2);
    for (bool goes_down = false; begin < sorted_;) {
      const std::vector<Record> window = read(begin, std::min(kWindow, sorted_ - begin));
      if (window.empty()) {
        break;
      }
      if (tag < window.front().tag && begin > 0) {
        goes_down = true;
        begin -= std::min(begin, kWindow);
      } else if (tag > window.back().tag && !goes_down) {
        begin += window.size();
      } else {
        return origin_in(window, tag);
      }
    }
    return kNoOrigin;
  }

  [[nodiscard]] static std::uint32_t origin_in(std::span<const Record> sorted, std::uint64_t tag) {
    const auto found = std::ranges::lower_bound(sorted, tag, {}, &Record::tag);
    return found != sorted.end() && found->tag == tag ? found->origin : kNoOrigin;
  }

 private:
  const OpenFile& file_;
  std::size_t count_ = 0;
  std::size_t sorted_ = 0;
  std::int64_t day_ = 0;
};

/// The queries by their tags, for one pass over records.
class Wanted {
 public:
  explicit Wanted(std::span<OriginQuery> queries)
      : queries_(queries), places_(std::bit_ceil(2 * queries.size() + 2), kNone) {
    assert(places_.size() > queries.size() && "a place stays free, where each search ends");
    for (std::uint32_t i = 0; i < queries.size(); ++i) {
      std::size_t at = queries[i].tag & mask();
      while (places_[at] != kNone) {
        at = (at + 1) & mask();
      }
      places_[at] = i;
    }
  }

  void hear(std::uint64_t tag, Origin origin) {
    for (std::size_t at = tag & mask(); places_[at] != kNone; at = (at + 1) & mask()) {
      OriginQuery& query = queries_[places_[at]];
      if (query.tag == tag) {
        query.origin = strength(origin) > strength(query.origin) ? origin : query.origin;
        query.is_known = true;
      }
    }
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  [[nodiscard]] std::size_t mask() const { return places_.size() - 1; }

  std::span<OriginQuery> queries_;
  std::vector<std::uint32_t> places_;
};

}  // namespace

void ProvenanceLog::note(std::string_view session_id, EntryType type,
                         std::span<const std::string_view> lines, Origin origin) const {
  std::vector<std::uint64_t> tags;
  for (const std::string_view line : lines) {
    const std::optional<std::uint64_t> tag =
        is_statement(type) ? std::nullopt : plain_line_tag(session_id, line);
    tag ? tags.push_back(*tag) : add_tags(session_id, type, line, tags);
  }
  const auto today = static_cast<std::uint32_t>(day_of(::time(nullptr)));
  const std::vector<Record> records = mapped(tags, [&](std::uint64_t tag) {
    return Record{.tag = tag, .seen_day = today, .origin = static_cast<std::uint32_t>(origin)};
  });
  if (records.empty()) {
    return;
  }
  const Appended appended = append(path_, records);
  if (appended == Appended::kNothing) {
    has_lost_ = true;
  } else if (appended == Appended::kOutOfOrder) {
    compact(nullptr, today);
  }
}

bool ProvenanceLog::is_whole() const {
  const OpenFile file(path_, O_RDONLY);
  Header header;
  return file.is_open() && (file.size() < sizeof header ||
                            (::read(file.get(), &header, sizeof header) == sizeof header &&
                             header.magic == Header::kMagic && header.version == 1));
}

bool ProvenanceLog::is_due(std::optional<std::int64_t> today) const {
  constexpr std::size_t kFew = 1024;
  const OpenFile file(path_, O_RDONLY);
  const Records records(file);
  return records.count() > kFew && (records.count() - records.sorted() > records.sorted() ||
                                    (today && *today - records.day() > kRetainedDays));
}

namespace {

/// Rewrites the provenance log with what `change` leaves of its records, each tag once and in their
/// order; `day` is when. False when it can't be read as a whole, or not be written.
bool rewrite(const ProvenanceLog& provenance, const std::string& path,
             std::optional<std::int64_t> day,
             const std::function<void(std::vector<Record>&)>& change) {
  const LockedFile locked(path);
  if (locked.get() == nullptr || !provenance.is_whole()) {
    return false;
  }
  const Records records(*locked.get());
  std::vector<Record> all = records.read(0, records.count());
  if (all.size() != records.count()) {
    return false;
  }
  std::ranges::stable_sort(
      all, {}, [](const Record& record) { return std::pair(record.tag, -strength(record)); });
  all.erase(std::ranges::unique(all, {}, &Record::tag).begin(), all.end());
  change(all);
  assert(std::ranges::is_sorted(all, {}, &Record::tag));
  const Header header{.sorted = all.size(), .day = day.value_or(records.day())};
  return replace_whole(path, path + ".tmp",
                       {bytes_of(&header, 1), bytes_of(all.data(), all.size())});
}

}  // namespace

void ProvenanceLog::compact(const std::vector<std::uint64_t>* live, std::int64_t today) const {
  if (live == nullptr) {
    static_cast<void>(rewrite(*this, path_, std::nullopt, [](const auto& /*all*/) {}));
    return;
  }
  assert(std::ranges::is_sorted(*live));
  static_cast<void>(rewrite(*this, path_, today, [&](std::vector<Record>& all) {
    for (Record& record : all) {
      if (std::ranges::binary_search(*live, record.tag)) {
        record.seen_day = static_cast<std::uint32_t>(today);
      }
    }
    std::erase_if(all, [&](const Record& record) {
      return today - std::int64_t{record.seen_day} > kRetainedDays;
    });
  }));
}

bool ProvenanceLog::keep_only(Origin origin) const {
  return rewrite(*this, path_, std::nullopt, [&](std::vector<Record>& all) {
    std::erase_if(all, [&](const Record& record) {
      return record.origin != static_cast<std::uint32_t>(origin);
    });
  });
}

void ProvenanceLog::find(std::span<OriginQuery> queries) const {
  if (queries.empty()) {
    return;
  }
  constexpr std::size_t kFew = 64;  // For more, all are read at once.
  const OpenFile file(path_, O_RDONLY);
  const Records records(file);
  const std::vector<Record> all =
      queries.size() > kFew ? records.read(0, records.sorted()) : std::vector<Record>();
  for (OriginQuery& query : queries) {
    const std::uint32_t origin =
        all.empty() ? records.origin_of(query.tag) : Records::origin_in(all, query.tag);
    query.is_known = is_origin(origin);
    query.origin = query.is_known ? static_cast<Origin>(origin) : Origin::kElsewhere;
  }
  const std::vector<Record> others =
      records.read(records.sorted(), records.count() - records.sorted());
  if (others.empty()) {
    return;
  }
  Wanted wanted(queries);
  for (const Record& record : others) {
    if (is_origin(record.origin)) {
      wanted.hear(record.tag, static_cast<Origin>(record.origin));
    }
  }
}

Origin ProvenanceLog::origin_of(std::string_view session_id, std::string_view line) const {
  const ParsedJson entry(line);
  OriginQuery query{.tag = entry ? line_tag(session_id, *entry, line) : 0};
  find({&query, 1});
  return query.origin;
}

}  // namespace bmad_mem
