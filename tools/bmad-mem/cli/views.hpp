// views.hpp - what commands print, for people and as JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/lifecycle.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "cli/tool.hpp"

namespace bmad_mem::cli {

// Entries as the tool prints them: as JSON lines, as a list, in full.

/// The entry as one line of JSON without '\n': "type" and "session_id", then what stands in the
/// log, byte for byte.
///
///   {"type":"decision","session_id":"sess-…",EXTRA,"id":"dec-…","timestamp":"…",…}
///
/// `extra`: further members without braces, such as "\"relevance\":0.83". A member of the entry
/// that has the name of one of these is called otherwise, see json_text.hpp; its own "type" and
/// "session_id" are left out.
/// "archived" and "evicted" are added where they are so, and "linked" where there are links.
std::string entry_json_line(const Entry& entry, std::string_view extra = {});
/// Prints that line, with the further members, see put_all().
void print_entry_line(Tool& tool, const Entry& entry, const auto&... members) {
  tool.out().print("{}\n", entry_json_line(entry, json_members_of(members...)));
}

/// With --json: {"closed_lines":2} when encrypted entries have no key here; else nothing.
void print_closed_as_json(Tool& tool, const Result<std::uint64_t>& closed);
/// What the key would show besides: a sentence, or an object of its own behind the entries.
/// Whether there are any.
bool note_closed(Tool& tool, const MemoryManager& memory, const EntryFilter& filter);
/// Notes `said`; of a search for events alone also that sessions have theirs elsewhere.
void note_nothing_found(Tool& tool, const MemoryManager& memory, const EntryFilter& filter,
                        std::string_view said);
/// What a command that looks into no encrypted line has left out of these sessions (all when
/// empty).
void note_encrypted(Tool& tool, const MemoryManager& memory,
                    const std::vector<std::string>& sessions);
/// "superseded by": a relation as people read it.
std::string relation_words(Relation relation);
/// "archived", "evicted", that somebody else wrote a newer version, or empty.
std::string_view place_mark(const Entry& entry);

/// A field of an entry for people: "context.topic" and its value as text, maybe of several lines.
using FieldText = std::pair<std::string, std::string>;

/// The fields of the entry in the order of its line; members of objects one by one.
std::vector<FieldText> entry_fields(const Entry& entry);

/// What views show of entries: JSON, an object each.
RawJson shown_entry(const Entry& entry);
std::vector<RawJson> shown_fields(std::span<const FieldText> fields);

/// With --json the line of the entry; for people what `view` says of shown_entry() and of `more`.
void show_entry(Tool& tool, std::string_view view, const Entry& entry, const auto&... more) {
  if (tool.json()) {
    print_entry_line(tool, entry);
  } else {
    describe(tool, view, "entry", shown_entry(entry), more...);
  }
}

/// What was stored: its id; as JSON also where, and the notices, if there are any.
ExitStatus print_stored(Tool& tool, std::string_view id, std::string_view session,
                        std::span<const std::string> notices = {});

/// A line for each entry: JSON, or id, time, type, who, headline, aligned, and cut to the
/// terminal's width.
void print_entry_list(Tool& tool, std::span<const Entry> entries);

// The hits of a search as the tool prints them.
//
//   0.83  decision  dec-001  2026-01-11 10:05 (3 days ago)  by architect
//         Use *PostgreSQL* for the ledger, since it has transactions

/// Prints the hits, as text or as JSON, with what `query` asks for: the entries around them, and
/// where their relevance comes from and how the query was read.
void print_answer(Tool& tool, const Query& query, const QueryAnswer& answer);

/// Whether meaning took part, as a sentence without a full stop; empty when nobody wanted it.
std::string encoder_note(const EncoderUse& use);

// What is known and was learned, as the tool prints it.

/// The value of --category; nothing without one.
/// Errors: E_INVALID_QUERY for any other word, with the nearest.
Result<std::optional<Category>> read_category(const Arguments& args);

/// A number from 0 to 1 behind option `name`; `fallback` without it.
/// Errors: E_INVALID_QUERY with the option as field.
Result<double> read_share(const Arguments& args, std::string_view name, double fallback);

/// Items, two lines each, and below those about which different things were stated, all of that;
/// as JSON an object a line.
ExitStatus print_items(Tool& tool, std::span<const KnowledgeItem> items);

/// Drops candidates, and what the person stated, by id. Not kDone when one of them is neither.
Result<ExitStatus> drop_statements(Tool& tool, std::span<const std::string> ids);

/// What was remembered: its id, or an object a line; notes say what it changes.
ExitStatus print_remembered(Tool& tool, std::span<const Remembered> all);

// Statistics as tables and as JSON.

/// What is told of a session beside its counts.
struct SessionLife {
  std::string state;                                  ///< "active", "idle", "closed".
  std::optional<DecayReport> decay = {};              ///< Not in lists; so for the next.
  std::optional<MaintenanceReport> maintenance = {};  ///< What it would do now.
};

/// A table by type, the quota as a bar, oldest and newest, how much of it still counts.
void print_statistics(Tool& tool, const SessionStatistics& statistics, const SessionLife& life);

/// A line for each session, and the total, with what maintenance would do now. `states` by the
/// sessions' order.
void print_statistics(Tool& tool, const GlobalStatistics& statistics,
                      std::span<const std::string> states, const MaintenanceReport& maintenance);

// What maintenance did or would do, as text and as JSON.

/// Says on stderr what opening or closing a session did by the way, so that nothing goes untold.
void note_maintenance(Tool& tool, MemoryManager& memory);

// How much entries count, as histograms, tables and JSON.

/// How many entries count how much, on average and in tenths; with `write` in how many lines it was
/// noted.
void print_decay(Tool& tool, const DecayReport& report, bool write);

/// A table of both models over a year.
void print_decay_table(Tool& tool, std::span<const DecayTableLine> lines);

// What `verify` found, as text.

/// One line each: "file:line:column: reason", without the parts that are unknown; a torn tail is
/// reported as such. As JSON {"file":…,"line":…,…}; with `name` {"NAME":{…}}.
void print_findings(Tool& tool, std::span<const Finding> findings, std::string_view name = {});

// Lines that an editor changed.

/// "2 lines were changed by hand (1 changed, 1 added)"; empty without any.
std::string hand_edits_text(std::span<const HandEdit> edits);

/// Looks for them; all that wait for a review.
std::vector<HandEdit> look_for_hand_edits(Tool& tool, MemoryManager& memory);

/// Shows them, and accepts or restores them as the person says.
Result<ExitStatus> review_hand_edits(Tool& tool, MemoryManager& memory);

// How counts of what was taken out are shown.

// Lines that left the logs, or that would, as text and as JSON.

/// What a deletion or a purge did, or would do: its lines in a dry run, then the totals, where else
/// it reached, and how to bring it back.
void print_deletion(Tool& tool, const DeletionReport& report, const DeleteOptions& options);

// Bringing back what was deleted, for `undelete` and `session undelete`.

/// Brings back what `criteria` name and prints what came back. kFailed when nothing did, or not
/// all.
Result<ExitStatus> undelete_and_tell(Tool& tool, MemoryManager& memory,
                                     const UndeleteCriteria& criteria);

// The counts of several sessions together, for every interface.

/// Counts of several sessions.
struct Totals {
  std::uint64_t sessions = 0;
  std::uint64_t unreadable = 0;
  std::uint64_t entries = 0;
  std::uint64_t versions = 0;
  std::uint64_t encrypted_lines = 0;
  std::uint64_t damaged_lines = 0;
  std::uint64_t size_bytes = 0;
  std::array<std::uint64_t, kEntryTypeCount> types{};
  std::optional<Timestamp> oldest;
  std::optional<Timestamp> newest;

  void add(const SessionStatistics& session) {
    ++sessions;
    entries += session.entries();
    versions += session.versions();
    encrypted_lines += session.encrypted_lines();
    damaged_lines += session.damaged_lines();
    size_bytes += session.size_bytes;
    for (std::size_t i = 0; i < kEntryTypeCount; ++i) {
      types.at(i) += session.types.at(i).entries;
    }
    if (session.oldest && (!oldest || *session.oldest < *oldest)) {
      oldest = session.oldest;
    }
    if (session.newest && (!newest || *session.newest > *newest)) {
      newest = session.newest;
    }
  }
};

inline Totals totals_of(const GlobalStatistics& statistics) {
  Totals totals{.unreadable = statistics.problems.size()};
  for (const SessionStatistics& session : statistics.sessions) {
    totals.add(session);
  }
  return totals;
}

}  // namespace bmad_mem::cli
