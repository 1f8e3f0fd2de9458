# bmad_room(<name> [SOURCES ...] [HEADERS ...] [USES <room>...] [THIRD_PARTY <target>...])
#
# One room of lib/: the target bmad_<name>, with its own include root, so that a room sees the doors
# of the rooms it uses and no others. An OBJECT library, whose objects go into the one archive
# libbmad_mem.a; a room without sources is an INTERFACE target until it has some.
#
# USES: the rooms whose headers it includes; what those use comes along.
# THIRD_PARTY: libraries that enter through this room and stay inside it.
#
# Its lists of words, words/*.txt, are compiled in as "<name>_words.hpp": see base/word_list.hpp.
function(bmad_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;HEADERS;USES;THIRD_PARTY")
  if(room_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "bmad_room(${name}): unknown arguments ${room_UNPARSED_ARGUMENTS}")
  endif()
  set(target bmad_${name})
  list(TRANSFORM room_USES PREPEND bmad_)
  if(room_SOURCES)
    add_library(${target} OBJECT ${room_SOURCES})
    bmad_unity(${target})
    bmad_precompile(${target})
    if(BMAD_SANITIZE)  # What is changed while the tests are run again and again.
      set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
    endif()
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE bmad_flags ${room_THIRD_PARTY})
    # A folder of the room includes another's private header as "folder/header.hpp".
    target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
    set_property(GLOBAL APPEND PROPERTY BMAD_ROOM_OBJECTS $<TARGET_OBJECTS:${target}>)
    file(GLOB words CONFIGURE_DEPENDS words/*.txt)
    if(words)
      bmad_embed(${target} embed_words.cmake ${name}_words.hpp ${words})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} bmad_api ${room_USES})
  if(room_HEADERS)
    target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS include FILES ${room_HEADERS})
    # The generated sources that include one header each need the flags as well.
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  else()
    target_include_directories(${target} ${scope} "${CMAKE_CURRENT_SOURCE_DIR}/include")
  endif()
endfunction()

# bmad_made_early(<file>...)
#
# Lets the commands that make these files run at once. CMake makes such a command wait for what all
# targets that have the file depend on in common, here a room for all lower rooms, and the compiler
# then waits for the file; a target that depends on nothing leaves nothing in common.
function(bmad_made_early)
  foreach(file IN LISTS ARGN)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_BINARY_DIR}" OUTPUT_VARIABLE name)
    string(MAKE_C_IDENTIFIER "bmad_make_${name}" name)
    add_custom_target(${name} DEPENDS "${file}")
  endforeach()
endfunction()

# bmad_embed(<target> <script> <output> <file>...)
#
# The source or header <output> of <target>, which cmake/<script> makes of the files while building.
function(bmad_embed target script output)
  set(path "${CMAKE_CURRENT_BINARY_DIR}/${output}")
  add_custom_command(
    OUTPUT "${path}"
    COMMAND "${CMAKE_COMMAND}" "-DFILES=${ARGN}" "-DOUTPUT=${path}"
            -P "${PROJECT_SOURCE_DIR}/cmake/${script}"
    DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/${script}"
    COMMENT "Making ${output}"
    VERBATIM)
  bmad_made_early("${path}")
  target_sources(${target} PRIVATE "${path}")
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()

# Every .cpp under lib/, tools/ and tests/ must belong to a target, and every header in a room's
# include root to its FILE_SET: one that was forgotten would otherwise be built by nobody.
function(bmad_check_sources_listed)
  set(listed "")
  bmad_collect_sources("${PROJECT_SOURCE_DIR}" listed)
  set(folders lib)
  if(BMAD_BUILD_TOOLS AND BMAD_BUILD_BENCH)
    list(APPEND folders tools)
  endif()
  if(BMAD_BUILD_TESTS)
    list(APPEND folders tests)
  endif()
  # Programs of their own, built by their own tests.
  set(elsewhere "/tests/(package|fuzz)/")
  if(NOT BMAD_BUILD_BENCH)
    set(elsewhere "/tests/(package|fuzz|bench)/")
  endif()
  if(NOT libpq_FOUND)
    string(APPEND elsewhere "|/hub_postgres/|/postgres_server/")
  endif()
  set(missing "")
  foreach(folder IN LISTS folders)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS
      "${PROJECT_SOURCE_DIR}/${folder}/*.cpp" "${PROJECT_SOURCE_DIR}/${folder}/include/*.hpp")
    foreach(file IN LISTS found)
      if(NOT file IN_LIST listed AND NOT file MATCHES "${elsewhere}")
        cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
        string(APPEND missing "\n  ${file}")
      endif()
    endforeach()
  endforeach()
  if(missing)
    message(${BMAD_UNLISTED_SOURCES} "These files are listed in no CMakeLists.txt:${missing}\n"
      "(while you add files, -DBMAD_UNLISTED_SOURCES=WARNING makes this a warning)")
  endif()
endfunction()

function(bmad_collect_sources folder result)
  get_property(targets DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(base ${target} SOURCE_DIR)
    foreach(property IN ITEMS SOURCES HEADER_SET)
      get_target_property(files ${target} ${property})
      if(files)
        foreach(file IN LISTS files)
          if(NOT file MATCHES "^\\$<")
            cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${base}" NORMALIZE)
            list(APPEND ${result} "${file}")
          endif()
        endforeach()
      endif()
    endforeach()
  endforeach()
  get_property(folders DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
  foreach(child IN LISTS folders)
    bmad_collect_sources("${child}" ${result})
  endforeach()
  set(${result} "${${result}}" PARENT_SCOPE)
endfunction()

# Whether an unlisted source is an error; WARNING suits someone in the middle of adding files.
set(BMAD_UNLISTED_SOURCES FATAL_ERROR CACHE STRING "What an unlisted source is: FATAL_ERROR or WARNING")
mark_as_advanced(BMAD_UNLISTED_SOURCES)
