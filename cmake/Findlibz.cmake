# This finds zlib as the target libz::libz, and prefers the static archive; CMake's own module for it takes either
# kind and no other. It is installed too, beside bmad_memConfig.cmake.

find_path(libz_INCLUDE_DIR zlib.h)
find_library(libz_LIBRARY NAMES libz.a z)
mark_as_advanced(libz_INCLUDE_DIR libz_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libz REQUIRED_VARS libz_LIBRARY libz_INCLUDE_DIR)

if(libz_FOUND AND NOT TARGET libz::libz)
  add_library(libz::libz UNKNOWN IMPORTED)
  set_target_properties(libz::libz PROPERTIES
    IMPORTED_LOCATION "${libz_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libz_INCLUDE_DIR}")
endif()
