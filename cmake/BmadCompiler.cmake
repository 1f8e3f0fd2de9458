# The language, the warnings and the sanitizers, all on one INTERFACE target: bmad_flags.

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
# An embedding program may be a shared library or a plug-in.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-std=c++23")
check_cxx_source_compiles("#include <expected>\nstd::expected<int, int> e; int main() {}"
  BMAD_HAS_EXPECTED)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT BMAD_HAS_EXPECTED)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} ${CMAKE_CXX_COMPILER_VERSION} has no std::expected; "
    "bmad-mem needs g++ 12, clang 19 or newer: name one with CXX=g++-12, in a fresh build folder")
endif()

find_program(BMAD_CCACHE ccache)
mark_as_advanced(BMAD_CCACHE)
if(BMAD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these it keeps nothing that was compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_SLOPPINESS=pch_defines,time_macros "${BMAD_CCACHE}")
endif()

# Each of our files costs two seconds of headers and a few tenths for what is its own, so several are
# compiled as one. Names that are local to a file must be unique in its target for that. Off: each
# file alone, as clang-tidy wants them.
option(BMAD_UNITY "Compile several sources at once" ON)
set(BMAD_UNITY_SIZE 24 CACHE STRING "How many: more build faster, fewer rebuild faster")
mark_as_advanced(BMAD_UNITY_SIZE)
function(bmad_unity target)
  set_target_properties(${target} PROPERTIES
    UNITY_BUILD ${BMAD_UNITY} UNITY_BUILD_BATCH_SIZE ${BMAD_UNITY_SIZE})
  # g++ takes a .cpp that is included for a header, where a member of a local type would be a fault.
  target_compile_options(${target} PRIVATE
    $<$<AND:$<BOOL:${BMAD_UNITY}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
endfunction()

add_library(bmad_flags INTERFACE)
target_compile_features(bmad_flags INTERFACE cxx_std_23)
# A designated initializer leaves the other fields to their defaults on purpose; g++ 12 warns of it.
target_compile_options(bmad_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-missing-field-initializers)
# On ARM a char has no sign; what is decided by one is the same everywhere.
target_compile_options(bmad_flags INTERFACE -fsigned-char)
target_compile_definitions(bmad_flags INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
# std::stable_sort of g++ 12's library calls what that library deprecates; g++ keeps that to itself.
target_compile_options(bmad_flags INTERFACE
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
# A warning is an error with the compiler that CI has; others may know more of them.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
   CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ON)
endif()
# Of g++'s warnings these come from its optimiser and are often wrong, of std::expected above all: GCC
# bugs 105329, 105562. What is read before it is written is found by clang and the sanitizers.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(bmad_flags INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()

# What a program does not use of the archive is left out of it: the tool gets 14 % smaller. Link-time
# optimisation gains 2 % more and no start-up time, and its objects fit one compiler only.
target_compile_options(bmad_flags INTERFACE
  $<$<CONFIG:Release>:-ffunction-sections> $<$<CONFIG:Release>:-fdata-sections>)

# What is released doesn't tell where it was built, and is the same wherever that was.
add_compile_options("$<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>")

# What drives the rooms, the tool and the tests, links this beside, since its own share of a run is
# small and of a build large. The tool's units take a quarter less time to compile than with -O2, and
# run half a per cent more instructions; without the two flags it is two. With sanitizers -O1 takes three
# times as long as -O0, and pays only in the inner loops of the lower rooms.
add_library(bmad_quick_flags INTERFACE)
if(BMAD_SANITIZE)
  target_compile_options(bmad_quick_flags INTERFACE -O0)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(bmad_quick_flags INTERFACE
    $<$<CONFIG:Release>:-O1> $<$<CONFIG:Release>:-finline-small-functions>
    $<$<CONFIG:Release>:-foptimize-strlen>)
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld BMAD_HAS_LLD)
if(BMAD_HAS_LLD AND CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_link_options(bmad_flags INTERFACE -fuse-ld=lld)
endif()

if(BMAD_SANITIZE)
  target_compile_options(bmad_flags INTERFACE
    -fsanitize=${BMAD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(bmad_flags INTERFACE -fsanitize=${BMAD_SANITIZE})
  if(BMAD_SANITIZE MATCHES "address")
    # A program that may lie anywhere has a million addresses to set when it starts: three of four pages.
    target_link_options(bmad_flags INTERFACE
      $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  endif()
  if(BMAD_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # As with g++, whose default keeps stack frames on the stack.
    target_compile_options(bmad_flags INTERFACE -fsanitize-address-use-after-return=never)
  endif()
  if(BMAD_SANITIZE STREQUAL "thread")
    # The sanitizer doesn't know fences. Asio's queue has a mutex, so it does without.
    target_compile_definitions(bmad_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()
