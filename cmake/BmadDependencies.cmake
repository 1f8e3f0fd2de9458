# Third-party libraries. Each is found once, here, and entered through one room of lib/.
#
# Static archives are preferred, so that the tool can be linked without any shared library.

find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(xxHash REQUIRED)  # cmake/FindxxHash.cmake; so for the next six.
find_package(libstemmer REQUIRED)
find_package(utf8proc REQUIRED)
find_package(libarchive REQUIRED)
find_package(libz REQUIRED)
find_package(libre2 REQUIRED)
find_package(libsodium REQUIRED)
find_package(libyaml REQUIRED)
find_package(libpq QUIET)  # Optional: without it there is no hub.
if(NOT libpq_FOUND)
  message(STATUS "libpq: not found, so nothing can speak to a hub")
endif()

# bmad_compiled_or_packaged(<name> SOURCE <file> INCLUDE <folder> PACKAGED <target>)
#
# The target bmad_<name>: from the package; but compiled from SOURCE where that exists and the tool is
# to be static, because Debian packs simdjson and fmt as shared libraries only (vcpkg as archives).
# Sets BMAD_<NAME>_KIND to source, static or shared.
set(BMAD_DEPS "${PROJECT_SOURCE_DIR}/build/deps" CACHE PATH
    "Folder with the sources of third-party libraries; './dev' fetches them")
function(bmad_compiled_or_packaged name)
  cmake_parse_arguments(PARSE_ARGV 1 dep "" "SOURCE;INCLUDE;PACKAGED" "")
  set(target bmad_${name})
  if(BMAD_STATIC_TOOL AND EXISTS "${BMAD_DEPS}/${dep_SOURCE}")
    set(kind source)
    # No warnings: they would not be acted upon.
    add_library(${target} OBJECT "${BMAD_DEPS}/${dep_SOURCE}")
    target_compile_options(${target} PRIVATE -w -O2 -ffunction-sections -fdata-sections)
    target_include_directories(${target} SYSTEM PUBLIC "${BMAD_DEPS}/${dep_INCLUDE}")
    message(STATUS "${name}: static, compiled from ${BMAD_DEPS}/${dep_SOURCE}")
  else()
    find_package(${name} REQUIRED)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${dep_PACKAGED})
    get_target_property(type ${dep_PACKAGED} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      set(kind static)
    else()
      set(kind shared)
    endif()
    message(STATUS "${name}: ${kind}, from the package in ${${name}_DIR}")
  endif()
  string(TOUPPER ${name} upper)
  set(BMAD_${upper}_KIND ${kind} PARENT_SCOPE)
endfunction()

bmad_compiled_or_packaged(simdjson
  SOURCE simdjson/singleheader/simdjson.cpp INCLUDE simdjson/singleheader
  PACKAGED simdjson::simdjson)
# Not header-only: that costs 4 s more for each file, and 10 s with sanitizers.
bmad_compiled_or_packaged(fmt
  SOURCE fmtlib/src/format.cc INCLUDE fmtlib/include
  PACKAGED fmt::fmt)

find_package(Boost 1.74 REQUIRED)  # Headers only.
if(BMAD_BUILD_TOOLS)
  find_package(libsqlite3 REQUIRED)
  find_package(libzstd REQUIRED)
endif()
# Header-only, and without a package file in Debian's 12.
find_path(BMAD_TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
if(BMAD_BUILD_TESTS)
  find_package(doctest REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
if(BMAD_BUILD_BENCH)
  # What the search is compared with. Both are optional: without them their rows say so.
  find_package(SQLite3 QUIET)
  find_package(Xapian QUIET CONFIG NAMES xapian)
  foreach(name IN ITEMS SQLite3 Xapian)
    if(NOT ${name}_FOUND)
      message(STATUS "${name}: not found, so bmad-bench cannot compare with it")
    endif()
  endforeach()
endif()
