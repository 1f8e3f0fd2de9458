#include "word_thread.hpp"

#include <utility>

namespace bmad_mem {

WordThread::WordThread(Memtable& memtable, Analyzer& analyzer, Ordinal first)
    : memtable_(memtable), analyzer_(analyzer), next_(first), thread_([this] { work(); }) {}

WordThread::~WordThread() { finish(); }

void WordThread::end_entry() {
  filling_.ends.push_back(filling_.text.size());
  if (filling_.text.size() >= kBatchSize) {
    hand_over();
  }
}

std::vector<std::uint32_t> WordThread::finish() {
  if (thread_.joinable()) {
    hand_over();
    {
      const std::scoped_lock guard(mutex_);
      is_last_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  return std::move(lengths_);
}

void WordThread::hand_over() {
  {
    std::unique_lock guard(mutex_);
    changed_.wait(guard, [this] { return batches_.size() < kBatchesMax; });
    batches_.push(std::exchange(filling_, {}));
  }
  filling_.text.reserve(kBatchSize + kBatchSize / 4);
  changed_.notify_all();
}

void WordThread::work() {
  while (true) {
    Batch batch;
    {
      std::unique_lock guard(mutex_);
      changed_.wait(guard, [this] { return !batches_.empty() || is_last_; });
      if (batches_.empty()) {
        return;
      }
      batch = std::move(batches_.front());
      batches_.pop();
    }
    changed_.notify_all();
    take_in(batch);
  }
}

void WordThread::take_in(const Batch& batch) {
  std::size_t begin = 0;
  for (const std::size_t end : batch.ends) {
    const std::string_view text = std::string_view(batch.text).substr(begin, end - begin);
    lengths_.push_back(memtable_.add_text(analyzer_, text, next_++));
    begin = end;
  }
}

}  // namespace bmad_mem
