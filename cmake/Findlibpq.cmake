# libpq has no CMake package. This finds it as the target libpq::libpq. Debian's archive of it lacks
# what it needs itself, so it is linked as a shared library, and never into the static tool.

find_path(libpq_INCLUDE_DIR libpq-fe.h PATH_SUFFIXES postgresql)
find_library(libpq_LIBRARY NAMES pq)
mark_as_advanced(libpq_INCLUDE_DIR libpq_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libpq REQUIRED_VARS libpq_LIBRARY libpq_INCLUDE_DIR)

if(libpq_FOUND AND NOT TARGET libpq::libpq)
  add_library(libpq::libpq UNKNOWN IMPORTED)
  set_target_properties(libpq::libpq PROPERTIES
    IMPORTED_LOCATION "${libpq_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libpq_INCLUDE_DIR}")
endif()
