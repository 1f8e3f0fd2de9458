// copied_messages.hpp - forks, branches and resumed copies begin with messages of another session.
//
//   session cc-1   A  B  C          stored in cc-1, when they were said
//   session cc-2   A  B  C  D  E    D and E are stored in cc-2; D answers the C of cc-1
//
// A message is a copy where all before it in its session are, and another session had it first: by
// id, role and text, or by role, time and text. Where a record names the session that it was made
// from, role and text are enough: there times are those of the fork.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bmad_mem::cli {

/// What tells one message from all others.
struct MessageKey {
  std::string_view session;
  std::string_view id;
  std::string_view role;
  std::string_view time;  ///< Empty: it has none.
  std::string_view text;
};

/// The messages of an import and of the memory that it goes to: hashes of 64 bits, and ids.
class CopiedMessages {
 public:
  struct Origin {
    std::string id = {};  ///< The original's; empty: the message is no copy.
    /// Of the original. Of what is no copy: of the first message behind the copies the session
    /// that they are of, else empty.
    std::string_view session = {};
  };

  /// A message that `key.session` has as `id`. Who comes first has said it first.
  void add(const MessageKey& key, const std::string& id);
  /// An event of this session.
  void add_event(std::string_view session, std::string_view id);

  /// Whether any session has the message. `parent`: as in origin_of().
  [[nodiscard]] bool knows(const MessageKey& key, std::string_view parent) const {
    return find(key, parent) != nullptr;
  }
  /// Whether a message was seen in the session that is no copy: all others are none, either.
  [[nodiscard]] bool is_past_copies(std::string_view session) const {
    const auto found = progress_.find(session);
    return found != progress_.end() && found->second.is_own;
  }
  /// From here on nothing in the session is a copy.
  void end_copies(std::string_view session) { progress_[std::string(session)].is_own = true; }
  /// The original of the next message of `key.session`. `parent`: the session that a record says
  /// it was made from; empty where none does.
  Origin origin_of(const MessageKey& key, std::string_view parent);
  /// Whether an event that comes next in the session is one of another session, or was there
  /// before.
  [[nodiscard]] bool is_copied_event(std::string_view session, std::string_view id);

 private:
  struct Said {
    std::uint32_t session = 0;
    std::string id;
  };
  struct Progress {
    bool is_own = false;
    std::uint32_t copies_of = 0;  ///< 0: none was seen.
  };

  std::uint32_t number_of(std::string_view session);
  [[nodiscard]] const Said* find(const MessageKey& key, std::string_view parent) const;

  std::vector<Said> said_;
  std::unordered_map<std::uint64_t, std::uint32_t> by_hash_;  ///< Where in said_.
  std::unordered_map<std::uint64_t, std::uint32_t> events_;   ///< By hash of the id: the session.
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
  std::vector<std::string_view> names_ = {{}};  ///< By number; 0 is none.
  std::map<std::string, Progress, std::less<>> progress_;
};

}  // namespace bmad_mem::cli
