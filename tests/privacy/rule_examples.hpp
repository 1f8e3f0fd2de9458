// rule_examples.hpp - reads rule_examples.txt: what the rules for secrets must find and must spare.
//
//   github-pat
//     finds   gh·p_T4yy…
//     spares  ghp_…
#pragma once

#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bmad_mem::test {

/// Of one rule. Without the dots that hide them from other people's scanners.
struct RuleExamples {
  std::vector<std::string> finds;
  std::vector<std::string> spares;
};

/// By the ids of the rules.
inline std::map<std::string, RuleExamples, std::less<>> read_rule_examples() {
  constexpr std::string_view kFinds = "  finds   ";
  constexpr std::string_view kSpares = "  spares  ";
  constexpr std::string_view kDot = "\u00b7";
  std::map<std::string, RuleExamples, std::less<>> all;
  RuleExamples* rule = nullptr;
  std::ifstream file(BMAD_SOURCE_DIR "/tests/privacy/rule_examples.txt");
  for (std::string line; std::getline(file, line);) {
    for (std::size_t dot = 0; (dot = line.find(kDot, dot)) != std::string::npos;) {
      line.erase(dot, kDot.size());
    }
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    if (!line.starts_with(' ')) {
      rule = &all[line];
    } else if (rule != nullptr && line.starts_with(kFinds)) {
      rule->finds.push_back(line.substr(kFinds.size()));
    } else if (rule != nullptr && line.starts_with(kSpares)) {
      rule->spares.push_back(line.substr(kSpares.size()));
    } else {
      throw std::runtime_error("rule_examples.txt: not understood: " + line);
    }
  }
  return all;
}

}  // namespace bmad_mem::test
