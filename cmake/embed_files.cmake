# Makes a C++ source with the files of the pages: see tools/bmad-mem/http/pages.hpp.
#
#   cmake -DFOLDER=http/pages "-DFILES=index.html;js/app.js" -DFUNCTION=page_files
#         -DOUTPUT=page_files.cpp -P cmake/embed_files.cmake
cmake_policy(VERSION 3.25)

function(media_type_of file result)
  if(file MATCHES "[.]html$")
    set(type "text/html; charset=utf-8")
  elseif(file MATCHES "[.]css$")
    set(type "text/css; charset=utf-8")
  elseif(file MATCHES "[.]js$")
    set(type "text/javascript; charset=utf-8")
  elseif(file MATCHES "[.]svg$")
    set(type "image/svg+xml")
  elseif(file MATCHES "[.]md$")
    set(type "text/markdown; charset=utf-8")
  elseif(file MATCHES "[.]jsonl?$")
    set(type "application/json")
  else()
    message(FATAL_ERROR "embed_files: what is the media type of ${file}?")
  endif()
  set(${result} "${type}" PARENT_SCOPE)
endfunction()

set(rows "")
foreach(file IN LISTS FILES)
  file(READ "${FOLDER}/${file}" hex HEX)
  file(SIZE "${FOLDER}/${file}" size)
  file(SHA256 "${FOLDER}/${file}" hash)
  string(SUBSTRING "${hash}" 0 16 hash)
  media_type_of("${file}" type)
  # A string a line: one long literal would be one long line.
  string(REGEX REPLACE "(................................................)" "\\1;" lines "${hex}")
  set(text "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "(..)" "\\\\x\\1" line "${line}")
    string(APPEND text "\n     \"${line}\"")
  endforeach()
  if(text STREQUAL "")
    set(text "\"\"")
  endif()
  string(APPEND rows
    "    {\"/${file}\", \"${type}\", \"\\\"${hash}\\\"\", std::string_view(${text}, ${size})},\n")
endforeach()

file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_files.cmake.
#include <array>

#include "http/pages.hpp"

namespace bmad_mem::cli {
namespace {

constexpr auto @FUNCTION@_array = std::to_array<PageFile>({
@rows@});

}  // namespace

std::span<const PageFile> @FUNCTION@() { return @FUNCTION@_array; }

}  // namespace bmad_mem::cli
]] @ONLY)
