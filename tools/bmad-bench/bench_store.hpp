// bench_store.hpp - a memory root in a temporary folder, and what is written to it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"

namespace bmad_mem::bench {

/// What is appended wherever nothing else is said: in bytes, with its '\n'.
inline constexpr std::size_t kEntrySize = 300;

/// Removes its folder when it goes. A forked child must leave by _exit.
class BenchStore {
 public:
  /// In a new folder in `directory`. The quota of a session is the largest there is, since a second
  /// of appending takes megabytes.
  static Result<BenchStore> create(const std::string& directory, std::uint64_t seed);

  BenchStore(BenchStore&&) noexcept;
  BenchStore& operator=(BenchStore&&) = delete;
  ~BenchStore();

  [[nodiscard]] Result<MemoryManager> open(
      std::optional<std::chrono::milliseconds> lock_timeout = {}) const;
  /// A new session; opens the root anew for it.
  [[nodiscard]] Result<std::string> new_session() const;

  /// A message that makes a line of kEntrySize bytes; its text is of the corpus.
  [[nodiscard]] const ConversationEntry& entry() const { return entry_; }

  /// The temporary folder: raw files go here, on the same file system.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] std::string session_file(const std::string& session_id,
                                         const std::string& name) const;

 private:
  BenchStore(std::string folder, std::uint64_t seed);
  Status init();
  Status fit_entry();

  std::string folder_;
  std::string root_;
  std::uint64_t seed_ = 0;
  ConversationEntry entry_;
};

/// E_STORAGE_IO with the present errno: "cannot <action> <path>: reason".
Error system_error(const std::string& action, const std::string& path);

}  // namespace bmad_mem::bench
