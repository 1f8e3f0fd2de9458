# toolchain-arm64.cmake - builds for 64-bit ARM on another machine, with Debian's cross compiler.
#
# The libraries are Debian's packages for arm64, unpacked beside the other dependencies
# (cmake/fetch_debian.sh packages); the C and C++ libraries come with the compiler. What is built is
# run by qemu, where the build itself needs it: for the manual page and the completions.

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(sysroot "${CMAKE_CURRENT_LIST_DIR}/../build/deps/sysroot-arm64" ABSOLUTE)
list(APPEND CMAKE_FIND_ROOT_PATH "${sysroot}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Headers that differ between architectures, such as zlib's zconf.h.
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES "${sysroot}/usr/include/aarch64-linux-gnu")

find_program(BMAD_QEMU_ARM64 NAMES qemu-aarch64-static qemu-aarch64)
mark_as_advanced(BMAD_QEMU_ARM64)
if(BMAD_QEMU_ARM64)
  set(CMAKE_CROSSCOMPILING_EMULATOR "${BMAD_QEMU_ARM64}")
endif()
