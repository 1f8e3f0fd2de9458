# Makes a C++ source with a text file as a string: see tools/bmad-mem/http/endpoint.hpp.
#
#   cmake -DFILE=schemas.json -DHEADER=http/endpoint.hpp -DFUNCTION=openapi_parts -DOUTPUT=x.cpp
#         -P cmake/embed_text.cmake
#
# -DNAMESPACE=NAME: that of the function, where it is not bmad_mem::cli.
cmake_policy(VERSION 3.25)

if(NOT DEFINED NAMESPACE)
  set(NAMESPACE bmad_mem::cli)
endif()
file(READ "${FILE}" text)
# A literal may have 65,536 characters; indentation is for people. A blank is left before members of
# members, so that those of the whole begin a line (cli/view_text.cpp).
if(FILE MATCHES "[.]json$")
  string(REGEX REPLACE "\n     +" "\n " text "${text}")
  string(REGEX REPLACE "\n  +" "\n" text "${text}")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT [[
// Made by cmake/embed_text.cmake.
#include "@HEADER@"

namespace @NAMESPACE@ {

std::string_view @FUNCTION@() {
  return R"embedded(@text@)embedded";
}

}  // namespace @NAMESPACE@
]] @ONLY)
