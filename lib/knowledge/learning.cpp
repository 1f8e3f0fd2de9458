// learning.cpp - what finished tasks teach.
#include <utility>

#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_store.hpp"
#include "knowledge/learn_rules.hpp"
#include "store/access.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {
namespace {

Result<std::vector<RememberParams>> lessons_of_success(const Store& store,
                                                       const LearnParams& params) {
  Result<LearnRules> rules = LearnRules::make(store.config.knowledge.learn_rules);
  if (!rules) {
    Error error = std::move(rules).error();
    error.path = store.files->display_path(kConfigFile);
    return error;
  }
  return rules->lessons(params.agent_id, params.text);
}

Result<std::vector<RememberParams>> lessons_of_failure(const Store& store,
                                                       const LearnParams& params) {
  if (is_blank(params.task)) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = "the task is empty; name it, so that the error is found again",
                 .field = "task"};
  }
  if (is_blank(params.text)) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = "the error is empty; give what the task failed with",
                 .field = "text"};
  }
  // Before it is cut: half a secret is not known for one.
  const std::string text = store.redaction == nullptr
                               ? params.text
                               : store.redaction->redact_text(params.text, params.session_id);
  return std::vector{failure_lesson(params.agent_id, params.task, text)};
}

}  // namespace

Result<LearnReport> Knowledge::learn(const LearnParams& params) {
  BMAD_TRY_ASSIGN(Store* const entered, MemoryInside::enter(*memory_, Operation::kLearn));
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
