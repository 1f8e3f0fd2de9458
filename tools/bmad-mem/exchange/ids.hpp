// ids.hpp - ids for what comes from elsewhere.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::cli {

/// `path` in Unicode's form NFC. macOS, and what syncs its files, name "Müll.md" in NFD: letter and
/// accent apart. What has its id from the name of a file has the same one there.
std::string composed(std::string_view path);

/// Whether the engine takes `id` for an entry: letters, digits and _.:@+=~-, at most 128.
bool is_usable_id(std::string_view id);

/// `prefix` and 26 characters made from `content`: the same content has the same id, so that
/// importing it again adds nothing. 128 bits, for content that nobody has made to collide.
std::string content_id(std::string_view prefix, std::string_view content);

/// `name` as a session id: lower case, what is not allowed replaced by '-', at most 64 long.
std::string session_id_from(std::string_view prefix, std::string_view name);

/// SHA-256 (FIPS 180-4) in 64 hexadecimal digits, lower case, for names that other programs make
/// with it. Not for secrets: it takes no care of timing.
std::string sha256_hex(std::string_view text);

}  // namespace bmad_mem::cli
