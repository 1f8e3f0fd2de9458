# bmad_operation_table(<part> <output>)
#
# Makes <output> in the current binary folder from the operation table, lib/operations/table/*.toml,
# with lib/operations/generate.py. Python runs on the machine that builds, also when the build is for
# another one.
#
# Where Debian's Python is there, it is taken: it sees Debian's jsonschema, which the tests need, and
# starts at once, which one behind a version manager does not.
if(NOT DEFINED Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 3.11 QUIET COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(FATAL_ERROR "Python 3.11 or newer is needed to make the tables of operations, and was not found: "
    "install Debian's package python3, or name another one with -DPython3_EXECUTABLE=/path/to/python3")
endif()

set(BMAD_TABLE_SCRIPTS generate interface_json operation_tables reference_pages)
list(TRANSFORM BMAD_TABLE_SCRIPTS PREPEND "${PROJECT_SOURCE_DIR}/lib/operations/")
list(TRANSFORM BMAD_TABLE_SCRIPTS APPEND ".py")
list(GET BMAD_TABLE_SCRIPTS 0 BMAD_TABLE_COMMAND)
# -B: no compiled modules beside the sources.
list(PREPEND BMAD_TABLE_COMMAND "${Python3_EXECUTABLE}" -B)

# In the order in which interfaces list them.
set(BMAD_OPERATION_TABLES parameters reading knowledge writing sessions care connecting hub tool results)
list(TRANSFORM BMAD_OPERATION_TABLES PREPEND "${PROJECT_SOURCE_DIR}/lib/operations/table/")
list(TRANSFORM BMAD_OPERATION_TABLES APPEND ".toml")

function(bmad_operation_table part output)
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/${folder}")
  add_custom_command(
    OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/${output}"
    COMMAND ${BMAD_TABLE_COMMAND} ${part} "${CMAKE_CURRENT_BINARY_DIR}/${output}"
            ${BMAD_OPERATION_TABLES}
    DEPENDS ${BMAD_TABLE_SCRIPTS} ${BMAD_OPERATION_TABLES}
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
