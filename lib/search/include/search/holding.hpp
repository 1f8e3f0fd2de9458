// holding.hpp - which of several statements about the same holds: one judgement for queries, lists
// and what is read by id, the same that contexts go by.
//
//   by the person or accepted, and trusted  >  anything else, whatever it says of itself
//   of the project                          >  of the user's own memory
//   newer                                   >  older
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "search/entry_columns.hpp"
#include "store/root_trust.hpp"

namespace bmad_mem {

struct Store;
struct TableEntry;

/// The greatest holds.
struct HoldingRank {
  bool is_trusted = false;  ///< By judge().
  bool of_project = true;
  Timestamp at{};
  std::string_view session_id;
  EntryType type = EntryType::kFact;
  std::uint64_t line = 0;

  auto operator<=>(const HoldingRank&) const = default;
};

/// A statement among others about the same.
struct Rival {
  HoldingRank rank;
  double claimed = 1;                    ///< The trust that it names itself.
  const RootOrigins* origins = nullptr;  ///< Null: it is taken at its word.
  std::uint64_t tag = 0;    ///< Of its line or of what it states, in the provenance log.
  std::size_t session = 0;  ///< For the caller; so is the next.
  Ordinal ordinal = 0;
};

/// Says which of them are trusted, by who wrote them.
void judge(std::span<Rival> rivals);

/// Which statements hold, of those that are heard. The ids of sessions must outlive it.
class ValidStatements {
 public:
  /// `origins`: null, or of the root that the entries are of.
  explicit ValidStatements(const RootOrigins* origins) : origins_(origins) {}

  /// The number of the statement; nothing for what others can't replace.
  std::optional<std::size_t> hear(std::string_view session_id, const TableEntry& entry);
  /// To be called when all are heard, and again when there are more.
  void settle();
  /// Whether another one has replaced the statement of this number, as it was settled.
  [[nodiscard]] bool is_replaced(std::size_t number) const {
    assert(number == kSuperseded || subject_of_[number] < best_of_.size());
    return number == kSuperseded || best_of_[subject_of_[number]] != number;
  }

 private:
  static constexpr std::size_t kSuperseded = ~std::size_t{0};

  std::optional<std::size_t> hear_statement(std::string_view session_id, const TableEntry& entry,
                                            JsonValue value);

  const RootOrigins* origins_;
  JsonParser parser_;
  std::unordered_map<std::string, std::size_t> subjects_;  // Numbers of what they are about.
  std::vector<Rival> heard_;
  std::vector<std::size_t> subject_of_;  // Of each that was heard.
  std::vector<std::size_t> best_of_;     // By subject.
};

/// Puts in place of each statement whose latest version has no author here the newest version that
/// has one: of these nothing else changes. Costs nothing where each has one version. What can't be
/// read meanwhile stays. `entries` are of `store`, or of the user's own memory.
void show_valid_versions(const Store& store, std::span<Entry* const> entries);

}  // namespace bmad_mem
