// sql_state.cpp - see Appendix A of PostgreSQL's manual, "Error Codes".
#include "sql_state.hpp"

namespace bmad_mem::hub_postgres {
namespace {

struct StateRow {
  std::string_view prefix;
  ErrorCode code;
};

// The first row that fits counts.
constexpr StateRow kStates[] = {
    {"08", ErrorCode::E_HUB_AWAY},           // The connection.
    {"57014", ErrorCode::E_HUB_AWAY},        // It took too long.
    {"57P", ErrorCode::E_HUB_AWAY},          // Stopped, crashed, starting, dropped, idle.
    {"25006", ErrorCode::E_HUB_AWAY},        // A standby, which can't write.
    {"40", ErrorCode::E_HUB_AWAY},           // Others were in its way, again and again.
    {"55P03", ErrorCode::E_HUB_AWAY},        // A lock was not had in time.
    {"53", ErrorCode::E_HUB_FULL},           // Disk, memory, connections.
    {"42501", ErrorCode::E_ACCESS_DENIED},   // Privileges, policies.
    {"28", ErrorCode::E_ACCESS_DENIED},      // Who it is.
    {"3F000", ErrorCode::E_HUB_VERSION},     // No schema,
    {"42P01", ErrorCode::E_HUB_VERSION},     // no table,
    {"42703", ErrorCode::E_HUB_VERSION},     // no column.
    {"22", ErrorCode::E_INVALID_FORMAT},     // A value that is none,
    {"23", ErrorCode::E_INVALID_FORMAT},     // or that a column does not take.
    {"42704", ErrorCode::E_INVALID_FORMAT},  // A role that is none.
    {"54", ErrorCode::E_SIZE_LIMIT},         // Too large for an index.
};

}  // namespace

ErrorCode code_of_sql_state(std::string_view state) {
  if (state.empty()) {
    return ErrorCode::E_HUB_AWAY;
  }
  for (const StateRow& row : kStates) {
    if (state.starts_with(row.prefix)) {
      return row.code;
    }
  }
  return ErrorCode::E_STORAGE_IO;
}

ErrorCode code_of_lost_connection(std::string_view why) {
  const bool is_full =
      why.contains("No space left on device") || why.contains("could not write init file");
  return is_full ? ErrorCode::E_HUB_FULL : ErrorCode::E_HUB_AWAY;
}

bool is_worth_repeating(std::string_view state) {
  // The last: another has made the same row just now.
  return state == "40001" || state == "40P01" || state == "23505";
}

}  // namespace bmad_mem::hub_postgres
