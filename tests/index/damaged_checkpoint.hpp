// damaged_checkpoint.hpp - a session whose index.json is changed, and what comes of it.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "index/index_fixture.hpp"

namespace bmad_mem::test {

/// The plain build tries every byte. Under a sanitizer that takes minutes, and every ninth shows
/// the same accesses.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kByteStep = 9;
#else
inline constexpr std::size_t kByteStep = 1;
#endif

/// `good` with the byte at `at` changed.
inline std::string changed_at(const std::string& good, std::size_t at, int change) {
  std::string bad = good;
  bad[at] = static_cast<char>(bad[at] ^ change);
  return bad;
}

/// A session with a checkpoint that covers it all.
class Damaged {
 public:
  /// With an entry of so many different words besides: index.json has several blocks from about
  /// 300 on.
  explicit Damaged(std::uint32_t seed, int word_count = 0) : random_(seed) {
    for (int i = 0; i < 26; ++i) {
      session.add(random_.next());
    }
    std::string words = "many";
    for (int i = 0; i < word_count; ++i) {
      words += " word" + std::to_string(i);
    }
    session.add(fact("words", words));
    session.let_time_pass();
    session.checkpoint();
    good = session.files.read(IndexedSession::index_file());
    expected = told_from_logs(session);
  }

  void put(std::string_view index_json) {
    session.files.write(IndexedSession::index_file(), index_json);
  }

  /// What is wrong with what a new index says; empty when nothing is.
  std::string problem() {
    const std::unique_ptr<SessionIndex> index = session.index();
    if (const Status done = index->refresh(); !done) {
      return "refresh: " + done.error().to_string();
    }
    const Result<std::vector<std::string>> answer = told(*index);
    if (answer) {
      return first_difference(*answer, expected);
    }
    if (answer.error().code != ErrorCode::E_STORAGE_CORRUPT &&
        answer.error().code != ErrorCode::E_CONCURRENT_MOD) {
      return "told: " + answer.error().to_string();
    }
    if (errors++ % 16 != 0) {
      return {};  // A rebuild looks at the logs only: now and then is enough.
    }
    if (const Status done = index->rebuild(); !done) {
      return "rebuild: " + done.error().to_string();
    }
    return first_difference(told(*index).value(), expected);
  }

  /// Of the first truncation that has one.
  std::string problem_of_truncations() {
    for (std::size_t size = 0; size < good.size(); size += kByteStep) {
      put(std::string_view(good).substr(0, size));
      const std::string found = problem();
      if (!found.empty()) {
        return "cut to " + std::to_string(size) + ": " + found;
      }
    }
    return {};
  }

  /// Of the first byte that has one, each changed in one random way.
  std::string problem_of_changes(std::uint32_t seed) {
    std::mt19937 random(seed);
    for (std::size_t at = 0; at < good.size(); at += kByteStep) {
      const int change = static_cast<int>(1 + random() % 255);
      put(changed_at(good, at, change));
      const std::string found = problem();
      if (!found.empty()) {
        return "byte " + std::to_string(at) + " ^ " + std::to_string(change) + ": " + found;
      }
    }
    return {};
  }

  IndexedSession session;
  std::string good;
  std::vector<std::string> expected;
  std::size_t errors = 0;

 private:
  RandomEntries random_;
};

}  // namespace bmad_mem::test
