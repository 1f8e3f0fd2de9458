// search_text.hpp - what of an entry is searched, so that others can be given the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json_value.hpp"

namespace bmad_mem::bench {

/// The searched fields of an entry, one a line, as docs/ and the schemas name them.
std::string searched_text(EntryType type, JsonValue entry);

/// `text` with identifiers in parts, since ours finds them by their parts and others don't:
/// "getUserById user_id" becomes "get User By Id user id".
std::string text_for_others(std::string_view text);

/// The words of a text that every tokenizer agrees upon: ASCII letters between blanks and marks, 3
/// to 16 of them, lower case, no function word of English; each once, sorted. Parts of identifiers,
/// paths and numbers are left out, since others split those differently.
std::vector<std::string> plain_words(std::string_view text);

}  // namespace bmad_mem::bench
