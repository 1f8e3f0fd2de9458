// index_fixture.hpp - sessions by chance, and an index told as text, so that two can be compared.
//
//   IndexedSession session;                     a memory disk, a clock, and logs
//   RandomEntries random(7);
//   session.add(random.next());                 appends a line past the engine
//   SessionIndex index = session.index();
//   REQUIRE(index.refresh());
//   CHECK(told(index) == told_from_logs(session));
//
// Ordinals depend on when an index was made: entries are told as "facts.jsonl:3".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "search/session_index.hpp"
#include "support/manual_clock.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {

inline constexpr std::string_view kSession = "sess-1";

struct NewLine {
  EntryType type = EntryType::kConversation;
  std::string text;  ///< Without '\n'.
};

/// A message of `conversation` (none when empty).
NewLine message(std::string_view id, std::string_view content, std::string_view conversation = {},
                std::string_view role = "user", std::string_view agent = {});
NewLine fact(std::string_view id, std::string_view content);

/// Entries of all kinds: known and new ids, conversations in turns, tags and topics with quotes,
/// backslashes and control characters.
class RandomEntries {
 public:
  explicit RandomEntries(std::uint32_t seed) : random_(seed) {}
  NewLine next();
  /// At random from 0 to `end` - 1.
  std::uint32_t below(std::uint32_t end) { return static_cast<std::uint32_t>(random_() % end); }

 private:
  std::string pick_id(EntryType type);
  std::string words();
  std::string tags();

  std::mt19937 random_;
  std::uint32_t made_ = 0;
  std::vector<std::string> ids_[kEntryTypeCount];
};

/// A memory disk with the folder of one session.
class IndexedSession {
 public:
  IndexedSession();

  void add(const NewLine& line);
  /// The path of a log.
  static std::string log(EntryType type);
  /// From now on no log was written to recently.
  void let_time_pass() { clock.advance(std::chrono::hours(24)); }
  [[nodiscard]] std::unique_ptr<SessionIndex> index(std::string_view session_id = kSession,
                                                    std::string_view language = "english");
  /// Indexes the logs, and makes a segment of it that the next index() begins in. Throws when that
  /// fails.
  void flush();
  /// What a segment knows of the session, for Options::base.
  [[nodiscard]] std::function<std::optional<SessionBase>()> base() {
    return [this] { return base_; };
  }
  void forget_base() { base_.reset(); }

  MemoryFileSystem files;
  ManualClock clock;

 private:
  std::optional<SessionBase> base_;
  int segments_ = 0;
};

/// The bytes of a segment that is made of `index`, in `files`. Throws when that fails.
std::string flushed(SessionIndex& index, MemoryFileSystem& files, const std::string& path);

/// Everything that `index` says, one thing a line, sorted where order means nothing.
/// Errors: those of the index.
Result<std::vector<std::string>> told(SessionIndex& index);
/// The same of an index that was made from the logs alone.
std::vector<std::string> told_from_logs(IndexedSession& session);
std::vector<std::string> told_from_logs(FileSystem& files, const Clock& clock);

/// The first line that differs, for messages; empty when there is none.
std::string first_difference(const std::vector<std::string>& left,
                             const std::vector<std::string>& right);

}  // namespace bmad_mem::test
