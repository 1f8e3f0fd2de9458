# This finds libarchive as the target libarchive::libarchive, and prefers the static archive, which CMake's own module
# for it cannot do. It is installed too, beside bmad_memConfig.cmake.
#
# The static archive refers to other libraries (OpenSSL, libxml2, lzma …) for formats and filters that we do not use.
# What writes tar drags in the table of all formats by one small function beside it; with --gc-sections the table and
# all behind it are dropped again, and nothing of those libraries is asked for. So the flag is part of the target.

find_path(libarchive_INCLUDE_DIR archive_entry.h)
find_library(libarchive_LIBRARY NAMES libarchive.a archive)
mark_as_advanced(libarchive_INCLUDE_DIR libarchive_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libarchive REQUIRED_VARS libarchive_LIBRARY libarchive_INCLUDE_DIR)

if(libarchive_FOUND AND NOT TARGET libarchive::libarchive)
  add_library(libarchive::libarchive UNKNOWN IMPORTED)
  set_target_properties(libarchive::libarchive PROPERTIES
    IMPORTED_LOCATION "${libarchive_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libarchive_INCLUDE_DIR}")
  if(libarchive_LIBRARY MATCHES "[.]a$")
    set_property(TARGET libarchive::libarchive APPEND PROPERTY
      INTERFACE_LINK_LIBRARIES "-Wl,--gc-sections")
  endif()
endif()
