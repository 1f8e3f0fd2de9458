// inflection.hpp - English endings, with the spelling rules that a stemmer undoes.
#pragma once

#include <string>
#include <string_view>

namespace bmad_mem::bench {

std::string with_s(std::string_view stem);    ///< file -> files, query -> queries, match -> matches
std::string with_ed(std::string_view stem);   ///< store -> stored, retry -> retried
std::string with_ing(std::string_view stem);  ///< store -> storing, run -> running
std::string with_er(std::string_view stem);   ///< write -> writer
std::string with_ly(std::string_view stem);   ///< slow -> slowly, simple -> simply
std::string with_ness(std::string_view stem);  ///< empty -> emptiness

}  // namespace bmad_mem::bench
