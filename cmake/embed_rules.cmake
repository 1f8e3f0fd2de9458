# Makes a C++ source with the rules for secrets as a table: see privacy/secret_rule.hpp for the table
# and the head of lib/privacy/rules/ai.toml for the files.
#
#   cmake "-DFILES=rules/ai.toml;rules/cloud.toml" -DOUTPUT=secret_rule_table.cpp
#         -P cmake/embed_rules.cmake
#
# It reads what these files need of TOML: a member a line, lists of strings over several.
cmake_policy(VERSION 3.25)

# What CMake would take for its own in a list of lines stands as a control character meanwhile.
string(ASCII 1 backslash)
string(ASCII 2 semicolon)
string(ASCII 3 open)
string(ASCII 4 close)

macro(hide_signs text)
  string(REPLACE "\\" "${backslash}" ${text} "${${text}}")
  string(REPLACE ";" "${semicolon}" ${text} "${${text}}")
  string(REPLACE "[" "${open}" ${text} "${${text}}")
  string(REPLACE "]" "${close}" ${text} "${${text}}")
endmacro()

macro(show_signs text)
  string(REPLACE "${backslash}" "\\" ${text} "${${text}}")
  string(REPLACE "${semicolon}" ";" ${text} "${${text}}")
  string(REPLACE "${open}" "[" ${text} "${${text}}")
  string(REPLACE "${close}" "]" ${text} "${${text}}")
endmacro()

function(fail_at_line what)
  show_signs(what)
  message(FATAL_ERROR "${file}:${number}: ${what}")
endfunction()

# Sets `result` to the C++ literal of a string, or of a list of strings: "one two".
function(literal_of value result)
  if(value MATCHES "^'''(.*)'''$")
    set(literal "R\"re(${CMAKE_MATCH_1})re\"")
  elseif(value MATCHES "^'([^']*)'$")
    set(literal "R\"re(${CMAKE_MATCH_1})re\"")
  elseif(value MATCHES "^\"([^\"${backslash}]*)\"$")
    set(literal "\"${CMAKE_MATCH_1}\"")
  elseif(value MATCHES "^${open}( *\"[^\" ${backslash}]+\",?)+ *${close}$")
    string(REGEX MATCHALL "[^\" ,${open}${close}]+" words "${value}")
    list(JOIN words " " words)
    set(literal "\"${words}\"")
  else()
    fail_at_line("not a string, nor a list of words, as these files have them: ${value}")
  endif()
  set(${result} "${literal}" PARENT_SCOPE)
endfunction()

# Sets `result` to the enumerator of `type` that is called `word`.
function(enumerator_of type word result)
  string(SUBSTRING "${word}" 0 1 first)
  string(SUBSTRING "${word}" 1 -1 rest)
  string(TOUPPER "${first}" first)
  set(${result} "${type}::k${first}${rest}" PARENT_SCOPE)
endfunction()

# Sets `name` to what the member `key` is called in C++, and `result` to its value there.
function(member_of key value name result)
  if(key MATCHES "^(id|keywords|needs|stopwords)$")
    set(member ${key})
    literal_of("${value}" cpp)
  elseif(key STREQUAL "description")
    set(member what)
    literal_of("${value}" cpp)
  elseif(key STREQUAL "regex")
    set(member pattern)
    literal_of("${value}" cpp)
  elseif(key STREQUAL "entropy" AND value MATCHES "^[0-9]+([.][0-9]+)?$")
    set(member entropy_min)
    set(cpp ${value})
  elseif(key STREQUAL "lead" AND value MATCHES "^[0-9]+$")
    set(member lead)
    set(cpp ${value})
  elseif(key STREQUAL "kind" AND value MATCHES "^\"(assigned|structure|context|personal)\"$")
    set(member kind)
    enumerator_of(RuleKind "${CMAKE_MATCH_1}" cpp)
  elseif(key STREQUAL "judge" AND value MATCHES "^\"(password|drawn|mixed)\"$")
    set(member judge)
    enumerator_of(RuleJudge "${CMAKE_MATCH_1}" cpp)
  else()
    fail_at_line("no rule has this: ${key} = ${value}")
  endif()
  set(${name} ${member} PARENT_SCOPE)
  set(${result} "${cpp}" PARENT_SCOPE)
endfunction()

# Of struct SecretRule, in its order.
set(members id what kind keywords pattern lead entropy_min needs stopwords judge origin)

# Appends the rule whose members are set to `rows`, or to `others` when it has no pattern.
macro(end_rule)
  if(DEFINED rule_id)
    set(row "")
    set(table others)
    if(DEFINED rule_pattern)
      set(table rows)
    endif()
    foreach(member IN LISTS members)
      if(DEFINED rule_${member})
        string(APPEND row "\n     .${member} = ${rule_${member}},")
        unset(rule_${member})
      endif()
    endforeach()
    string(APPEND ${table} "    {${row}},\n")
  endif()
endmacro()

set(rows "")
set(others "")
set(version "")
foreach(file IN LISTS FILES)
  file(READ "${file}" lines)
  string(SHA256 version "${version}${lines}")
  hide_signs(lines)
  string(REPLACE "\n" ";" lines "${lines}")
  set(number 0)
  set(list "")
  set(in_rule FALSE)
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(NOT list STREQUAL "")
      string(APPEND list "${line}")
      if(NOT line STREQUAL "${close}")
        continue()
      endif()
      set(line "${list}")
      set(list "")
    endif()
    if(line MATCHES "^(#.*)?$")
      continue()
    elseif(line STREQUAL "${open}${open}rules${close}${close}")
      end_rule()
      set(in_rule TRUE)
      get_filename_component(name "${file}" NAME)
      set(rule_origin "\"${name}\"")
    elseif(in_rule AND line STREQUAL "${open}${open}rules.allowlists${close}${close}")
      continue()  # Its members have names that no rule has.
    elseif(line MATCHES "^[a-z]+ = ${open}$")
      set(list "${line}")
    elseif(in_rule AND line MATCHES "^([A-Za-z]+) = (.+)$")
      member_of("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}" name cpp)
      if(DEFINED rule_${name})
        fail_at_line("the second ${name} of a rule")
      endif()
      set(rule_${name} "${cpp}")
    else()
      fail_at_line("not understood: ${line}")
    endif()
  endforeach()
  end_rule()
endforeach()
show_signs(rows)
show_signs(others)
string(SUBSTRING "${version}" 0 16 version)

file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_rules.cmake.
#include "privacy/secret_rule.hpp"

namespace bmad_mem {
namespace {

constexpr SecretRule kRules[] = {
@rows@};

constexpr SecretRule kOthers[] = {
@others@};

}  // namespace

std::span<const SecretRule> secret_rules() { return kRules; }
std::span<const SecretRule> rules_without_pattern() { return kOthers; }
std::string_view secret_rules_version() { return "@version@"; }

}  // namespace bmad_mem
]] @ONLY)
