# Makes a C++ header with the statements of lib/hub_postgres/statements.sql.
#
#   cmake -DFILES=statements.sql -DOUTPUT=hub_postgres_statements.hpp -P cmake/embed_statements.cmake
#
# A line "--- kName" begins a statement; any other line that begins with "--" is a comment.
cmake_policy(VERSION 3.25)

file(READ "${FILES}" text)
string(REGEX REPLACE "(^|\n)-- ?[^-\n][^\n]*|(^|\n)--\n" "\n" text "${text}")
string(REGEX REPLACE "\n\n+" "\n" text "${text}")
string(REGEX REPLACE "\n--- (k[A-Za-z]+)\n" ")sql\";\n\ninline constexpr std::string_view \\1 = R\"sql(" text "${text}")
string(FIND "${text}" "inline" begin)
string(SUBSTRING "${text}" ${begin} -1 text)

file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_statements.cmake.
#pragma once

#include <string_view>

namespace bmad_mem::hub_postgres::sql {

@text@)sql";

}  // namespace bmad_mem::hub_postgres::sql
]] @ONLY)
