# CPackConfig.cmake - the Debian packages bmad-mem and libbmad-mem-dev.
#
# packaging/package.sh passes in its environment what differs: BMAD_BUILD_FOLDER, BMAD_ARCHITECTURE
# (Debian's name), BMAD_VERSION and BMAD_LICENSES.

set(CPACK_GENERATOR DEB)
set(CPACK_CMAKE_GENERATOR Ninja)
set(CPACK_PACKAGE_NAME bmad-mem)
set(CPACK_PACKAGE_VERSION "$ENV{BMAD_VERSION}")
set(CPACK_PACKAGE_FILE_NAME bmad-mem)  # Asked for, and not used.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "file-based memory for software agents")
set(CPACK_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION_SUMMARY}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "$ENV{BMAD_BUILD_FOLDER};bmad_mem;ALL;/")
set(CPACK_COMPONENTS_ALL tool library)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_CURRENT_LIST_DIR}/add_documents.cmake")
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
  GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "$ENV{BMAD_ARCHITECTURE}")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "bmad-mem maintainers <maintainers@bmad-mem.dev>")
set(CPACK_DEBIAN_PACKAGE_HOMEPAGE "https://bmad-mem.dev")
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME bmad-mem)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_DESCRIPTION "bmad-mem stores messages, decisions, findings and facts of coding agents as
JSON lines in the project, redacts secrets before it writes, and searches
them. It has a command line, hooks and an MCP server for agents, and a web
interface for this computer. It needs no daemon, database or network.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libbmad-mem-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS
  "libxxhash-dev, libstemmer-dev, libutf8proc-dev, libarchive-dev, \
zlib1g-dev, libre2-dev, libsodium-dev, libyaml-dev")
# The headers include <expected>, which libstdc++ has since GCC 12.
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "g++ (>= 4:12)")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "This package has the headers, the static archive and the CMake package of
bmad-mem, for C++23 programs: find_package(bmad_mem). The headers include
<expected>, so they need g++ 12 or later.")
