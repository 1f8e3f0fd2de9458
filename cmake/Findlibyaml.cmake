# libyaml has no CMake package in Debian. This finds it as the target libyaml::libyaml, and prefers the
# static archive. It is installed too, beside bmad_memConfig.cmake.

find_path(libyaml_INCLUDE_DIR yaml.h)
find_library(libyaml_LIBRARY NAMES libyaml.a yaml)
mark_as_advanced(libyaml_INCLUDE_DIR libyaml_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libyaml REQUIRED_VARS libyaml_LIBRARY libyaml_INCLUDE_DIR)

if(libyaml_FOUND AND NOT TARGET libyaml::libyaml)
  add_library(libyaml::libyaml UNKNOWN IMPORTED)
  set_target_properties(libyaml::libyaml PROPERTIES
    IMPORTED_LOCATION "${libyaml_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${libyaml_INCLUDE_DIR}")
endif()
