// learn_rules.cpp - makes lessons of finished tasks: by the rules of the config, and of errors.
#include <cassert>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_store.hpp"
#include "store/access.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

std::string field_of(std::size_t index, std::string_view member) {
  return fmt::format("memory_config.knowledge.learn_rules[{}].{}", index, member);
}

Result<Category> category_of(const LearnRule& rule, std::size_t index) {
  if (const auto category = try_parse_category(rule.category)) {
    return *category;
  }
  static constexpr std::size_t kNear = 3;
  const std::string_view nearest =
      nearest_of(rule.category, kCategoryNames, [](auto) { return kNear; });
  return field_error(
      ErrorCode::E_SCHEMA_INVALID, field_of(index, "category"),
      nearest.empty() ? fmt::format("there is no category \"{}\"; it must be one of {}",
                                    utf8_repaired(rule.category), fmt::join(kCategoryNames, ", "))
                      : fmt::format("there is no category \"{}\"; did you mean \"{}\"?",
                                    utf8_repaired(rule.category), nearest));
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
  assert(!line.contains('\n') && !line.starts_with(' '));
  return line;
}

}  // namespace

Result<std::vector<RememberParams>> lessons_of_rules(std::span<const LearnRule> rules,
                                                     std::string_view agent,
                                                     std::string_view output) {
  constexpr std::size_t kPatternSizeMax = 4096;  // What people write has less than 200.
  std::vector<RememberParams> lessons;
  for (std::size_t index = 0; index < rules.size(); ++index) {
    const LearnRule& rule = rules[index];
    BMAD_TRY_ASSIGN(const Category category, category_of(rule, index));
    if (rule.match.size() > kPatternSizeMax) {
      return field_error(ErrorCode::E_SCHEMA_INVALID, field_of(index, "match"),
                         fmt::format("the pattern has {} bytes; {} are the most, so make it "
                                     "shorter or two of it",
                                     rule.match.size(), kPatternSizeMax));
    }
    const RE2 pattern(rule.match, RE2::Quiet);
    if (!pattern.ok()) {
      return field_error(ErrorCode::E_SCHEMA_INVALID, field_of(index, "match"),
                         fmt::format("the pattern \"{}\" doesn't compile: {}; see "
                                     "https://github.com/google/re2/wiki/Syntax",
                                     utf8_repaired(rule.match), pattern.error()));
    }
    if (is_blank(rule.value)) {
      return field_error(ErrorCode::E_SCHEMA_INVALID, field_of(index, "value"),
                         "the value is empty; give the statement to store");
    }
    if ((rule.agent.empty() || rule.agent == agent) &&
        RE2::PartialMatch({output.data(), output.size()}, pattern)) {
      lessons.push_back({.category = category,
                         .key = rule.key,
                         .value = rule.value,
                         .agent_id = std::string(agent),
                         .confidence = rule.confidence,
                         .source = {.kind = "assistant"}});
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

// What finished tasks teach.

namespace {

Result<std::vector<RememberParams>> lessons_of_success(const Store& store,
                                                       const LearnParams& params) {
  auto lessons = lessons_of_rules(store.config.knowledge.learn_rules, params.agent_id, params.text);
  if (!lessons) {
    lessons.error().path = store.files->display_path(kConfigFile);
  }
  return lessons;
}

Result<std::vector<RememberParams>> lessons_of_failure(const Store& store,
                                                       const LearnParams& params) {
  if (is_blank(params.task)) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "task",
                       "the task is empty; name it, so that the error is found again");
  }
  if (is_blank(params.text)) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "text",
                       "the error is empty; give what the task failed with");
  }
  // Before it is cut: half a secret is not known for one.
  const std::string text = store.redaction == nullptr
                               ? params.text
                               : store.redaction->redact_text(params.text, params.session_id);
  return std::vector{failure_lesson(params.agent_id, params.task, text)};
}

}  // namespace

Result<LearnReport> Knowledge::learn(const LearnParams& params) {
  BMAD_TRY_ASSIGN(Store* const entered, MemoryInside::enter(*memory_, "learn"));
  Store& store = *entered;
  BMAD_TRY_ASSIGN(std::vector<RememberParams> lessons, params.outcome == TaskOutcome::kSuccess
                                                           ? lessons_of_success(store, params)
                                                           : lessons_of_failure(store, params));
  LearnReport report;
  if (lessons.empty()) {
    return report;
  }
  for (RememberParams& lesson : lessons) {
    lesson.session_id = params.session_id;
    if (!params.session_id.empty()) {
      lesson.learned_from = {params.session_id};
    }
  }
  BMAD_TRY_ASSIGN(report.learned, remember_all(store, lessons));
  return report;
}

}  // namespace bmad_mem
