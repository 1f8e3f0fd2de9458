// corpus.hpp - memory as agents would write it, made from a seed: one entry after another.
//
// Entries come in the order in which a project would write them: conversations of 10 to 60 messages
// about one topic each, tool events in between, now and then a decision, a finding, a fact, a
// preference, a state, an artifact. 1 in 100 is a newer version of a finding that was resolved.
// Time runs from 2026-01-05 on.
//
// Ten million bytes are about 17,000 entries and 780,000 tokens, as in the data that other search
// engines were measured on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "corpus_text.hpp"
#include "prng.hpp"
#include "vocabulary.hpp"

namespace bmad_mem::bench {

struct CorpusEntry {
  EntryType type = EntryType::kConversation;
  Timestamp time{};
  std::string line;        ///< The entry as it stands in a log, complete, without '\n'.
  std::size_t tokens = 0;  ///< In its searchable text, see count_tokens().
};

/// The same entries for the same seed, on every machine.
class Corpus {
 public:
  explicit Corpus(std::uint64_t seed);
  Corpus(const Corpus&) = delete;  // The text maker refers to its neighbours here.
  Corpus& operator=(const Corpus&) = delete;
  ~Corpus() = default;

  /// Without end.
  CorpusEntry next();
  /// The next entry of `type`; those before it are passed over.
  CorpusEntry next_of(EntryType type);
  /// The time of the last entry, or of the start.
  [[nodiscard]] Timestamp now() const { return time_; }

 private:
  void pass_time();
  std::string make_id(EntryType type);
  void start_conversation();
  EntryType draw_type();
  CorpusEntry make(EntryType type);
  CorpusEntry resolve_last_finding();

  Random random_;
  Vocabulary vocabulary_;
  TextMaker text_;
  std::vector<Topic> topics_;
  Zipf topic_ranks_;
  Timestamp time_;
  // The conversation that goes on.
  std::size_t topic_ = 0;
  std::string conversation_id_;
  std::string last_message_id_;
  std::uint64_t messages_left_ = 0;
  bool user_speaks_ = true;
  // What entries refer to.
  std::string last_decision_id_;
  std::string last_finding_id_;
  CorpusEntry last_finding_;  ///< Without a line when there is none to resolve.
};

}  // namespace bmad_mem::bench
