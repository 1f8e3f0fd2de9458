// snippet_maker.hpp - from hits to dated snippets, with what was asked or said beside them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/json_parser.hpp"
#include "context/context_builder.hpp"
#include "context/said_texts.hpp"
#include "model/statement.hpp"

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
  bool add_request(const Entry& before, ContextCandidate& candidate);
  bool add_beside(std::string_view where, const Entry& entry, ContextCandidate& candidate);
  [[nodiscard]] bool was_told(const Entry& entry) const;
  [[nodiscard]] EntryTrust trust_of(const Entry& entry, JsonValue value) const {
    return entry_trust(entry.type, value,
                       rules_.origin_of ? rules_.origin_of(entry, value) : Origin::kAccepted);
  }
  [[nodiscard]] bool may_be_told(const Entry& entry, const Result<JsonValue>& value) const;

  const ContextRules& rules_;
  SaidTexts& said_;
  JsonParser parser_;
};

}  // namespace bmad_mem
