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
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "corpus_text.hpp"

namespace bmad_mem::bench {

struct CorpusEntry {
  EntryType type = EntryType::kConversation;
  std::string id;
  std::string line;  ///< The entry as it stands in a log, complete, without '\n'.
  std::string text;  ///< What of it is searched, a field a line.
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
  class Line;
  void pass_time();
  void start_conversation();
  EntryType draw_type();
  CorpusEntry make(EntryType type);
  CorpusEntry resolve_last_finding();
  void fill(EntryType type, Line& line);
  void fill_conversation(Line& line);
  void fill_decision(Line& line);
  void fill_event(Line& line);
  std::size_t between(std::uint64_t low, std::uint64_t high);
  std::string sentences(std::uint64_t low, std::uint64_t high);
  std::string phrase(std::uint64_t low, std::uint64_t high);
  std::string path();
  std::string tag();
  std::string two_tags(char between);
  double hundredths(std::uint64_t low);

  Random random_;
  TextMaker text_;
  std::vector<Topic> topics_;
  Zipf topic_ranks_;
  Timestamp time_;
  // The conversation that goes on.
  const Topic* topic_ = nullptr;
  std::string conversation_id_;
  std::string last_message_id_;
  std::uint64_t messages_left_ = 0;
  bool user_speaks_ = true;
  // What entries refer to.
  std::string last_decision_id_;
  std::string last_finding_id_;
  CorpusEntry last_finding_;  ///< Without a line when there is none to resolve.
};

struct CorpusReport {
  std::vector<std::string> sessions;
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;   ///< Of all logs.
  std::uint64_t tokens = 0;  ///< See count_tokens().
  /// FNV-1a over all lines in the order they were made: the same for the same seed and size.
  std::uint64_t hash = 0xCBF29CE484222325U;
};

struct CorpusPlan {
  std::uint64_t bytes = 0;             ///< Stops with the entry that would go beyond.
  std::uint64_t session_bytes = 0;     ///< A new session whenever one has as many.
  std::string label = "corpus";        ///< Stands in the names of the sessions.
  std::optional<EntryType> only = {};  ///< Entries of one type, instead of all.
};

/// A new root at `root` whose sessions may grow as large as there is room, and stay where they are
/// however old they get. Otherwise a full session would be compacted while it is filled, and those
/// of the months before archived: what is measured would be another memory. Maintenance is due
/// once, since the corpus's days would pass in a second each.
void init_roomy_root(const std::string& root);

/// Writes into new sessions of the existing root `root`. The clock that the manifests are written
/// by is the corpus's own, so that every byte that is tracked is the same on every machine.
CorpusReport write_corpus(Corpus& corpus, const std::string& root, const CorpusPlan& plan);

}  // namespace bmad_mem::bench
