# Makes a C++ header with tables of text: see lib/knowledge/rule_language.cpp.
#
#   cmake "-DFILES=rules/sentences.txt;rules/subjects.txt" -DOUTPUT=knowledge_tables.hpp
#         -P cmake/embed_tables.cmake
#
# A line that begins with '#' is a comment. The table of subjects.txt is called kSubjectsTable.
cmake_policy(VERSION 3.25)

set(tables "")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  string(REGEX REPLACE "(^|\n)#[^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  cmake_path(GET file STEM name)
  string(SUBSTRING "${name}" 0 1 first)
  string(SUBSTRING "${name}" 1 -1 rest)
  string(TOUPPER "${first}" first)
  string(APPEND tables
    "inline constexpr std::string_view k${first}${rest}Table = R\"table(${text})table\"sv;\n\n")
endforeach()

file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_tables.cmake.
#pragma once

#include <string_view>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"  // More than the 64 KiB of the standard.

namespace bmad_mem {

using namespace std::string_view_literals;  // The size is counted by no loop, which has a limit.

@tables@}  // namespace bmad_mem

#pragma GCC diagnostic pop
]] @ONLY)
