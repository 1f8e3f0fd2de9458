// session_table.hpp - entries to columns, postings and conversations: what a scan of the logs
// fills.
//
//   scanned line --> columns (one row an ordinal)          EntryColumns
//               +-> postings of its words and keys         Memtable
//               +-> link to the entry before it            `previous`, conversation by conversation
//               +-> tombstone for the version before it
//
// The table begins empty, or behind the columns of a segment: then ordinals go on counting, and
// only what is added has postings here. Pure but for what Known reads.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/result.hpp"
#include "model/entry.hpp"
#include "search/analyzer.hpp"
#include "search/entry_columns.hpp"
#include "search/memtable.hpp"
#include "store/entry_scanner.hpp"
#include "string_table.hpp"

namespace bmad_mem {

// The words of entries go into a memtable beside the scan.
//
//   scan    read, parse, check; columns, keys
//             `-- texts --> tokenize, look up, note
//
// Both take about as long, so a scan of a long log takes half the time on two cores. Texts go over
// in batches, in order, one at a time: what comes out is the same as without a thread.

class WordThread {
 public:
  /// Begins with entry `first`. Until finish() nobody else may use `analyzer`, nor add_text() of
  /// `memtable`.
  WordThread(Memtable& memtable, Analyzer& analyzer, Ordinal first)
      : memtable_(memtable), analyzer_(analyzer), next_(first) {}

  /// The text of the next entry is to be put at the end of this string, then comes end_entry().
  [[nodiscard]] std::string& text() { return filling_.text; }
  void end_entry();

  /// Waits until all is done. Returns the lengths of all entries, see Memtable::add_text(). To be
  /// called once.
  std::vector<std::uint32_t> finish();

 private:
  struct Batch {
    std::string text;
    std::vector<std::size_t> ends;  // Of each entry's text.
  };

  void hand_over();
  void take_in();

  Memtable& memtable_;
  Analyzer& analyzer_;
  Ordinal next_;
  std::vector<std::uint32_t> lengths_;  // Until finish().
  Batch filling_;                       // The scan's.
  Batch taken_;                         // The thread's.
  std::future<void> work_;              // Last: it uses the others, and its end is waited for.
};

/// The last live entry of each conversation, by its id.
using ConversationEnds = std::map<std::string, Ordinal, std::less<>>;

struct SessionTable {
  EntryColumns columns;
  Memtable memtable;
  SessionFacts facts;
  ConversationEnds conversation_ends;
  std::vector<StatementRow> statements;  ///< Those of one log in its order.
};

/// What need not be found out again of an entry whose text was analyzed before.
struct KnownText {
  std::uint32_t length = 0;
  std::uint32_t flags = 0;  ///< Of EntryFlag.
};

/// Adds lines to a table.
class SessionTableBuilder {
 public:
  /// What is known of the entries that the table begins behind, if there are any.
  struct Known {
    /// The id of one: 30 bits of hash may be equal by chance.
    std::function<Result<std::string>(Ordinal)> id_of;
    /// Those with a hash.
    std::function<Result<std::vector<Ordinal>>(std::uint32_t hash)> with_hash;
    /// The last entry of each conversation. Asked once, when one goes on.
    std::function<Result<ConversationEnds>()> ends;
    /// What a segment knows of the text of a line, which becomes entry `ordinal`: its keys are
    /// there.
    std::function<std::optional<KnownText>(std::uint32_t id_hash, const EntryRow& row,
                                           Ordinal ordinal)>
        text;
  };

  /// Goes on behind what `table` holds; both must outlive the builder.
  SessionTableBuilder(SessionTable& table, Analyzer& analyzer, Known known);

  /// What Known::text said was for lines that had been there.
  void forget_known_text() { known_.text = nullptr; }

  /// From now on, until finish(), words are indexed by other threads, if there can be any.
  void start_word_thread();
  /// Makes what was added there to be read. To be called before anybody looks at the table.
  void finish();

  /// Adds the next entry. Lines of one log must come in order. Errors: those of Known.
  Status add(const ScannedEntry& scanned);
  /// Takes in an encrypted line: it replaces an entry with its id, and is none itself.
  Status add_encrypted(const ScannedEntry& scanned);

 private:
  void add_keys(const ScannedEntry& scanned, const EntryHead& head, Ordinal ordinal);
  void add_statement(const ScannedEntry& scanned, Ordinal ordinal);
  std::uint32_t index_words(const ScannedEntry& scanned, Ordinal ordinal);
  Result<Ordinal> earlier_version(EntryType type, std::string_view id, std::uint32_t hash,
                                  Ordinal next);
  Status supersede(Ordinal older);
  Status need_ends();
  Status link(Ordinal ordinal, const std::string& conversation_id);
  void set_previous(Ordinal ordinal, Ordinal previous);

  SessionTable& table_;
  Analyzer& analyzer_;
  Known known_;
  bool has_ends_ = false;
  Ordinal begin_;                // First ordinal added here.
  StringTable ids_;              // Type and id of the entries added here …
  std::vector<Ordinal> latest_;  // … to their latest version.
  std::string text_;             // Scratch; so for the next.
  std::string key_;
  Ordinal words_begin_ = 0;  // First ordinal that the thread indexes.
  std::optional<WordThread> words_;
};

}  // namespace bmad_mem
