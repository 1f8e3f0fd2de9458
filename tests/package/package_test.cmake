# package_test.cmake - the installed package serves a program outside of this source tree.
#
# The prefix holds the installed files alone, so a public header that includes a private one, or an
# archive that misses an object, fails here and nowhere else.

cmake_minimum_required(VERSION 3.25)

function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message("${output}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the package test failed to ${what}: ${status}")
  endif()
endfunction()

file(REMOVE_RECURSE "${WORK}")
run("install" "${CMAKE_COMMAND}" --install "${BUILD_FOLDER}" --prefix "${WORK}/prefix"
    --config "${CONFIG}")

file(GLOB_RECURSE headers RELATIVE "${WORK}/prefix/include" "${WORK}/prefix/include/*")
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^bmad_mem/[a-z0-9_]+[.]hpp$")
    message(FATAL_ERROR "a header that is not public was installed: ${header}")
  endif()
endforeach()

run("configure the outside program" "${CMAKE_COMMAND}" -S "${OUTSIDE}" -B "${WORK}/build"
    -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_BUILD_TYPE=${CONFIG}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
run("build the outside program" "${CMAKE_COMMAND}" --build "${WORK}/build")
run("run the outside program" "${WORK}/build/outside" "${WORK}/memory")
