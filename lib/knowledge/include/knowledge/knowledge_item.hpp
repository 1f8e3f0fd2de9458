// knowledge_item.hpp - from lines of facts and preferences to what is known.
//
//   lines of all sessions --(category, key)--> chains --newest of the trusted--> items
//
// Same category and key are one item, in whatever sessions it was stated; a line without a key is
// one item with its later versions. Of an item the newest statement holds, by time, then by
// session; those below kLowReliability only where there is no other. An entry that nobody has
// accepted, or that was dropped, is an item of its own. Pure: bytes in, items out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/knowledge.hpp"
#include "model/statement.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {

class ObjectText;
struct Store;

/// Whether it is one of candidate_id(), as statements of Review::kStated have, too.
bool is_candidate_id(std::string_view id);
/// The confidence of the latter: the person has said so, a rule has understood it.
inline constexpr double kStatedConfidence = 0.9;

/// A line of a log: any version of a fact or a preference.
struct KnowledgeLine {
  std::string_view session_id;
  EntryType type = EntryType::kFact;
  std::string_view text;  ///< One JSON object.
};

struct KnowledgeSource;

/// Gathers statements. Lines of one log must come in its order.
class KnowledgeCollector {
 public:
  /// With `as_of` only what was stated until then. Entries that have expired by then, or else by
  /// `now`, state nothing. `store`, which must outlive it, knows who wrote the lines, and which are
  /// past their retention; without it all are taken at their word.
  explicit KnowledgeCollector(std::optional<Timestamp> as_of = {}, Timestamp now = Timestamp::min(),
                              const Store* store = nullptr);

  /// `entry` is what `line` was parsed from, and passes check_entry(). Anything but a fact or a
  /// preference is passed over.
  void add(const KnowledgeLine& line, JsonValue entry);

  /// The items, sorted by category and key; of the same key what is known comes first, then
  /// candidates and dropped ones by id. Scores and accesses are left at 0. `with_proposals`: behind
  /// an item also what others have stated since, as an item that replaces it. Once.
  std::vector<KnowledgeItem> finish(bool with_proposals = false);

 private:
  KnowledgeSource& source_of(const KnowledgeLine& line, std::string_view id);
  void find_origins();
  void part_authors();

  std::optional<Timestamp> as_of_;
  Timestamp now_;
  const Store* store_;
  const RootOrigins* origins_;
  std::vector<std::shared_ptr<KnowledgeSource>> sources_;  // Large: moving them costs.
  // Numbers of sources_, by a hash of session, type and id; where that is taken, by the next one.
  std::unordered_map<std::uint64_t, std::size_t> numbers_;
};

/// The items that `lines` state. Lines that are no entries are passed over.
std::vector<KnowledgeItem> collect_knowledge(std::span<const KnowledgeLine> lines,
                                             std::optional<Timestamp> as_of = {});

/// `list`, an array of strings, and `added`, each once, as JSON.
std::string joined_list(JsonValue list, const std::vector<std::string>& added);

/// The same for the member `name` of `entry`, which is the text of `object`; nothing is set where
/// there is nothing in it.
void add_to_list(ObjectText& object, JsonValue entry, std::string_view name,
                 const std::vector<std::string>& added);

}  // namespace bmad_mem
