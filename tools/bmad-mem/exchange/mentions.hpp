// mentions.hpp - the files and symbols that a text names.
//
//   "`requireAuth()` in src/auth.ts comes first"   files: src/auth.ts   symbols: requireAuth
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::cli {

/// Each once, in the order of the text.
struct Mentions {
  std::vector<std::string> files;    ///< As they are written, without ":12" behind them.
  std::vector<std::string> symbols;  ///< The last name of "a::b()" and "a.b()".
};

/// A file is a word with an ending that files of projects have ("src/auth.ts", "Makefile.am"), or a
/// folder with a slash behind it. A symbol is a name with "()" behind it, and one between
/// back-ticks that is written as only code is (snake_case, camelCase, a::b). Addresses and patterns
/// are none.
Mentions mentions_in(std::string_view text);

}  // namespace bmad_mem::cli
