#include "reading_tools.hpp"

#include <optional>
#include <utility>

namespace bmad_mem {

Result<ReadingTools*> reading_tools(std::string_view language) {
  thread_local std::string known_language;
  thread_local std::optional<ReadingTools> tools;
  if (!tools || known_language != language) {
    BMAD_TRY_ASSIGN(Analyzer analyzer, Analyzer::create(language));
    tools.reset();
    tools.emplace(
        ReadingTools{.analyzer = std::move(analyzer), .known_terms = {}, .parser = {}, .text = {}});
    known_language = language;
  }
  return &*tools;
}

}  // namespace bmad_mem
