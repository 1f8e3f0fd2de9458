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

// Narrower: under a name, "123456" is most likely a sample; between a user and a host, or behind
// "Cookie: session=", it is somebody's weak password.

/// Whether `value` is what stands in an example or a template in the place of a secret: "<token>",
/// "${TOKEN}", "%s", "xxxx", "****", "[REDACTED:x]", or made of words such as "your-api-key".
bool is_stand_in(std::string_view value);

/// Whether `value` is made of words of examples and digits: "token123", "my_secret_token_1".
bool is_example_word(std::string_view value);

}  // namespace bmad_mem
