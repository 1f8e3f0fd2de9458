# bmad_test(<name> SOURCES ... [LABELS unit|crash|process|slow...] [LIBS ...] [TIMEOUT seconds])
#
# One test program test_<name>, registered as one CTest <name>. Tests see the insides of every room:
# "core/ids.hpp" is a door, "core/ids_detail.hpp" a private header beside its source.
# They get BMAD_SOURCE_DIR, and the built tool as BMAD_MEM_BINARY.
set(BMAD_TEST_PREFIX "" CACHE STRING
    "Put before each test's name, to tell builds apart that are run together")
function(bmad_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT" "SOURCES;LABELS;LIBS")
  if(test_UNPARSED_ARGUMENTS OR NOT test_SOURCES)
    message(FATAL_ERROR "bmad_test(${name}): no sources, or unknown arguments: "
                        "${test_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT test_LABELS)
    set(test_LABELS unit)
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 300)
  endif()
  set(target test_${name})
  add_executable(${target} ${test_SOURCES})
  target_link_libraries(${target} PRIVATE
    bmad_flags bmad_doctest_main bmad_test_support rapidcheck ${test_LIBS})
  if(TARGET bmad-mem)
    add_dependencies(${target} bmad-mem)
  endif()
  set(test ${BMAD_TEST_PREFIX}${name})
  add_test(NAME ${test} COMMAND ${target})
  set_tests_properties(${test} PROPERTIES LABELS "${test_LABELS}" TIMEOUT ${test_TIMEOUT})
  if(NOT "slow" IN_LIST test_LABELS)
    # The same properties are tried with the same values each time: what fails was broken by the
    # change at hand. Slow tests, and a test program started by hand, look for new ones.
    set_tests_properties(${test} PROPERTIES ENVIRONMENT RC_PARAMS=seed=1)
  endif()
endfunction()

# The archive with the include roots of all rooms, lib/ for private headers, and tests/ for what
# tests share.
add_library(bmad_insides INTERFACE)
target_link_libraries(bmad_insides INTERFACE
  bmad_mem bmad_fmt nlohmann_json::nlohmann_json)
target_include_directories(bmad_insides INTERFACE
  "${PROJECT_SOURCE_DIR}/lib" "${PROJECT_SOURCE_DIR}/tests"
  $<TARGET_PROPERTY:bmad_engine,INTERFACE_INCLUDE_DIRECTORIES>)
target_compile_definitions(bmad_insides INTERFACE BMAD_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
if(TARGET bmad-mem)
  target_compile_definitions(bmad_insides INTERFACE BMAD_MEM_BINARY="$<TARGET_FILE:bmad-mem>")
endif()

# bmad_fuzz(<name> SOURCES ...): a libFuzzer target fuzz_<name>; needs clang and BMAD_BUILD_FUZZ.
function(bmad_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 fuzz "" "" "SOURCES")
  add_executable(fuzz_${name} ${fuzz_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE bmad_flags bmad_insides)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(fuzz_${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()
