// main.cpp - an outside program: it includes public headers and links bmad_mem::bmad_mem.

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bmad_mem/result.hpp"

namespace {

bmad_mem::Result<int> parse_digit(char c) {
  if (c < '0' || c > '9') {
    return bmad_mem::Error{.code = bmad_mem::ErrorCode::E_INVALID_FORMAT,
                           .message = "this is not a digit",
                           .path = "input",
                           .line = 3};
  }
  return c - '0';
}

}  // namespace

int main() {
  const auto digit = parse_digit('7');
  const auto error = parse_digit('x');
  if (!digit || *digit != 7 || error) {
    return EXIT_FAILURE;
  }
  std::printf("%s: %s\n", std::string(error_code_name(error.error().code)).c_str(),
              error.error().to_string().c_str());
  return EXIT_SUCCESS;
}
