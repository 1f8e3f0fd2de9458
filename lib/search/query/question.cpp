#include <optional>
#include <string_view>
#include <utility>

#include "model/filter_fields.hpp"
#include "search/query_parser.hpp"

namespace bmad_mem {
namespace {

/// Without the archived ones is the opposite of only these.
ArchivedSessions archived_choice_of(const QueryFilter& filter) {
  const ArchivedSessions choice =
      try_parse_archived(filter.value).value_or(ArchivedSessions::kWith);
  if (!filter.excluded) {
    return choice;
  }
  return choice == ArchivedSessions::kWithout ? ArchivedSessions::kOnly
                                              : ArchivedSessions::kWithout;
}

void take_filter(const QueryFilter& filter, Timestamp now, Question& question) {
  if (filter.field == FilterField::kField) {
    question.filter.fields.push_back(
        {.field = filter.name, .value = filter.value, .excluded = filter.excluded});
    return;
  }
  if (filter.field == FilterField::kArchived) {
    question.filter.archived = archived_choice_of(filter);
    return;
  }
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
    case FilterField::kArchived:
    case FilterField::kField:
      break;
  }
}

/// Whether something but the text says what to look for.
bool says_filters(const Query& query) {
  const EntryFilter& filter = query.filter;
  return !filter.types.empty() || !filter.tags.empty() || !filter.agents.empty() || filter.since ||
         filter.until || filter.pinned_only || !filter.fields.empty() || !query.topics.empty();
}

}  // namespace

std::optional<ArchivedSessions> try_parse_archived(std::string_view value) {
  if (value == "yes") {
    return ArchivedSessions::kWith;
  }
  if (value == "no") {
    return ArchivedSessions::kWithout;
  }
  return value == "only" ? std::optional(ArchivedSessions::kOnly) : std::nullopt;
}

Status check_time_range(const EntryFilter& filter) {
  if (filter.since && filter.until && *filter.since > *filter.until) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the time range ends before it begins; swap since and until",
                 .field = "time_range"};
  }
  return {};
}

Result<Question> read_question(const Query& query, Timestamp now) {
  BMAD_TRY(check_fields(query.filter));
  Question question{.filter = query.filter, .topics = query.topics};
  ParsedQuery parsed;
  if (query.text_is_prose) {
    parsed.clauses.push_back({.text = query.text, .size = query.text.size()});
    parsed.prose = query.text;
  } else {
    BMAD_TRY_ASSIGN(parsed, parse_query_text(query.text, says_filters(query)));
  }
  for (const QueryFilter& filter : parsed.filters) {
    take_filter(filter, now, question);
  }
  BMAD_TRY(check_time_range(question.filter));
  if (parsed.clauses.empty() && parsed.filters.empty() && !says_filters(query)) {
    return Error{.code = ErrorCode::E_INVALID_QUERY,
                 .message = "the query says nothing to look for; write at least one word or filter",
                 .field = "text"};
  }
  question.clauses = std::move(parsed.clauses);
  question.prose = std::move(parsed.prose);
  question.as_prose = std::move(parsed.as_prose);
  question.notes = std::move(parsed.notes);
  return question;
}

}  // namespace bmad_mem
