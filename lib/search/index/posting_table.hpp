// posting_table.hpp - keys to posting lists, gathered entry by entry.
//
//   noted     entry 0: 5 2 5   entry 1: 2 7 ...       numbers of keys as they come
//   arranged  | 2: 0 1 | 5: 0 (twice) | 7: 1 |        all lists in one array
//
// To note an occurrence is one store at the end of an array, and lists are laid out at once when
// all their sizes are known: a vector that grows by itself for each of 30,000 keys took twice the
// time. Threads: one.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "search/memtable.hpp"
#include "string_table.hpp"

namespace bmad_mem {

class PostingTable {
 public:
  std::uint32_t number(std::string_view key) { return keys_.add(key); }

  /// What is noted from now on is about entry `ordinal`.
  void begin(Ordinal ordinal) {
    if (entries_.empty() || entries_.back().ordinal != ordinal) {
      entries_.push_back({.ordinal = ordinal, .begin = noted_.size()});
    }
  }
  void note(std::uint32_t number) { noted_.push_back(number); }

  /// Room for `count_max` numbers to be noted, which end_notes() takes from its front.
  std::uint32_t* begin_notes(std::size_t count_max) {
    noted_.resize(noted_.size() + count_max);
    return noted_.data() + noted_.size() - count_max;
  }
  void end_notes(const std::uint32_t* end) {
    noted_.resize(static_cast<std::size_t>(end - noted_.data()));
  }

  /// Lays out the lists of what was noted. All of them anew, 5 ns an occurrence.
  void arrange();

  /// Ascending by ordinal; empty for an unknown key. Of what was arranged; so for the next.
  [[nodiscard]] std::span<const Posting> postings(std::string_view key) const {
    const std::uint32_t number = keys_.find(key);
    return number == StringTable::kNone ? std::span<const Posting>() : list(number);
  }

  /// The keys that start with `prefix`, ascending by their bytes.
  [[nodiscard]] std::vector<Memtable::KeyedPostings> sorted(std::string_view prefix) const;

 private:
  struct Entry {
    Ordinal ordinal = 0;
    std::size_t begin = 0;  // Of what is noted about it.
  };
  struct List {
    std::size_t begin = 0;  // In postings_; so for the next.
    std::size_t end = 0;
  };

  void add(List& list, Ordinal ordinal) {
    if (list.end > list.begin && postings_[list.end - 1].ordinal == ordinal) {
      ++postings_[list.end - 1].frequency;
    } else {
      postings_[list.end++] = {.ordinal = ordinal, .frequency = 1};
    }
  }
  [[nodiscard]] std::span<const Posting> list(std::uint32_t number) const {
    assert(arranged_ == noted_.size());
    const List& list = lists_[number];
    return std::span(postings_).subspan(list.begin, list.end - list.begin);
  }

  StringTable keys_;
  std::vector<std::uint32_t> noted_;
  std::vector<Entry> entries_;
  std::vector<List> lists_;  // By key number.
  std::vector<Posting> postings_;
  std::size_t arranged_ = 0;  // How much of noted_ the lists tell.
};

/// What was gathered, once nothing is added any more: sorted keys, one behind the other. Where a
/// table that grows has taken 4 KB of a session of ten entries, this takes 1.
class SealedPostings {
 public:
  /// `kinds`: all keys of each kind, ascending.
  explicit SealedPostings(
      const std::array<std::vector<Memtable::KeyedPostings>, kPostingKindCount>& kinds);

  /// As PostingTable's.
  [[nodiscard]] std::span<const Posting> postings(PostingKind kind, std::string_view key) const;
  [[nodiscard]] std::vector<Memtable::KeyedPostings> sorted(PostingKind kind,
                                                            std::string_view prefix) const;

 private:
  struct Key {
    std::uint32_t text_end = 0;  // In text_; it begins where the one before ends. So for the next.
    std::uint32_t postings_end = 0;
  };

  [[nodiscard]] Memtable::KeyedPostings at(std::uint32_t number) const;
  /// The number of the first key of `kind` that isn't below `key`.
  [[nodiscard]] std::uint32_t first_from(PostingKind kind, std::string_view key) const;
  [[nodiscard]] std::uint32_t end_of(PostingKind kind) const {
    return ends_[static_cast<std::size_t>(kind)];
  }

  std::string text_;
  std::vector<Key> keys_;
  std::vector<Posting> postings_;
  std::array<std::uint32_t, kPostingKindCount> ends_{};  // Of each kind, in keys_.
};

}  // namespace bmad_mem
