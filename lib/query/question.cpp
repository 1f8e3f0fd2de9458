#include "query/question.hpp"

namespace bmad_mem {
namespace {

void take_filter(const QueryFilter& filter, Timestamp now, Question& question) {
  if (filter.excluded) {
    question.exclusions.push_back(filter);
    return;
  }
  switch (filter.field) {
    case FilterField::kType:
      question.filter.types.push_back(*filter.type);
      break;
    case FilterField::kAgent:
      question.filter.agents.push_back(filter.value);
      break;
    case FilterField::kTag:
      question.filter.tags.push_back(filter.value);
      break;
    case FilterField::kTopic:
      question.topics.push_back(filter.value);
      break;
    case FilterField::kSession:
      question.filter.sessions.push_back(filter.value);
      break;
    case FilterField::kSince:
      question.filter.since = filter.time->at(now);
      break;
    case FilterField::kUntil:
      question.filter.until = filter.time->at(now);
      break;
    case FilterField::kPinned:
      question.filter.pinned_only = true;
      break;
  }
}

bool says_nothing(const Question& question, const ParsedQuery& parsed) {
  const EntryFilter& filter = question.filter;
  return parsed.clauses.empty() && parsed.filters.empty() && filter.types.empty() &&
         filter.tags.empty() && filter.agents.empty() && !filter.since && !filter.until &&
         !filter.pinned_only;
}

}  // namespace

Status check_time_range(const EntryFilter& filter) {
  if (filter.since && filter.until && *filter.since > *filter.until) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the time range ends before it begins; swap since and until",
                 .field = "time_range"};
  }
  return {};
}

Result<Question> read_question(const Query& query, Timestamp now) {
  Question question{.filter = query.filter};
  ParsedQuery parsed;
  if (query.text_is_prose) {
    parsed.clauses.push_back({.text = query.text, .size = query.text.size()});
    parsed.prose = query.text;
  } else {
    BMAD_TRY_ASSIGN(parsed, parse_query_text(query.text));
  }
  for (const QueryFilter& filter : parsed.filters) {
    take_filter(filter, now, question);
  }
  BMAD_TRY(check_time_range(question.filter));
  if (says_nothing(question, parsed)) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the query says nothing to look for; write at least one word or filter",
                 .field = "text"};
  }
  question.clauses = std::move(parsed.clauses);
  question.prose = std::move(parsed.prose);
  return question;
}

}  // namespace bmad_mem
