# How tests are built and registered.
#
#   label    what                                              runs in
#   unit     one process, no tool                              the sanitized build
#   process  starts processes: the tool, or a test's own       the sanitized build's tests, with the
#   crash    puts faults into the tool's system calls          tool of BMAD_RELEASE_BUILD
#   slow     minutes, or the same again with sanitizers        `./dev test --all` only
#
# A test program of a label other than slow is built by the target fast_tests.
set(BMAD_TEST_PREFIX "" CACHE STRING
    "Put before each test's name, to tell builds apart that are run together")
set(BMAD_RELEASE_BUILD "" CACHE PATH
    "Build folder whose tool the tests of processes run, as users do; empty: this one")

add_custom_target(fast_tests)

macro(bmad_default variable value)
  if(NOT ${variable})
    set(${variable} ${value})
  endif()
endmacro()

# bmad_test(<name> SOURCES ... [LABELS unit|crash|process|slow...] [LIBS ...] [TIMEOUT seconds]
#           [ARGUMENTS ...])
#
# One test program test_<name>, registered as one CTest <name>. Tests see the insides of every room:
# "base/ids.hpp" is a door, "base/ids_detail.hpp" a private header beside its source.
# They get BMAD_SOURCE_DIR.
function(bmad_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT" "SOURCES;LABELS;LIBS;ARGUMENTS")
  if(test_UNPARSED_ARGUMENTS OR NOT test_SOURCES)
    message(FATAL_ERROR "bmad_test(${name}): no sources, or unknown arguments: "
                        "${test_UNPARSED_ARGUMENTS}")
  endif()
  bmad_default(test_LABELS unit)
  bmad_default(test_TIMEOUT 900)
  set(target test_${name})
  add_executable(${target} ${test_SOURCES})
  bmad_unity(${target})
  target_link_libraries(${target} PRIVATE
    bmad_flags bmad_quick_flags bmad_doctest_main bmad_test_support rapidcheck ${test_LIBS})
  set(test ${BMAD_TEST_PREFIX}${name})
  add_test(NAME ${test} COMMAND ${target} ${test_ARGUMENTS})
  set_tests_properties(${test} PROPERTIES LABELS "${test_LABELS}" TIMEOUT ${test_TIMEOUT})
  if(NOT "slow" IN_LIST test_LABELS)
    add_dependencies(fast_tests ${target})
    # The same properties are tried with the same values each time: what fails was broken by the
    # change at hand. Slow tests, and a test program started by hand, look for new ones.
    set_tests_properties(${test} PROPERTIES ENVIRONMENT RC_PARAMS=seed=1)
  endif()
endfunction()

# bmad_in_memory(<test>...): with temporary files in memory. Every operation of a memory syncs;
# whether the disk really keeps it is no question there, and a slow one costs minutes.
function(bmad_in_memory)
  if(IS_DIRECTORY /dev/shm)
    foreach(name IN LISTS ARGN)
      set_property(TEST ${BMAD_TEST_PREFIX}${name} APPEND PROPERTY ENVIRONMENT TMPDIR=/dev/shm)
    endforeach()
  endif()
endfunction()

# bmad_tool_test(<name> COMMAND ... [LABELS ...] [TIMEOUT seconds] [COST n] [ENVIRONMENT ...]
#                [FIXTURES_REQUIRED name] [RELEASED fast|slow] [SANITIZED fast|slow|none]
#                [SANITIZED_TIMEOUT seconds])
#
# A test of the tool. TOOL in COMMAND and behind '=' in ENVIRONMENT stands for its path. It runs the
# tool of BMAD_RELEASE_BUILD, and as asan.<name> the one of this build: slow, unless SANITIZED says
# otherwise, since processes start slowly with sanitizers. Without BMAD_RELEASE_BUILD it runs the tool
# of this build alone.
function(bmad_tool_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test ""
    "TIMEOUT;COST;RELEASED;SANITIZED;SANITIZED_TIMEOUT;FIXTURES_REQUIRED" "COMMAND;LABELS;ENVIRONMENT")
  if(test_UNPARSED_ARGUMENTS OR NOT test_COMMAND)
    message(FATAL_ERROR "bmad_tool_test(${name}): no command, or unknown arguments: "
                        "${test_UNPARSED_ARGUMENTS}")
  endif()
  bmad_default(test_LABELS process)
  bmad_default(test_TIMEOUT 900)
  bmad_default(test_RELEASED fast)
  bmad_default(test_SANITIZED slow)
  bmad_default(test_SANITIZED_TIMEOUT ${test_TIMEOUT})
  set(test ${BMAD_TEST_PREFIX}${name})
  if(BMAD_RELEASE_BUILD)
    bmad_add_tool_test(${test} "${BMAD_RELEASE_BUILD}/bmad-mem" ${test_RELEASED} ${test_TIMEOUT})
    set(test asan.${test})
  elseif(NOT BMAD_SANITIZE)
    set(test_SANITIZED ${test_RELEASED})
  endif()
  if(NOT test_SANITIZED STREQUAL "none")
    bmad_add_tool_test(${test} $<TARGET_FILE:bmad-mem> ${test_SANITIZED} ${test_SANITIZED_TIMEOUT})
    if(test_SANITIZED STREQUAL "fast")
      add_dependencies(fast_tests bmad-mem)
    endif()
  endif()
endfunction()

# Of bmad_tool_test, whose variables it reads.
function(bmad_add_tool_test test tool speed timeout)
  list(TRANSFORM test_COMMAND REPLACE "^TOOL$" "${tool}" OUTPUT_VARIABLE command)
  list(TRANSFORM test_ENVIRONMENT REPLACE "=TOOL$" "=${tool}" OUTPUT_VARIABLE environment)
  # Without BMAD_MEM_ENCODER the tool takes the weights that lie beside it.
  list(APPEND environment PYTHONDONTWRITEBYTECODE=1 BMAD_MEM_ENCODER=)
  if(speed STREQUAL "slow")
    list(APPEND test_LABELS slow)
  endif()
  add_test(NAME ${test} COMMAND ${command})
  set_tests_properties(${test} PROPERTIES
    LABELS "${test_LABELS}" TIMEOUT ${timeout} ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
  if(test_COST)
    set_tests_properties(${test} PROPERTIES COST ${test_COST})
  endif()
  if(test_FIXTURES_REQUIRED)
    set_tests_properties(${test} PROPERTIES FIXTURES_REQUIRED "${test_FIXTURES_REQUIRED}")
  endif()
endfunction()

# bmad_script_test(<name> <script> [as bmad_tool_test]): a Python script that gets the tool's path.
function(bmad_script_test name script)
  bmad_tool_test(${name}
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/${script}" TOOL ${ARGN})
endfunction()

# bmad_crash_test(<name> <source> [as bmad_tool_test]): a test program with the crash harness, which
# gets the tool's path as BMAD_MEM_BINARY. It forks thousands of times, which costs by its size.
function(bmad_crash_test name source)
  set(target test_${name})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE
    bmad_flags bmad_quick_flags bmad_doctest_main bmad_test_support rapidcheck bmad_crash_harness)
  add_dependencies(fast_tests ${target})
  bmad_tool_test(${name} COMMAND ${target} LABELS crash ENVIRONMENT BMAD_MEM_BINARY=TOOL
    ASAN_OPTIONS=quarantine_size_mb=1 ${ARGN})
endfunction()

# The archive with the include roots of all rooms, lib/ for private headers, and tests/ for what
# tests share.
add_library(bmad_insides INTERFACE)
target_link_libraries(bmad_insides INTERFACE
  bmad_mem bmad_fmt nlohmann_json::nlohmann_json)
target_include_directories(bmad_insides INTERFACE
  "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}/tests"
  $<TARGET_PROPERTY:bmad_operations,INTERFACE_INCLUDE_DIRECTORIES>
  $<TARGET_PROPERTY:bmad_hub,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(bmad_insides INTERFACE BMAD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
