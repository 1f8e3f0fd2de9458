# Makes a C++ source with the facts about clients: see tools/bmad-mem/clients/client_facts.hpp.
#
#   cmake "-DNAMES=codex;gemini" -DFOLDER=folder-of-NAME.json -DOUTPUT=x.cpp -P cmake/embed_clients.cmake
#
# A word that the header does not have ends the build: the lists below are its structs, in their order.
cmake_policy(VERSION 3.25)

set(ClientFacts title program aliases tried how session_prefix event_key session_key proves_typed events places steps
  steps_in_project steps_for_user rules hook server trusted)
set(HookEventRow name kind text until timeout_s answer in_background inside tool)
set(SettingsPlace part in_project variable in_home on_macos in_folder is_shared may_be_jsonc)
set(HookShape has_name has_type command_key timeout_key timeouts_in_s has_version project)
set(ServerShape key type is_one_list more_name more_json project)
set(TrustList place key step)
# What a member is that is no text, number or boolean.
set(type_of_events HookEventRow)
set(type_of_places SettingsPlace)
set(type_of_place SettingsPlace)
set(type_of_hook HookShape)
set(type_of_server ServerShape)
set(type_of_trusted TrustList)
set(enum_of_kind HookEventKind)
set(enum_of_answer HookAnswer)
set(enum_of_part SettingsPart)

set(arrays "")

# An array of C++ for the list `json`; its name in `result`.
function(array_of client key json result)
  string(MAKE_C_IDENTIFIER "k_${client}_${key}" name)
  set(type "${type_of_${key}}")
  set(rows "")
  string(JSON size LENGTH "${json}")
  math(EXPR last "${size} - 1")
  foreach(i RANGE ${last})
    string(JSON element GET "${json}" ${i})
    if(type)
      struct_of("${client}" ${type} "${element}" row)
    else()
      set(row "R\"text(${element})text\"")
    endif()
    string(APPEND rows "    ${row},\n")
  endforeach()
  if(NOT type)
    set(type std::string_view)
  endif()
  set(arrays "${arrays}constexpr ${type} ${name}[] = {\n${rows}};\n" PARENT_SCOPE)
  set(${result} "${name}" PARENT_SCOPE)
endfunction()

# The initializer of C++ for the object `json`.
function(struct_of client type json result)
  string(JSON size LENGTH "${json}")
  math(EXPR last "${size} - 1")
  foreach(i RANGE ${last})
    string(JSON key MEMBER "${json}" ${i})
    if(NOT key IN_LIST ${type})
      message(FATAL_ERROR "${client}: ${type} has no '${key}'; it has ${${type}}")
    endif()
  endforeach()
  set(out "")
  foreach(key IN LISTS ${type})
    string(JSON kind ERROR_VARIABLE missing TYPE "${json}" ${key})
    if(missing)
      continue()
    endif()
    string(JSON value GET "${json}" ${key})
    if(DEFINED enum_of_${key})
      string(REPLACE "_" ";" words "${value}")
      set(value "${enum_of_${key}}::k")
      foreach(word IN LISTS words)
        string(SUBSTRING "${word}" 0 1 first)
        string(SUBSTRING "${word}" 1 -1 rest)
        string(TOUPPER "${first}" first)
        string(APPEND value "${first}${rest}")
      endforeach()
    elseif(kind STREQUAL "STRING")
      set(value "R\"text(${value})text\"")
    elseif(kind STREQUAL "BOOLEAN")
      string(REPLACE "ON" "true" value "${value}")
      string(REPLACE "OFF" "false" value "${value}")
    elseif(kind STREQUAL "ARRAY")
      array_of("${client}" ${key} "${value}" value)
    elseif(kind STREQUAL "OBJECT")
      struct_of("${client}" ${type_of_${key}} "${value}" value)
      set(value "${type_of_${key}}${value}")
    endif()
    string(APPEND out ", .${key} = ${value}")
  endforeach()
  string(REGEX REPLACE "^, " "" out "${out}")
  set(arrays "${arrays}" PARENT_SCOPE)
  set(${result} "{${out}}" PARENT_SCOPE)
endfunction()

set(rows "")
foreach(name IN LISTS NAMES)
  file(READ "${FOLDER}/${name}.json" json)
  struct_of("${name}" ClientFacts "${json}" row)
  string(REGEX REPLACE "^{" "{.name = \"${name}\", " row "${row}")
  string(APPEND rows "    ${row},\n")
endforeach()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_clients.cmake.
#include "clients/client_facts.hpp"

namespace bmad_mem::cli {
namespace {

@arrays@
constexpr ClientFacts kClients[] = {
@rows@};

}  // namespace

std::span<const ClientFacts> all_clients() { return kClients; }

}  // namespace bmad_mem::cli
]] @ONLY)
