# bmad_operation_table(<part> <output>)
#
# Makes <output> in the current binary folder from the operation table, lib/operations/table/*.toml,
# with lib/operations/generate.cpp. That program runs on the machine that builds, also when the build
# is for another one, and needs no library but toml++. What else lies beside toml++, perhaps another
# machine's C library, comes last.
find_program(BMAD_HOST_CXX NAMES c++ g++ clang++ REQUIRED)
mark_as_advanced(BMAD_HOST_CXX)

set(BMAD_TABLE_PROGRAM "${PROJECT_BINARY_DIR}/make_operation_tables")
set(bmad_table_source "${PROJECT_SOURCE_DIR}/lib/operations/generate.cpp")
add_custom_command(
  OUTPUT "${BMAD_TABLE_PROGRAM}"
  COMMAND "${BMAD_HOST_CXX}" -std=c++20 -O0 -idirafter "${BMAD_TOMLPLUSPLUS_INCLUDE}" "${bmad_table_source}"
          -o "${BMAD_TABLE_PROGRAM}"
  DEPENDS "${bmad_table_source}"
  COMMENT "Building the program that makes the operation tables"
  VERBATIM)
add_custom_target(bmad_table_program DEPENDS "${BMAD_TABLE_PROGRAM}")

# In the order in which interfaces list them.
set(BMAD_OPERATION_TABLES parameters reading knowledge writing sessions care connecting hub tool results)
list(TRANSFORM BMAD_OPERATION_TABLES PREPEND "${PROJECT_SOURCE_DIR}/lib/operations/table/")
list(TRANSFORM BMAD_OPERATION_TABLES APPEND ".toml")

function(bmad_operation_table part output)
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${folder}")
  add_custom_command(
    OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${output}"
    COMMAND "${BMAD_TABLE_PROGRAM}" ${part} "${CMAKE_CURRENT_BINARY_DIR}/${output}"
            ${BMAD_OPERATION_TABLES}
    DEPENDS bmad_table_program "${BMAD_TABLE_PROGRAM}" ${BMAD_OPERATION_TABLES}
    COMMENT "Making ${output} from the operation table"
    VERBATIM)
  bmad_made_early("${CMAKE_CURRENT_BINARY_DIR}/${output}")
endfunction()

# The pages of docs/reference/, made in the build folder: `./dev reference` copies them, a test
# compares them.
set(pages "")
foreach(page IN ITEMS commands endpoints tools)
  bmad_operation_table(${page}_page reference/${page}.md)
  list(APPEND pages "${CMAKE_CURRENT_BINARY_DIR}/reference/${page}.md")
endforeach()
add_custom_target(bmad_reference ALL DEPENDS ${pages})
