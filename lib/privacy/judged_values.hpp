// judged_values.hpp - values that were judged to be secret once, known again wherever they stand.
//
//   value ──► forms: as it is; as JSON, a shell, base64 write it ──► {start, size, keyed hash} each
//   text  ──► do the next seven bytes begin one? ── rarely ──► the hash of as many as it has
//
//   STATE/roots/4f0c5a…/judged      0600, outside the project: records of 16 bytes, the first of
//   the STATE/roots/4f0c5a…/judged.key  key. No text of a value, and without the key nobody can
//   test one.
//
// What is percent-encoded, a character of JSON or HTML, or coloured, is found as it is read: see
// disguised.cpp. Time is linear in the size of the text.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem {

struct Store;

/// Some values. Threads: constant once it is made.
class JudgedValues {
 public:
  /// One form of a value, or a part of a long one.
  struct Record {
    std::uint64_t hash = 0;
    std::uint32_t session = 0;  ///< Where it was judged; 0: it holds in all.
    std::uint32_t start = 0;    ///< 12 bits of a hash of how it begins, 20 of its size.
  };
  /// Shorter ones say too little by themselves.
  static constexpr std::size_t kSizeMin = 7;
  static constexpr std::string_view kRule = "repeated-secret";

  explicit JudgedValues(const HashKey& key);

  /// Whether `value` was added as it is.
  [[nodiscard]] bool knows(std::string_view value) const;
  /// The forms of `value`, of `session`; none for one that is too long.
  [[nodiscard]] std::vector<Record> records_of(std::string_view value,
                                               std::uint32_t session = 0) const;
  /// Takes them in. Of those that begin alike, and of all, only so many.
  void add(std::span<const Record> records);
  [[nodiscard]] bool empty() const { return records_.empty(); }

  /// Appends the places of all of them in `text`.
  void find(std::string_view text, Detections& out) const;

 private:
  /// Of the first kSizeMin bytes, the first one lowest.
  [[nodiscard]] std::uint32_t start_of(std::uint64_t bytes) const;
  [[nodiscard]] Record record_of(std::string_view part) const;
  [[nodiscard]] bool has(const Record& record) const;

  HashKey key_;
  std::uint64_t factor_;                       // Of the hash of starts.
  std::array<std::uint64_t, 64> starts_ = {};  // A bit for each that there is.
  std::vector<Record> records_;                // Ascending by `start`.
};

/// What `value` may be when it is read: as it is, without signs around it, without backslashes, up
/// to what ends it in JSON, HTML, an address or a shell, and the password of a login in base64.
std::vector<std::string> read_forms(std::string_view value);

/// Those of a root: of each session those that were judged in it. Threads: safe.
class JudgedMemory {
 public:
  /// With `writes` new ones are kept in the file; else, and where there can be none, in memory.
  /// `store` must outlive it.
  JudgedMemory(const Store& store, bool writes) : store_(store), writes_(writes) {}

  /// Those of `session_id`, of all sessions when it is empty; null: none. As other processes have
  /// left them; with `looks` false, as they were when this was last asked.
  [[nodiscard]] std::shared_ptr<const JudgedValues> of(std::string_view session_id,
                                                       bool looks = true);
  /// Remembers `values` for `session_id`; nothing when it is empty, unless they hold for all.
  void add(std::string_view session_id, std::span<const std::string> values);
  /// From here on each value holds in all sessions, also those that were judged in one.
  void hold_for_all();
  /// How many were added.
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  [[nodiscard]] std::uint32_t tag_of(std::string_view session_id) const;
  void read_key();
  void read_again();
  void keep(std::span<const JudgedValues::Record> fresh);

  const Store& store_;
  bool writes_;
  bool holds_for_all_ = false;
  std::atomic<std::uint64_t> count_ = 0;
  std::mutex mutex_;  // Guards what follows.
  HashKey key_ = random_hash_key();
  std::uint64_t stamp_ = 0;  // Of the file that was read.
  std::vector<JudgedValues::Record> records_;
  std::shared_ptr<const JudgedValues> set_;  // The last one,
  std::uint32_t set_of_ = 0;                 // and whose it is; 0: of all.
};

}  // namespace bmad_mem
