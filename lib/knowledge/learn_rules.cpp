#include "knowledge/learn_rules.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/edit_distance.hpp"
#include "bmad_mem/utf8.hpp"

namespace bmad_mem {
namespace {

std::string field_of(std::size_t index, std::string_view member) {
  return fmt::format("memory_config.knowledge.learn_rules[{}].{}", index, member);
}

Result<Category> category_of(const LearnRule& rule, std::size_t index) {
  if (const auto category = try_parse_category(rule.category)) {
    return *category;
  }
  constexpr std::size_t kNear = 3;
  std::string_view nearest;
  std::size_t nearest_distance = kNear + 1;
  std::string all;
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const std::string_view name = category_name(static_cast<Category>(i));
    all += all.empty() ? "" : ", ";
    all += name;
    if (const std::size_t distance = edit_distance(rule.category, name, kNear);
        distance < nearest_distance) {
      nearest = name;
      nearest_distance = distance;
    }
  }
  return Error{.code = ErrorCode::E_SCHEMA_INVALID,
               .message = nearest.empty()
                              ? fmt::format("there is no category \"{}\"; it must be one of {}",
                                            utf8_repaired(rule.category), all)
                              : fmt::format("there is no category \"{}\"; did you mean \"{}\"?",
                                            utf8_repaired(rule.category), nearest),
               .field = field_of(index, "category")};
}

/// `text` on one line with single blanks, at most `count` characters of it.
std::string on_one_line(std::string_view text, std::size_t count) {
  const std::string repaired = utf8_repaired(text);
  std::string line;
  for (const char c : repaired) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f) {
      line += line.empty() || line.back() == ' ' ? "" : " ";
      continue;
    }
    const bool begins_character = (byte & 0xC0U) != 0x80U;
    if (begins_character && count-- == 0) {
      break;
    }
    line += c;
  }
  while (line.ends_with(' ')) {
    line.pop_back();
  }
  return line;
}

}  // namespace

Result<LearnRules> LearnRules::make(std::span<const LearnRule> rules) {
  LearnRules made;
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const LearnRule& rule = rules[index];
    BMAD_TRY_ASSIGN(const Category category, category_of(rule, index));
    Result<TextPattern> pattern = TextPattern::make(rule.match);
    if (!pattern) {
      Error error = std::move(pattern).error();
      error.field = field_of(index, "match");
      return error;
    }
    if (rule.value.find_first_not_of(" \t\r\n") == std::string::npos) {
      return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                   .message = "the value is empty; say what is to be remembered",
                   .field = field_of(index, "value")};
    }
    made.rules_.push_back({.agent = rule.agent,
                           .match = *std::move(pattern),
                           .lesson = {.category = category,
                                      .key = rule.key,
                                      .value = rule.value,
                                      .confidence = rule.confidence,
                                      .source = {.kind = "assistant", .trust = {}}}});
  }
  return made;
}

std::vector<RememberParams> LearnRules::lessons(std::string_view agent,
                                                std::string_view output) const {
  std::vector<RememberParams> lessons;
  for (const Rule& rule : rules_) {
    if ((rule.agent.empty() || rule.agent == agent) && rule.match.matches(output)) {
      lessons.push_back(rule.lesson);
      lessons.back().agent_id = agent;
    }
  }
  return lessons;
}

RememberParams failure_lesson(std::string_view agent, std::string_view task,
                              std::string_view error) {
  constexpr double kConfidence = 0.7;  // The specification's.
  // Whoever makes a program fail writes its errors: enough trust to hold, too little to be told to
  // a model as anything but a quotation.
  constexpr double kTrust = 0.6;
  return {.category = Category::kErrorSolution,
          .key = agent.empty() ? std::string(task) : fmt::format("{}: {}", agent, task),
          .value = "Failed with: " + on_one_line(error, kErrorCharactersMax),
          .agent_id = std::string(agent),
          .confidence = kConfidence,
          .source = {.kind = "tool", .trust = kTrust}};
}

}  // namespace bmad_mem
