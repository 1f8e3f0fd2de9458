# add_documents.cmake - what Debian's policy wants in a package, and other packages do not have.
#
# CPack runs this when the files of each package lie ready in a folder named after its component.

# Packed without a name and a time, so that equal input gives equal bytes.
function(pack file)
  execute_process(COMMAND gzip -n9 "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # That of SOURCE_DATE_EPOCH.

function(add_documents component package)
  set(doc "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr/share/doc/${package}")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/copyright" "${doc}/copyright" COPYONLY)
  configure_file("$ENV{BMAD_LICENSES}" "${doc}/THIRD-PARTY-LICENSES" COPYONLY)
  pack("${doc}/THIRD-PARTY-LICENSES")
  file(WRITE "${doc}/changelog"
    "bmad-mem (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
    "  * Release ${CPACK_PACKAGE_VERSION}; its changes are in CHANGELOG.md of the sources.\n\n"
    " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${date}\n")
  pack("${doc}/changelog")
endfunction()

add_documents(tool bmad-mem)
add_documents(library libbmad-mem-dev)
set(share "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/tool/usr/share")
pack("${share}/man/man1/bmad-mem.1")
file(WRITE "${share}/lintian/overrides/bmad-mem"
  "# Hooks start it for each call: without shared libraries it starts in a third of the time.\n"
  "bmad-mem: statically-linked-binary [usr/bin/bmad-mem]\n"
  "bmad-mem: embedded-library * [usr/bin/bmad-mem]\n")
