# bmad_tool(<name> SOURCES ... [LIBS ...]): one program of tools/, in the build folder itself.
#
# A tool sees the public headers only: it links bmad_mem::bmad_mem like any outside program. With
# BMAD_STATIC_TOOL it is linked without shared libraries where that is possible, because an agent's
# hook starts it anew for each call: about 0.3 ms instead of 1 ms until main().
function(bmad_tool name)
  cmake_parse_arguments(PARSE_ARGV 1 tool "DYNAMIC" "" "SOURCES;LIBS")
  add_executable(${name} ${tool_SOURCES})
  target_link_libraries(${name} PRIVATE
    bmad_flags bmad_mem::bmad_mem bmad_fmt ${tool_LIBS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  target_link_options(${name} PRIVATE
    $<$<CONFIG:Release>:-s> $<$<CONFIG:Release>:-Wl,--gc-sections>)
  if(BMAD_STATIC_TOOL AND NOT tool_DYNAMIC)
    bmad_why_not_static(reason)
    if(reason)
      message(STATUS "${name}: linked dynamically, because ${reason}")
    else()
      message(STATUS "${name}: linked statically")
      target_link_options(${name} PRIVATE -static)
    endif()
  endif()
endfunction()

function(bmad_why_not_static result)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -static BMAD_HAS_STATIC_LIBC)
  set(reason "")
  if(BMAD_SANITIZE)
    set(reason "sanitizers need shared libraries")
  elseif(BMAD_SIMDJSON_KIND STREQUAL "shared" OR BMAD_FMT_KIND STREQUAL "shared")
    set(reason "simdjson or fmt is a shared library here ('./dev build' fetches their sources)")
  elseif(NOT "${xxHash_LIBRARY};${libstemmer_LIBRARY};${utf8proc_LIBRARY}" MATCHES
         "[.]a;.*[.]a;.*[.]a$")
    set(reason "xxHash, libstemmer or utf8proc is a shared library here")
  elseif(NOT BMAD_HAS_STATIC_LIBC)
    set(reason "there is no static C library")
  endif()
  set(${result} "${reason}" PARENT_SCOPE)
endfunction()
