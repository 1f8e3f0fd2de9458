// innocent.hpp - texts that look random and are not secret: a redactor that takes them out destroys
// what it should keep.
#pragma once

#include <string_view>

namespace bmad_mem {

/// Whether `value`, as a whole, has a shape that is public by nature: a git hash (7 to 40, or 64,
/// hexadecimal digits), UUID, ULID, digest ("sha256:…", "sha512-…"), ETag, trace id, data URI,
/// identifier in code, path, URL without credentials, colour, date, number, version, id of ours.
bool is_public_shape(std::string_view value);

/// Whether `value` stands where a secret would and is none: empty, "${X}", "$X", "{{x}}", "%X%",
/// "<your-key>", "xxxx", "****", "changeme", "EXAMPLE", "null", "process.env.X", "[REDACTED:x]".
bool is_placeholder(std::string_view value);

}  // namespace bmad_mem
