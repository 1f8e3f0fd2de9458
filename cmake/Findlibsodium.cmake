# libsodium has no CMake package in Debian. This finds it as the target libsodium::libsodium, and prefers the
# static archive. It is installed too, beside bmad_memConfig.cmake.

find_path(libsodium_INCLUDE_DIR sodium.h)
find_library(libsodium_LIBRARY NAMES libsodium.a sodium)
mark_as_advanced(libsodium_INCLUDE_DIR libsodium_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libsodium REQUIRED_VARS libsodium_LIBRARY libsodium_INCLUDE_DIR)

if(libsodium_FOUND AND NOT TARGET libsodium::libsodium)
  add_library(libsodium::libsodium UNKNOWN IMPORTED)
  set_target_properties(libsodium::libsodium PROPERTIES
    IMPORTED_LOCATION "${libsodium_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libsodium_INCLUDE_DIR}")
endif()
