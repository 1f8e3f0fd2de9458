// stand_in.hpp - words that people write where a secret would stand.
//
// Narrower than is_placeholder(): under a name, "123456" is most likely a sample; between a user
// and a host, or behind "Cookie: session=", it is somebody's weak password.
#pragma once

#include <string_view>

namespace bmad_mem {

/// Whether `value` is what stands in an example or a template in the place of a secret: "<token>",
/// "${TOKEN}", "%s", "xxxx", "****", "[REDACTED:x]", or made of words such as "your-api-key".
bool is_stand_in(std::string_view value);

/// Whether `value` is made of words of examples and digits: "token123", "my_secret_token_1".
bool is_example_word(std::string_view value);

}  // namespace bmad_mem
