// statement_groups.cpp - groups lines by entry, and entries by category and key.
#include <bit>
#include <cassert>
#include <utility>

#include "known_statements.hpp"
#include "model/statement.hpp"

namespace bmad_mem {
namespace {

constexpr std::uint32_t kNone = StatedEntry::kNone;

/// Numbers by a hash. It grows with its content: inserting everything again costs less than memory
/// that is touched for the first time.
class NumberTable {
 public:
  /// Forgets all, and has room for `count`.
  void clear(std::size_t count) {
    count_ = 0;
    places_.assign(std::bit_ceil(count * 2 + 2), Place());
  }

  /// The number that `is_it` knows, or else `next`, which is there from now on. Others are only
  /// asked for where half of the hash is the same.
  template <typename IsIt>
  std::uint32_t find_or_add(std::uint64_t hash, std::uint32_t next, const IsIt& is_it) {
    assert(std::has_single_bit(places_.size()) && next != kNone && "clear() comes first");
    const auto half = static_cast<std::uint32_t>((hash * 0x9e3779b97f4a7c15U) >> 32U);
    for (std::size_t at = half;; ++at) {
      const Place& place = places_[at & (places_.size() - 1)];
      if (place.number == kNone) {
        break;
      }
      if (place.half == half && is_it(place.number)) {
        return place.number;
      }
    }
    if (++count_ * 2 > places_.size()) {
      const std::vector<Place> before =
          std::exchange(places_, std::vector<Place>(places_.size() * 2));
      for (const Place& place : before) {
        put(place);
      }
    }
    put({.half = half, .number = next});
    return next;
  }

 private:
  struct Place {
    std::uint32_t half = 0;
    std::uint32_t number = kNone;
  };

  void put(const Place& place) {
    assert(count_ * 2 <= places_.size() && "the search ends at a free place");
    std::size_t at = place.half;
    while (places_[at & (places_.size() - 1)].number != kNone) {
      ++at;
    }
    places_[at & (places_.size() - 1)] = place;
  }

  std::size_t count_ = 0;
  std::vector<Place> places_;  // A power of two of them, more than half of them free.
};

/// What is about the same: see Place in knowledge_item.cpp.
struct Subject {
  explicit Subject(const StatementOutline& last)
      : category(last.category),
        alone(last.key_hash == 0 || last.review == Review::kCandidate ||
              last.review == Review::kDropped),
        key_hash(last.key_hash),
        id_hash(alone ? last.id_hash : 0) {}

  bool operator==(const Subject&) const = default;
  [[nodiscard]] std::uint64_t hash() const {
    return key_hash ^ std::rotl(id_hash, 21) ^ (static_cast<std::uint64_t>(category) << 1U) ^
           (alone ? 1U : 0U);
  }

  Category category;
  bool alone;
  std::uint64_t key_hash;
  std::uint64_t id_hash;
};

}  // namespace

StatementGroups::StatementGroups(std::span<const Stated> lines,
                                 std::span<const OriginQuery> origins, Timestamp now)
    : lines_(lines), next_(lines.size(), kNone) {
  assert(origins.empty() || origins.size() == lines.size());
  find_entries(origins);
  find_groups(now);
}

void StatementGroups::add_version(std::uint32_t number, std::uint32_t line, bool speaks) {
  StatedEntry& entry = entries_[number];
  assert(line < next_.size() && next_[entry.last] == kNone && "the last version is the end");
  if (speaks && entry.behind != kNone) {  // Replaced in turn.
    StatedEntry& other = entries_[std::exchange(entry.behind, kNone)];
    next_[entry.last] = std::exchange(other.first, kNone);
    entry.last = other.last;
  }
  entry.speaks = entry.speaks || speaks;
  if (speaks || !entry.speaks) {
    next_[entry.last] = line;
    entry.last = line;
  } else if (entry.behind != kNone) {
    StatedEntry& other = entries_[entry.behind];
    next_[other.last] = line;
    other.last = line;
  } else {
    entry.behind = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({.first = line, .last = line});
  }
}

void StatementGroups::find_entries(std::span<const OriginQuery> origins) {
  entries_.reserve(lines_.size());
  NumberTable numbers;  // Of one session at a time: such a table stays in the cache.
  std::uint32_t end = 0;
  for (std::uint32_t line = 0; line < lines_.size(); ++line) {
    if (line == end) {
      while (end < lines_.size() && lines_[end].session == lines_[line].session) {
        ++end;
      }
      numbers.clear(end - line);
    }
    const StatementOutline& outline = lines_[line].row->outline;
    const auto count = static_cast<std::uint32_t>(entries_.size());
    const std::uint32_t number =
        numbers.find_or_add(outline.id_hash, count, [&](std::uint32_t known) {
          const StatementOutline& other = lines_[entries_[known].first].row->outline;
          return other.id_hash == outline.id_hash && other.type == outline.type;
        });
    const bool speaks = origins.empty() || is_authored_here(origins[line].origin);
    if (number == count) {
      entries_.push_back({.first = line, .last = line, .speaks = speaks});
    } else {
      add_version(number, line, speaks);
    }
  }
  assert(entries_.size() <= lines_.size() && "each begins with a line of its own");
}

void StatementGroups::find_groups(Timestamp now) {
  NumberTable subjects;
  subjects.clear(1024);
  std::vector<std::uint32_t> lasts;  // By group: its last entry.
  for (std::uint32_t entry = 0; entry < entries_.size(); ++entry) {
    if (entries_[entry].first == kNone || last_of(entry).expires_at <= now) {
      continue;
    }
    const Subject subject(last_of(entry));
    const auto count = static_cast<std::uint32_t>(firsts_.size());
    const std::uint32_t group = subjects.find_or_add(
        subject.hash(), count,
        [&](std::uint32_t known) { return Subject(last_of(firsts_[known])) == subject; });
    if (group == count) {
      firsts_.push_back(entry);
      lasts.push_back(entry);
    } else {
      entries_[lasts[group]].next = entry;
      lasts[group] = entry;
    }
  }
  assert(lasts.size() == firsts_.size());
}

}  // namespace bmad_mem
