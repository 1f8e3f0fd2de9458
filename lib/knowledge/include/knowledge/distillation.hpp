// distillation.hpp - what talk leaves when it goes by its age or for want of room.
//
//   evicted entries, then the logs, in their order
//     -> messages and decisions that go --decisions, sentences that the user cites--> candidates
//
// A candidate has the time of its source; its id is made of session, message and sentence, as that
// of a candidate found in a message is. So it depends on the content alone, and two clones write
// the same line.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/result.hpp"
#include "store/file_lock.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// A sentence of a message, or a decision, on its way to be a candidate, or in force.
struct SaidSentence {
  std::string session_id;
  EntryType type = EntryType::kConversation;
  std::string said_in;  ///< Id of the entry.
  Timestamp timestamp{};
  std::string source_kind;
  std::optional<double> trust;
  std::size_t index = 0;  ///< Among the sentences of the message.
  std::string text;
  Category category = Category::kProjectFact;
  std::string key;  ///< Of what is in force.
  double confidence = 0;
  Review review = Review::kCandidate;

  [[nodiscard]] std::string id() const;
  /// The fact that it becomes.
  [[nodiscard]] std::string line() const;
};

/// A line for the log of facts.
struct DistilledStatement {
  std::string line;     ///< Without '\n'.
  std::string said_in;  ///< The line of the entry that it is from.
  Timestamp timestamp{};
};

/// Whether an entry goes, by its last version.
using GoesAway = std::function<bool(EntryType type, JsonValue entry, std::string_view line)>;

/// What was evicted before says what is nothing new. With nothing of it among what goes, the last
/// part is enough: a session at its limit is compacted again and again.
enum class EvictedTalk : std::uint8_t { kAll, kLatest };

/// The statements in what goes of session `session_id`, at most `size_max` bytes of lines,
/// decisions before answers, the newest first: decisions in messages, decisions that are entries,
/// and each sentence of an answer that a later message of the user cites; 400 bytes of text at
/// most. Cited is a sentence of which the user repeats two pieces that were not said before it, and
/// each word with a digit: a common phrase or another value is no citation. `logs` has the
/// session's folder. Nothing of what is sensitive, encrypted, redacted, superseded or has an end of
/// its own; no statement that is there, or was deleted or purged; nothing where the config says not
/// to look into messages. What of the evicted talk is looked at, `evicted` says. Cost: linear in
/// that and in what the logs hold. Errors: as the file system's.
Result<std::vector<DistilledStatement>> distil_talk(Store& store, FileSystem& logs,
                                                    const std::string& session_id,
                                                    const GoesAway& goes, EvictedTalk evicted,
                                                    std::uint64_t size_max = UINT64_MAX);

/// Records that `statements`, before they are written, are by the author of their sources.
void note_statements(const Store& store, const std::string& session_id,
                     const std::vector<DistilledStatement>& statements);

/// Writes `statements` to the log of facts, durably. The caller holds the session's lock, `guard`.
/// Errors: E_SIZE_LIMIT when they don't fit; as the log's.
Status keep_statements(Store& store, const std::string& session_id, const FileLock::Guard& guard,
                       const std::vector<DistilledStatement>& statements);

}  // namespace bmad_mem
