// word_thread.hpp - the words of entries go into a memtable on a thread of their own.
//
//   scan    read, parse, check; columns, keys
//             `-- texts --> tokenize, look up, note
//
// Both take about as long, so a scan of a long log takes half the time on two cores. Texts go over
// in batches, in order, so what comes out is the same as without the thread. The scan waits when it
// is kBatchesMax ahead: memory stays bounded.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

#include "search/analyzer.hpp"
#include "search/memtable.hpp"

namespace bmad_mem {

class WordThread {
 public:
  /// Begins with entry `first`. Until finish() nobody else may use `analyzer`, nor add_text() of
  /// `memtable`.
  WordThread(Memtable& memtable, Analyzer& analyzer, Ordinal first);
  ~WordThread();
  WordThread(const WordThread&) = delete;
  WordThread& operator=(const WordThread&) = delete;

  /// The text of the next entry is to be put at the end of this string, then comes end_entry().
  [[nodiscard]] std::string& text() { return filling_.text; }
  void end_entry();

  /// Waits until all is done. Returns the lengths of all entries, see Memtable::add_text(). To be
  /// called once.
  std::vector<std::uint32_t> finish();

 private:
  struct Batch {
    std::string text;
    std::vector<std::size_t> ends;  // Of each entry's text.
  };
  static constexpr std::size_t kBatchSize = 64U << 10U;
  static constexpr std::size_t kBatchesMax = 4;

  void hand_over();
  void work();
  void take_in(const Batch& batch);

  Memtable& memtable_;
  Analyzer& analyzer_;
  Ordinal next_;                        // The thread's own; so for the next.
  std::vector<std::uint32_t> lengths_;  // Until finish().
  Batch filling_;                       // The scan's own.

  std::mutex mutex_;  // Guards the next two.
  std::queue<Batch> batches_;
  bool is_last_ = false;  // No batch comes any more.
  std::condition_variable changed_;
  std::jthread thread_;  // Last: it uses all the others.
};

}  // namespace bmad_mem
