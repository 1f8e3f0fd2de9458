// swarm_entries.hpp - what the writers of a swarm append, and how it is recognised again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::test {

/// Entry `number` of a writer. Its content follows from these three, so that every byte of a line
/// can be checked.
struct SwarmEntry {
  unsigned seed = 0;
  unsigned writer = 0;
  unsigned number = 0;

  /// "w03-000123".
  [[nodiscard]] std::string id() const;
  /// As it is given to the engine; 100 to 400 bytes, now and then 9,000.
  [[nodiscard]] std::string json() const;
};

/// Counts lines of a log, in the order of the log, and notes the first one that is wrong.
class SwarmTally {
 public:
  SwarmTally(unsigned seed, unsigned writers) : seed_(seed), counts_(writers) {}

  /// The next line, without '\n'. It must be the next entry of one of the writers, whole.
  void count(std::string_view line);
  /// All lines of the file `path`, which must end in '\n'.
  void count_log(const std::string& path);

  [[nodiscard]] unsigned count_of(unsigned writer) const { return counts_[writer]; }
  /// Empty when nothing was wrong.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  unsigned seed_;
  std::vector<unsigned> counts_;
  std::string problem_;
};

}  // namespace bmad_mem::test
