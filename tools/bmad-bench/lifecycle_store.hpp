// lifecycle_store.hpp - a full session to make copies of, and the least that rewriting it costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/result.hpp"
#include "search_store.hpp"

namespace bmad_mem::bench {

/// A copy of a store. What is done to it changes nothing else, so each repetition begins alike.
class StoreCopy {
 public:
  /// In `folder`, which must not be there; on the disk when this returns.
  static Result<StoreCopy> make(const SearchStore& store, const std::string& folder);

  StoreCopy(StoreCopy&& other) noexcept;
  StoreCopy& operator=(StoreCopy&&) = delete;
  ~StoreCopy();  ///< Removes it.

  [[nodiscard]] Result<MemoryManager> open() const;
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] const std::string& session() const { return session_; }
  [[nodiscard]] std::string session_folder() const { return root_ + "/sessions/" + session_; }

 private:
  StoreCopy(std::string root, std::string session)
      : root_(std::move(root)), session_(std::move(session)) {}

  std::string root_;
  std::string session_;
};

/// Milliseconds.
struct RawRewrite {
  double parse = 0;  ///< Reading the logs from the page cache, and parsing every line.
  double write = 0;  ///< Writing their bytes to a new file, and its sync.

  [[nodiscard]] double all() const { return parse + write; }
};

/// What nothing that looks at every entry and writes the logs anew can do without: no decision, no
/// archive, no index.
Result<RawRewrite> rewrite_raw(const StoreCopy& copy);

/// What the times of files are counted in, in seconds.
double file_clock_seconds();

/// When the file was written or put there by a rename. A kernel may round it down to a tick, which
/// is 4 ms at most.
Result<double> changed_at(const std::string& path);

}  // namespace bmad_mem::bench
