// operations.hpp - what a random agent, or a person with an editor, does to a memory root.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/memory_manager.hpp"

namespace bmad_mem::test {

/// A text that is given to the engine as an entry.
struct Candidate {
  std::string input;  ///< What is handed over; blanks between tokens, any line break.
  std::string line;   ///< What must stand in the log; empty when it must be refused.
  std::string id;
  std::string word;  ///< One that no other candidate has.
  bool good = false;
};

struct Operation {
  enum class Kind : std::uint8_t {
    kCreateSession,
    kAdd,
    kAddBatch,
    kClose,
    kReopen,
    kEditLog,  ///< By hand: appends `edit` to the log.
    kCutLog,   ///< By hand: takes `amount` bytes off its end.
    kRepair,
  };
  Kind kind = Kind::kAdd;
  std::uint8_t session = 0;  ///< Of the few there are.
  EntryType type = EntryType::kFact;
  std::vector<Candidate> candidates;
  bool keep_going = false;
  KnownEntries known = KnownEntries::kAppendVersion;
  std::string edit;
  std::uint16_t amount = 0;
};

/// For what RapidCheck prints of a failing series.
std::ostream& operator<<(std::ostream& out, const Operation& operation);

/// A random operation. `counter` makes words that are used once.
rc::Gen<Operation> any_operation();

}  // namespace bmad_mem::test
