#include "query_scanner.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "blanks.hpp"
#include "core/ids.hpp"
#include "query_error.hpp"

namespace bmad_mem {
namespace {

struct FieldName {
  std::string_view name;
  FilterField field;
};

constexpr std::array<FieldName, 8> kFields = {{
    {"type", FilterField::kType},
    {"agent", FilterField::kAgent},
    {"tag", FilterField::kTag},
    {"topic", FilterField::kTopic},
    {"session", FilterField::kSession},
    {"since", FilterField::kSince},
    {"until", FilterField::kUntil},
    {"is", FilterField::kPinned},
}};

std::string_view field_name(FilterField field) {
  return kFields[static_cast<std::size_t>(field)].name;
}

/// The field whose name and colon `rest` starts with.
std::optional<FilterField> field_at(std::string_view rest) {
  for (const FieldName& each : kFields) {
    if (rest.starts_with(each.name) && rest.substr(each.name.size()).starts_with(':')) {
      return each.field;
    }
  }
  return std::nullopt;
}

bool is_escapable(char c) { return std::string_view(" \\\"-+*~:").contains(c) && c != '\0'; }

QueryOperator operator_of(std::string_view word) {
  if (word == "AND") {
    return QueryOperator::kAnd;
  }
  if (word == "OR") {
    return QueryOperator::kOr;
  }
  return word == "NOT" ? QueryOperator::kNot : QueryOperator::kNone;
}

}  // namespace

bool QueryScanner::at_end() const { return at_ == text_.size() || blank_size(text_, at_) != 0; }

bool QueryScanner::has_next() {
  while (const std::size_t size = blank_size(text_, at_)) {
    at_ += size;
  }
  return at_ < text_.size();
}

Result<QueryItem> QueryScanner::next() {
  start_ = at_;
  BMAD_TRY_ASSIGN(const Sign sign, read_sign());
  if (const std::optional<FilterField> field = field_at(text_.substr(at_))) {
    return read_filter(*field, at_ + field_name(*field).size() + 1, sign);
  }
  return peek() == '"' ? read_phrase(sign) : read_word(sign);
}

Result<QueryScanner::Sign> QueryScanner::read_sign() {
  const char sign = peek();
  if (sign != '-' && sign != '+') {
    return Sign::kNone;
  }
  if (start_ + 1 == text_.size() || blank_size(text_, start_ + 1) != 0) {
    return query_error(start_, fmt::format("'{0}' stands alone; write it right in front of a word, "
                                           "as in {0}word, or leave it out",
                                           sign));
  }
  if (std::string_view("-+=>").contains(peek(1))) {
    return Sign::kNone;
  }
  ++at_;
  return sign == '-' ? Sign::kExcluded : Sign::kRequired;
}

Result<QueryItem> QueryScanner::read_filter(FilterField field, std::size_t value_offset,
                                            Sign sign) {
  at_ = value_offset;
  QueryItem item;
  QueryFilter& filter = item.filter.emplace();
  filter.field = field;
  filter.offset = start_;
  filter.excluded = sign == Sign::kExcluded;
  BMAD_TRY_ASSIGN(filter.value, read_value());
  filter.size = at_ - start_;
  if (filter.value.empty()) {
    return query_error(start_,
                       fmt::format("{0}: has no value; write it right behind the colon, as in "
                                   "{0}:VALUE, or put {0}\\: for the word",
                                   field_name(field)));
  }
  BMAD_TRY(finish_value(filter, value_offset));
  return item;
}

/// Checks that the field takes the value, and reads it as what the field is about.
Status QueryScanner::finish_value(QueryFilter& filter, std::size_t value_offset) const {
  const auto refuse = [&](std::string message) {
    return query_error(value_offset, std::move(message));
  };
  switch (filter.field) {
    case FilterField::kType: {
      Result<EntryType> type = parse_entry_type(filter.value);
      if (!type) {
        return refuse(std::move(type.error().message));
      }
      filter.type = *type;
      return {};
    }
    case FilterField::kSession:
      if (!is_session_id(filter.value)) {
        return refuse(
            fmt::format("\"{}\" is not the id of a session; `bmad-mem session list` "
                        "shows them",
                        quoted_part(filter.value)));
      }
      return {};
    case FilterField::kSince:
    case FilterField::kUntil:
      filter.time = QueryTime::try_parse(
          filter.value, filter.field == FilterField::kSince ? RangeEnd::kSince : RangeEnd::kUntil);
      if (!filter.time) {
        return refuse(fmt::format("\"{}\" is not a time; write {}", quoted_part(filter.value),
                                  QueryTime::kForms));
      }
      return {};
    case FilterField::kPinned:
      if (filter.value != "pinned") {
        return refuse(
            fmt::format("is:{} is not known; there is is:pinned", quoted_part(filter.value)));
      }
      return {};
    case FilterField::kAgent:
    case FilterField::kTag:
    case FilterField::kTopic:
      break;
  }
  return {};
}

Result<QueryItem> QueryScanner::read_phrase(Sign sign) {
  QueryItem item;
  item.clause.kind = ClauseKind::kPhrase;
  BMAD_TRY_ASSIGN(item.clause.text, read_quoted());
  if (!QueryScanner(item.clause.text).has_next()) {
    return query_error(start_,
                       "the quotes hold no word; write the words of the phrase between "
                       "them, or leave them out");
  }
  item.clause.offset = start_;
  item.clause.size = at_ - start_;
  item.clause.excluded = sign == Sign::kExcluded;
  item.clause.required = !item.clause.excluded;
  return item;
}

Result<QueryItem> QueryScanner::read_word(Sign sign) {
  if (peek() == '*') {
    return query_error(at_,
                       "'*' needs the beginning of a word in front of it, as in conn*; "
                       "write \\* for the character itself");
  }
  QueryItem item;
  Decoded decoded;
  while (!at_end()) {
    read_character(decoded);
  }
  if ((decoded.tail == '*' || decoded.tail == '~') && decoded.text.size() > 1) {
    item.clause.kind = decoded.tail == '*' ? ClauseKind::kPrefix : ClauseKind::kFuzzy;
    decoded.text.pop_back();
  }
  item.op = operator_of(text_.substr(start_, at_ - start_));
  item.clause.text = std::move(decoded.text);
  item.clause.offset = start_;
  item.clause.size = at_ - start_;
  item.clause.required = sign == Sign::kRequired;
  item.clause.excluded = sign == Sign::kExcluded;
  return item;
}

Result<std::string> QueryScanner::read_quoted() {
  const std::size_t quote = at_++;
  std::string inside;
  while (peek() != '"') {
    if (at_ == text_.size()) {
      return query_error(quote,
                         "the quote is not closed; put another \" at the end of the phrase, "
                         "or \\\" for the character itself");
    }
    at_ += peek() == '\\' && (peek(1) == '"' || peek(1) == '\\') ? 1U : 0U;
    inside += text_[at_++];
  }
  ++at_;
  return inside;
}

Result<std::string> QueryScanner::read_value() {
  Decoded value;
  while (!at_end()) {
    if (peek() == '"') {
      BMAD_TRY_ASSIGN(const std::string inside, read_quoted());
      value.text += inside;
    } else {
      read_character(value);
    }
  }
  return std::move(value.text);
}

void QueryScanner::read_character(Decoded& out) {
  const bool escaped = peek() == '\\' && is_escapable(peek(1));
  at_ += escaped ? 1U : 0U;
  out.tail = escaped ? '\0' : peek();
  out.text += text_[at_++];
}

}  // namespace bmad_mem
