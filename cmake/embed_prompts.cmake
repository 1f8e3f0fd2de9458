# Makes a C++ header with the files of lib/knowledge/prompts/, as they are.
#
#   cmake "-DFILES=prompts/summary.txt;prompts/template.txt" -DOUTPUT=knowledge_prompts.hpp
#         -P cmake/embed_prompts.cmake
#
# The text of summary.txt is called kSummaryText.
cmake_policy(VERSION 3.25)

set(prompts "")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  cmake_path(GET file STEM name)
  string(SUBSTRING "${name}" 0 1 first)
  string(SUBSTRING "${name}" 1 -1 rest)
  string(TOUPPER "${first}" first)
  string(APPEND prompts
    "inline constexpr std::string_view k${first}${rest}Text = R\"prompt(${text})prompt\";\n\n")
endforeach()

file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_prompts.cmake.
#pragma once

#include <string_view>

namespace bmad_mem {

@prompts@}  // namespace bmad_mem
]] @ONLY)
