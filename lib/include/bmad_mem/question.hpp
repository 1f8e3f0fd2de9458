// question.hpp - one look at the files serves a whole question.
//
//   const Question question;        begins: what was looked at before is looked at again
//   memory.get(ids); ...            the first call looks at each log, the others go by that look
//
// An answer is as of a moment within its question. A write of this process ends what was looked at
// before it, for everybody.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace bmad_mem {

/// As long as one lives, this thread's calls are one question; an inner one is part of the outer.
/// Not for what waits, for people or for changes: it would not see them.
class Question {
 public:
  Question() : is_outer_(begin_ == 0) { begin_ = is_outer_ ? ++count_ : begin_; }
  /// In a thread that works for the one whose question() it is.
  explicit Question(std::uint64_t question) : is_outer_(begin_ == 0) {
    begin_ = is_outer_ ? question : begin_;
  }
  ~Question() { begin_ = is_outer_ ? 0 : begin_; }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;

  /// That of this thread; 0: none.
  static std::uint64_t question() { return begin_; }
  /// The number of a look that begins now; never 0.
  static std::uint64_t look() { return count_; }
  /// Whether what the look of that number found holds for the question of this thread. Never
  /// without one.
  static bool holds(std::uint64_t look) {
    return begin_ != 0 && look >= std::max(begin_, changed_.load());
  }
  /// What was looked at is not what it was.
  static void note_change() {
    const std::uint64_t now = ++count_;
    std::uint64_t before = changed_;
    while (before < now && !changed_.compare_exchange_weak(before, now)) {
    }
  }

 private:
  static inline std::atomic<std::uint64_t> count_{1};
  static inline std::atomic<std::uint64_t> changed_{0};
  static inline thread_local std::uint64_t begin_ = 0;  // Where the question began; 0: none.
  bool is_outer_;
};

}  // namespace bmad_mem
