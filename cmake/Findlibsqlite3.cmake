# CMake finds a shared SQLite only. This finds it as the target libsqlite3::libsqlite3, and prefers the
# static archive. Only the tool is linked with it.

find_path(libsqlite3_INCLUDE_DIR sqlite3.h)
find_library(libsqlite3_LIBRARY NAMES libsqlite3.a sqlite3)
mark_as_advanced(libsqlite3_INCLUDE_DIR libsqlite3_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libsqlite3 REQUIRED_VARS libsqlite3_LIBRARY libsqlite3_INCLUDE_DIR)

if(libsqlite3_FOUND AND NOT TARGET libsqlite3::libsqlite3)
  add_library(libsqlite3::libsqlite3 UNKNOWN IMPORTED)
  set_target_properties(libsqlite3::libsqlite3 PROPERTIES
    IMPORTED_LOCATION "${libsqlite3_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libsqlite3_INCLUDE_DIR}")
endif()
