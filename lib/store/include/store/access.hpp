// access.hpp - what the workflow of whoever opened the store allows, and how the public classes
// come to the store.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/reports.hpp"
#include "bmad_mem/result.hpp"
#include "store/store.hpp"

namespace bmad_mem {

// All errors: E_ACCESS_DENIED, naming the file and what it would have to say.

Status check_read(const Store& store, EntryType type);
Status check_write(const Store& store, EntryType type);
/// Whether the row of that name in the operation table is allowed; `changes`: whether this call
/// changes something, for the rows that make a difference. Types that only the call knows are for
/// it to check, with the functions here. Errors besides: E_INVALID_QUERY for a name without a row.
Status permit(const Store& store, std::string_view operation, bool changes = true);

/// What only a person decides of statements: nothing when a person writes `entry`, as new, or as a
/// change of one that is there. For an agent no error only where it names no review but
/// "candidate", and nothing that replaces the entry.
Status check_decides_nothing(const Store& store, std::string_view entry, bool is_change);
/// The same of new entries.
Status check_decide_nothing(const Store& store, std::span<const std::string_view> entries);
/// Whether `entry` is a statement of the person, or one accepted, and an agent is at it: only the
/// person replaces or deletes it.
bool is_withheld_from_agent(const Store& store, const Entry& entry);

/// `filter` for types that may be read: the ones it names, or all there are when it names none.
/// Errors besides: as check_fields() (model/field.hpp), since all that filters goes through
/// here.
Result<EntryFilter> readable(const Store& store, EntryFilter filter);

/// Whether all may be read that a summary written by rules quotes.
bool may_read_summaries(const Store& store);

/// Drops entries of types that may not be read.
void drop_unreadable(const Store& store, std::vector<Entry>& entries);

/// The store behind a MemoryManager, for the public classes beside it.
struct MemoryInside {
  /// The store, for an operation that the workflow allows. Errors: E_ACCESS_DENIED.
  static Result<Store*> enter(MemoryManager& memory, std::string_view operation,
                              bool changes = true);
  static Result<const Store*> enter(const MemoryManager& memory, std::string_view operation);
  /// For what says nothing of entries: the config, names of files.
  static const Store& settings(const MemoryManager& memory);
};

// What each operation of the memory needs to be allowed.
//
//   lib/operations/table/*.toml ──> all_operations()
//   enter(store, "compact") ──> E_ACCESS_DENIED, before anything is read

/// What an operation does with entries.
enum class Right : std::uint8_t {
  kNone,   ///< Nothing that is restricted.
  kRead,   ///< Reads some; types that may not be read are refused or left out where they are known.
  kWrite,  ///< Writes some, each of a type that may be written.
  kChange,  ///< kManage when it changes something, else kNone.
  kManage,  ///< Reaches entries of all types: all must be writable.
};

/// A row of the operation table.
struct OperationRow {
  std::string_view name;  ///< "session new"
  Right right;
  std::string_view type = {};  ///< The one type that kRead or kWrite is about; empty: several.
};

/// The table, made while building. A source names a row by its text, so that a new row compiles no
/// source that there is; a test looks whether each text is a row.
std::span<const OperationRow> all_operations();

}  // namespace bmad_mem
