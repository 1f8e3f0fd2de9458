// innocent.hpp - texts that look random and are not secret: a redactor that takes them out destroys
// what it should keep. And whether a text was drawn at random, or written by somebody:
//
//   log2 P(drawn evenly from its alphabet) - log2 P(written)      "Xk9mQ2vT7pLw"  +20 bits
//                                                                 "AccessTokenId" -17 bits
//
// Shannon's entropy of a short text says little: "AccessTokenId" has 3.2 bits a byte, a random text
// of that size 3.4. A model of how letters follow each other in names and words, and classes of
// characters (aB, b3, 3_), tells them apart from 10 bytes on, without a dictionary.
#pragma once

#include <cstddef>
#include <string_view>

namespace bmad_mem {

// innocent.cpp

/// Whether `value`, as a whole, has a shape that is public by nature: a git hash (7 to 40, or 64,
/// hexadecimal digits), UUID, ULID, digest ("sha256:…", "sha512-…"), ETag, trace id, data URI,
/// identifier in code, path, URL without credentials, colour, date, number, version, id of ours.
bool is_public_shape(std::string_view value);

/// Whether `value` is an id as ours are: "msg-01kaxx8v04q7m2s".
bool is_own_id(std::string_view value);

/// Whether `value` stands where a secret would and is none: empty, "${X}", "$X", "{{x}}", "%X%",
/// "<your-key>", "xxxx", "****", "changeme", "EXAMPLE", "null", "process.env.X", "[REDACTED:x]".
bool is_placeholder(std::string_view value);

/// Whether `value` says itself that somebody has to put a secret there: a template, a reference, a
/// mask, "changeme", "your-key-here", AKIAIOSFODNN7EXAMPLE. Narrower than is_placeholder(), for
/// values whose name or format speaks of a secret: there a sequence or a word is somebody's choice.
bool is_unfilled(std::string_view value);

// Narrower: under a name, "123456" is most likely a sample; between a user and a host, or behind
// "Cookie: session=", it is somebody's weak password.

/// Whether `value` is what stands in an example or a template in the place of a secret: "<token>",
/// "${TOKEN}", "%s", "xxxx", "****", "[REDACTED:x]", or made of words such as "your-api-key".
bool is_stand_in(std::string_view value);

/// is_stand_in() where a password has to stand, as between a user and a host: there "secret" and
/// "mysecretpassword" are somebody's, and "password" is not.
bool stands_for_password(std::string_view value);

/// Whether `value` is a word that people choose as a password, in any case: "dragon". The second
/// one has also those that settings come with, such as "root".
bool is_chosen_word(std::string_view value);
bool is_common_password(std::string_view value);

/// Why `value`, a secret where it is named, is no evidence of one elsewhere: "a common word", "a
/// short number"; empty when it is.
std::string_view why_common(std::string_view value);

/// Whether `value` is made of words of examples and digits: "token123", "my_secret_token_1".
bool is_example_word(std::string_view value);

// randomness.cpp

/// What random texts of 12 bytes reach in 49 of 50 cases, and identifiers in 1 of 60.
inline constexpr double kRandomBits = 6;

/// Bits by which it is likelier that `value` was drawn than written; below 0: it was written.
/// Bytes beyond ASCII count as symbols. 0 for an empty text.
double randomness_bits(std::string_view value);

/// Shannon entropy of the bytes of `text`, in bits a byte: -sum p log2 p. 0 for an empty text.
double shannon_entropy(std::string_view text);

/// How a value is made up.
struct Shape {
  std::size_t lower = 0;
  std::size_t upper = 0;
  std::size_t digits = 0;
  /// Neighbours of different kinds among the letters and digits: few in words, many in keys.
  std::size_t turns = 0;
};
Shape shape_of(std::string_view value);

/// Whether a machine rather than a person chose `value`: its kinds of letters change often.
bool looks_random(std::string_view value);

/// Whether `value` is mixed as generated passwords with punctuation are: three of the four kinds of
/// characters, signs among them, that change often, and no word. No pattern, no format of a text.
bool is_scrambled(std::string_view value);

}  // namespace bmad_mem
