# This finds zstd as the target libzstd::libzstd, and prefers the static archive; its own package file names either kind
# by another target, and Debian's 12 has none.

find_path(libzstd_INCLUDE_DIR zstd.h)
find_library(libzstd_LIBRARY NAMES libzstd.a zstd)
mark_as_advanced(libzstd_INCLUDE_DIR libzstd_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libzstd REQUIRED_VARS libzstd_LIBRARY libzstd_INCLUDE_DIR)

if(libzstd_FOUND AND NOT TARGET libzstd::libzstd)
  add_library(libzstd::libzstd UNKNOWN IMPORTED)
  set_target_properties(libzstd::libzstd PROPERTIES
    IMPORTED_LOCATION "${libzstd_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libzstd_INCLUDE_DIR}")
endif()
