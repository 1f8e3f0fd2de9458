// operation.hpp - what each operation of the memory needs to be allowed.
//
//   lib/operations/table/*.toml ──> all_operations()
//   enter(store, "compact") ──> E_ACCESS_DENIED, before anything is read
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bmad_mem {

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
