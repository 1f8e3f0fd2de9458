// retrieval_store.hpp - the messages of a data set in a memory of their own, to be asked.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "retrieval_data.hpp"
#include "retrieval_plan.hpp"
#include "retrieval_slip.hpp"
#include "retrieval_ways.hpp"

namespace bmad_mem::bench {

/// A clock that stands where it is put; the machine's until then.
class StandingClock : public Clock {
 public:
  void stand_at(Timestamp time) { time_ = time; }
  [[nodiscard]] Timestamp now() const override {
    const std::optional<Timestamp> time = time_;
    return time ? *time : system_clock().now();
  }

 private:
  std::optional<Timestamp> time_;
};

struct Ranked {
  std::string id;  ///< Of a message, as the data has it.
  double score = 0;
};

struct Answer {
  std::vector<Ranked> ranking;  ///< Best first, each id once.
  double seconds = 0;           ///< That the query took.
  bool refused = false;         ///< It was called a bad query; the ranking is empty.
};

/// In a folder that goes away with it.
class RetrievalStore {
 public:
  /// Writes `messages`, which must outlive the store, by the ordinary write path into a fresh
  /// memory in a new folder in `directory`.
  static Result<RetrievalStore> create(const MessageStore& messages, const std::string& directory);

  RetrievalStore(RetrievalStore&&) noexcept = default;
  RetrievalStore& operator=(RetrievalStore&&) = delete;
  ~RetrievalStore() = default;

  /// The text of the question as it stands in the data, or with a slip, in one of the ways; the
  /// hundred best.
  Result<Answer> ask(const Question& question, Way way);
  /// When `question` is asked by default: five minutes after the latest message, or after the
  /// moment that the question names. Nothing when no message has a time.
  [[nodiscard]] std::optional<Timestamp> moment_of(const Question& question) const;

  [[nodiscard]] bool conversation() const { return plan_.type == EntryType::kConversation; }
  [[nodiscard]] std::size_t sessions() const { return plan_.sessions.size(); }
  [[nodiscard]] std::size_t shortened() const { return plan_.shortened; }

 private:
  struct Folder {
    std::string path;
    ~Folder();
  };

  RetrievalStore(const MessageStore& messages, std::string folder);
  Status write();
  Status write_session(PlannedSession& session);

  const MessageStore& messages_;
  EntryPlan plan_;
  SlipMaker slips_;
  std::optional<Timestamp> latest_;
  std::unique_ptr<Folder> folder_;
  std::unique_ptr<StandingClock> clock_;
  std::optional<MemoryManager> memory_;  // Last, since it uses the others.
};

}  // namespace bmad_mem::bench
