// snippet_candidates.hpp - from hits to dated snippets with what was said around them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "context_candidates.hpp"
#include "said_texts.hpp"

namespace bmad_mem {

class SnippetMaker {
 public:
  /// Both must outlive it. What it makes, it adds to `said`.
  SnippetMaker(const ContextRules& rules, SaidTexts& said) : rules_(rules), said_(said) {}

  /// The snippet of `hit`; nothing when it must not be told, or tells nothing new: then it is among
  /// the omitted. A neighbour that is to be quoted makes all of it data.
  std::optional<ContextCandidate> make(ContextSection section, const Hit& hit, std::string why,
                                       std::vector<ContextOmission>& omitted);

 private:
  bool add_neighbours(const std::vector<Entry>& entries, std::vector<std::string>& lines);
  [[nodiscard]] bool may_be_told(const Entry& entry, const Result<JsonValue>& value) const;

  const ContextRules& rules_;
  SaidTexts& said_;
  JsonParser parser_;
};

}  // namespace bmad_mem
