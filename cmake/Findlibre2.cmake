# RE2 has no CMake package in Debian. This finds it as the target libre2::libre2, and prefers the
# static archive. It is installed too, beside bmad_memConfig.cmake.
#
# Since 2023-06 (Debian 13) RE2 is built on Abseil. Its archive then needs Abseil's archives, which
# the library's own package brings; the list is that of re2.pc.

find_path(libre2_INCLUDE_DIR re2/re2.h)
find_library(libre2_LIBRARY NAMES libre2.a re2)
mark_as_advanced(libre2_INCLUDE_DIR libre2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libre2 REQUIRED_VARS libre2_LIBRARY libre2_INCLUDE_DIR)

if(libre2_FOUND AND NOT TARGET libre2::libre2)
  add_library(libre2::libre2 UNKNOWN IMPORTED)
  set_target_properties(libre2::libre2 PROPERTIES
    IMPORTED_LOCATION "${libre2_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libre2_INCLUDE_DIR}")
  file(STRINGS "${libre2_INCLUDE_DIR}/re2/re2.h" libre2_abseil REGEX "^#include \"absl/")
  if(libre2_abseil)
    include(CMakeFindDependencyMacro)
    find_dependency(absl CONFIG)
    foreach(library IN ITEMS
        absl_check absl_log base core_headers fixed_array flags flat_hash_map flat_hash_set hash
        inlined_vector optional span str_format strings synchronization)
      set_property(TARGET libre2::libre2 APPEND PROPERTY
        INTERFACE_LINK_LIBRARIES absl::${library})
    endforeach()
  endif()
endif()
