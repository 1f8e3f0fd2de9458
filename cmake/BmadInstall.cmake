# 'cmake --install': the archive, the public headers, the tool, and a package that
# find_package(bmad_mem) finds. The tool with its documents is the component "tool", the rest "library".

include(CMakePackageConfigHelpers)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/bmad_mem")
install(TARGETS bmad_mem EXPORT bmad_mem_targets FILE_SET HEADERS)
install(EXPORT bmad_mem_targets NAMESPACE bmad_mem:: DESTINATION "${package_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/bmad_memConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/package/bmad_memConfig.cmake"
  INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/bmad_memConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/package/bmad_memConfig.cmake"
  "${PROJECT_BINARY_DIR}/package/bmad_memConfigVersion.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindxxHash.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findlibstemmer.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findutf8proc.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findlibarchive.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findlibz.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findlibre2.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findlibsodium.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/Findlibyaml.cmake"
  DESTINATION "${package_dir}")

if(TARGET bmad-mem)
  install(TARGETS bmad-mem COMPONENT tool)
  if(TARGET bmad-mem-hub)
    install(TARGETS bmad-mem-hub COMPONENT hub)
  endif()
endif()
