// learn_rules.hpp - what a finished task teaches: of a success what the rules of the config say, of
// a failure the error.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "bmad_mem/knowledge.hpp"
#include "bmad_mem/result.hpp"
#include "store/config.hpp"

namespace bmad_mem {

/// Characters (code points) of an error that are kept: enough to know it again by.
inline constexpr std::size_t kErrorCharactersMax = 200;

/// What is to be remembered since `agent` has come to `output`, in the order of `rules`, those of a
/// config, whose patterns are in the syntax of RE2: time linear in the text, whatever the pattern.
/// Errors: E_SCHEMA_INVALID for a pattern that doesn't compile, a category that there is not, or an
/// empty value, with the field: "memory_config.knowledge.learn_rules[2].match".
Result<std::vector<RememberParams>> lessons_of_rules(std::span<const LearnRule> rules,
                                                     std::string_view agent,
                                                     std::string_view output);

/// What is to be remembered since `agent` has failed at `task`: an error_solution under the key
/// "AGENT: TASK" with "Failed with: " and the first kErrorCharactersMax characters of `error` on
/// one line. What is secret in `error` must be gone already: its front would not be known again.
RememberParams failure_lesson(std::string_view agent, std::string_view task,
                              std::string_view error);

}  // namespace bmad_mem
