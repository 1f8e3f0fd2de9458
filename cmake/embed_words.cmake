# Makes a C++ header with lists of words: see base/word_list.hpp.
#
#   cmake "-DFILES=words/stop_words.txt;words/units.txt" -DOUTPUT=index_words.hpp
#         -P cmake/embed_words.cmake
#
# In a file words are apart by blanks and line breaks; one that has blanks stands in quotes. A line
# that begins with '#' is a comment. The list of stop_words.txt is called kStopWords.
cmake_policy(VERSION 3.25)

# What CMake would take for its own in a list, and what stands for it meanwhile: signs that no word
# has and that are sorted as they are, which word_list.hpp checks.
string(ASCII 1 semicolon)

set(lists "")
foreach(file IN LISTS FILES)
  file(READ "${file}" text)
  string(REPLACE ";" "${semicolon}" text "${text}")
  string(REPLACE "[" "^" text "${text}")
  string(REPLACE "]" "`" text "${text}")
  string(REGEX REPLACE "(^|\n)#[^\n]*" "\\1" text "${text}")
  string(REGEX MATCHALL "\"[^\"\n]+\"|[^ \n\"]+" words "${text}")
  list(TRANSFORM words REPLACE "\"" "")
  list(LENGTH words count)
  list(SORT words COMPARE STRING)
  list(REMOVE_DUPLICATES words)
  list(LENGTH words different)
  if(NOT count EQUAL different)
    message(FATAL_ERROR "${file}: a word stands there twice")
  endif()
  list(JOIN words "\n" words)
  string(REPLACE "${semicolon}" ";" words "${words}")
  string(REPLACE "^" "[" words "${words}")
  string(REPLACE "`" "]" words "${words}")
  cmake_path(GET file STEM name)
  string(REGEX MATCHALL "[a-z0-9]+" parts "${name}")
  set(name k)
  foreach(part IN LISTS parts)
    string(SUBSTRING "${part}" 0 1 first)
    string(SUBSTRING "${part}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND name "${first}${rest}")
  endforeach()
  string(APPEND lists
    "inline constexpr std::string_view ${name}Text = R\"words(${words})words\";\n"
    "inline constexpr WordList ${name} = words_of<${name}Text>();\n\n")
endforeach()

file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_words.cmake.
#pragma once

#include <string_view>

#include "base/word_list.hpp"

namespace bmad_mem {

@lists@}  // namespace bmad_mem
]] @ONLY)
