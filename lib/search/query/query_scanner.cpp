// query_scanner.cpp - cuts the text of a query into words, phrases and filters.
#include "query_scanner.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "base/ids.hpp"
#include "bmad_mem/text.hpp"
#include "model/field.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

bool is_escapable(char c) { return std::string_view(" \\\"-+*~:").contains(c) && c != '\0'; }

/// Whether the byte is of a letter outside ASCII; those of punctuation, symbols and emoji are not.
bool is_foreign_letter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 && byte != 0xC2 && byte != 0xE2 && byte != 0xEF && byte != 0xF0;
}

bool is_part_of_word(char c) { return is_word_byte(c) || is_foreign_letter(c); }

QueryOperator operator_of(std::string_view word) {
  return word == "AND"   ? QueryOperator::kAnd
         : word == "OR"  ? QueryOperator::kOr
         : word == "NOT" ? QueryOperator::kNot
                         : QueryOperator::kNone;
}

/// Whether `-word` is an exclusion and no option such as -O2, -rf or -Xmx: letters alone, none of
/// them a capital, and four at least in ASCII, which all options are in.
bool can_be_excluded(std::string_view word) {
  constexpr std::size_t kLettersMin = 4;
  const auto is_usual = [](char c) { return is_lower(c) || is_foreign_letter(c); };
  return std::ranges::all_of(word, is_usual) &&
         (word.size() >= kLettersMin || std::ranges::any_of(word, is_foreign_letter));
}

/// Whether `+word` asks for a word: a letter alone, as in `chmod +x`, doesn't.
bool can_be_required(std::string_view word) {
  return std::ranges::count_if(word, is_part_of_word) >= 2;
}

/// Whether words that begin like `stem` make sense: it is a word or the beginning of a path.
bool is_stem(std::string_view stem) {
  const auto is_part = [](char c) {
    return is_part_of_word(c) || std::string_view("./:@#").contains(c);
  };
  return !stem.empty() && is_part_of_word(stem.back()) && std::ranges::all_of(stem, is_part);
}

/// "type" of "type:decision", "metadata.Ticket" of "metadata.Ticket:x"; empty when `rest` does not
/// start like a filter.
std::string_view name_at(std::string_view rest) {
  const bool is_nested = rest.starts_with("metadata.") || rest.starts_with("context.");
  const auto is_part = [&](char c) {
    return is_lower(c) || c == '_' || c == '.' || (is_nested && (is_alnum(c) || c == '-'));
  };
  const auto* const end = std::ranges::find_if_not(rest, is_part);
  const auto size = static_cast<std::size_t>(end - rest.begin());
  return rest.substr(size).starts_with(':') && size > 0 ? rest.substr(0, size) : "";
}

std::optional<FilterField> field_of(std::string_view name) {
  const auto* const found = std::ranges::find(kFilterNames, name);
  if (found != kFilterNames.end()) {
    return static_cast<FilterField>(found - kFilterNames.begin());
  }
  return is_filter_field(name) ? std::optional(FilterField::kField) : std::nullopt;
}

/// Whether a value is one that a person writes behind a field: "open", no port, no path, no part of
/// a type's name.
bool looks_like_value(std::string_view value) {
  if (value.empty() || !is_alnum(value.front())) {
    return false;
  }
  const auto* const end = std::ranges::find_if_not(value, is_digit);
  return end != value.end() && !(end != value.begin() && std::string_view("/?#").contains(*end));
}

/// A word without what stands around it in a sentence.
std::string_view bare_word(std::string_view word) {
  constexpr std::string_view kAround = ".,;:!?()[]{}<>\"'`*";
  return trimmed(word, kAround);
}

bool is_asking(std::string_view word) {
  while (!word.empty() && std::string_view("\"')]}.!").contains(word.back())) {
    word.remove_suffix(1);
  }
  return word.ends_with('?') || word.ends_with("\xEF\xBC\x9F") || word.ends_with("\xD8\x9F");
}

bool is_small_word(std::string_view word) {
  const std::string_view bare = bare_word(word);
  if (bare.empty() || operator_of(bare) != QueryOperator::kNone) {
    return false;
  }
  return is_stop_word(lower_ascii(bare));
}

/// Where the quote that opens at `at` closes, or npos.
std::size_t closing_quote(std::string_view text, std::size_t at) {
  assert(at < text.size() && text[at] == '"');
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') {
      return at;
    }
    at += text[at] == '\\' ? 1 : 0;
  }
  return std::string_view::npos;
}

}  // namespace

bool reads_like_sentence(std::string_view text) {
  constexpr int kSmallWordsMin = 3;
  int small_words = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    if (const std::size_t blank = blank_size(text, at); blank != 0) {
      at += blank;
      continue;
    }
    const std::size_t quote = at + (text[at] == '-' || text[at] == '+' ? 1 : 0);
    if (quote < text.size() && text[quote] == '"') {
      if (const std::size_t close = closing_quote(text, quote); close != std::string_view::npos) {
        at = close + 1;
        continue;
      }
    }
    const std::size_t begin = at;
    while (at < text.size() && blank_size(text, at) == 0) {
      ++at;
    }
    const std::string_view word = text.substr(begin, at - begin);
    small_words += is_small_word(word) ? 1 : 0;
    if (is_asking(word) || small_words >= kSmallWordsMin) {
      return true;
    }
  }
  return false;
}

void read_as_words(QueryItem& item, std::string_view text, std::string_view why) {
  const std::size_t offset = item.offset();
  const std::size_t size = item.size();
  assert(offset <= text.size() && size <= text.size() - offset);
  item = QueryItem{.why = why};
  item.clause.text = text.substr(offset, size);
  item.clause.offset = offset;
  item.clause.size = size;
}

bool QueryScanner::at_end() const { return at_ == text_.size() || blank_size(text_, at_) != 0; }

bool QueryScanner::has_next() {
  while (const std::size_t size = blank_size(text_, at_)) {
    at_ += size;
  }
  return at_ < text_.size();
}

Result<QueryItem> QueryScanner::next() {
  assert(at_ < text_.size() && "has_next() comes first");
  start_ = at_;
  const Sign sign = read_sign();
  const std::string_view name = name_at(text_.substr(at_));
  if (!name.empty() && field_of(name)) {
    std::string_view why;
    BMAD_TRY_ASSIGN(std::optional<QueryFilter> filter, read_filter(name, sign, why));
    if (!filter) {
      return read_plain(why);
    }
    QueryItem item;
    item.filter = std::move(filter);
    return item;
  }
  const std::string_view unknown = unknown_field_at(name);
  if (!unknown.empty()) {
    QueryItem item = read_plain({});
    item.unknown_field = unknown;
    return item;
  }
  return peek() == '"' ? read_phrase(sign) : read_word(sign);
}

QueryScanner::Sign QueryScanner::read_sign() {
  const char sign = peek();
  const bool is_alone = start_ + 1 == text_.size() || blank_size(text_, start_ + 1) != 0;
  if ((sign != '-' && sign != '+') || is_alone || std::string_view("-+=>").contains(peek(1))) {
    return Sign::kNone;
  }
  ++at_;
  return sign == '-' ? Sign::kExcluded : Sign::kRequired;
}

/// `name` when it and what stands behind its colon look like a filter on a field.
std::string_view QueryScanner::unknown_field_at(std::string_view name) const {
  if (name.empty() || !is_lower(name.front())) {
    return {};
  }
  std::string_view value = text_.substr(at_ + name.size() + 1);
  std::size_t size = 0;
  while (size < value.size() && blank_size(value, size) == 0) {
    ++size;
  }
  value = value.substr(0, size);
  return looks_like_value(value) ? name : std::string_view();
}

QueryItem QueryScanner::read_plain(std::string_view why) {
  while (!at_end()) {
    ++at_;
  }
  QueryItem item;
  item.clause.offset = start_;
  item.clause.size = at_ - start_;
  read_as_words(item, text_, why);
  return item;
}

Result<std::optional<QueryFilter>> QueryScanner::read_filter(std::string_view name, Sign sign,
                                                             std::string_view& why) {
  const std::size_t value_offset = at_ + name.size() + 1;
  QueryFilter filter;
  filter.field = *field_of(name);
  filter.name = name;
  filter.offset = start_;
  filter.excluded = sign == Sign::kExcluded;
  at_ = value_offset;
  std::optional<std::string> value = read_value();
  if (!value || value->empty()) {
    why = value ? "it has no value" : "the quote is not closed";
    at_ = value ? at_ : value_offset;
    return std::optional<QueryFilter>();
  }
  filter.value = std::move(*value);
  filter.size = at_ - start_;
  if (Status good = finish_value(filter, value_offset); !good) {
    if (!is_sentence_) {
      return std::move(good).error();
    }
    why = kReadsLikeSentence;
    return std::optional<QueryFilter>();
  }
  return std::optional(std::move(filter));
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
    case FilterField::kArchived:
      if (!try_parse_archived(filter.value)) {
        return refuse(
            fmt::format("archived:{} is not known; write archived:no, archived:only or "
                        "archived:yes",
                        quoted_part(filter.value)));
      }
      return {};
    case FilterField::kField:
      if (Status good = check_filter_field(filter.name, filter.value); !good) {
        return refuse(std::move(good.error().message));
      }
      return {};
    case FilterField::kAgent:
    case FilterField::kTag:
    case FilterField::kTopic:
      break;
  }
  return {};
}

QueryItem QueryScanner::read_phrase(Sign sign) {
  const std::size_t quote = at_;
  std::optional<std::string> inside = read_quoted();
  if (!inside) {
    at_ = quote;
    return read_plain("the quote is not closed");
  }
  QueryItem item;
  item.clause.kind = ClauseKind::kPhrase;
  item.clause.offset = start_;
  item.clause.size = at_ - start_;
  if (!QueryScanner(*inside, is_sentence_).has_next()) {
    read_as_words(item, text_, "the quotes are empty");
    return item;
  }
  item.clause.text = std::move(*inside);
  item.why = is_sentence_ && sign != Sign::kNone ? kReadsLikeSentence : "";
  if (is_sentence_ && sign == Sign::kExcluded) {
    item.clause.kind = ClauseKind::kWord;
  }
  item.clause.excluded = !is_sentence_ && sign == Sign::kExcluded;
  item.clause.required = !is_sentence_ && sign == Sign::kRequired;
  return item;
}

QueryItem QueryScanner::read_word(Sign sign) {
  Decoded decoded;
  while (!at_end()) {
    read_character(decoded);
  }
  QueryItem item;
  item.op = operator_of(text_.substr(start_, at_ - start_));
  item.clause.offset = start_;
  item.clause.size = at_ - start_;
  if (decoded.text == "-" || decoded.text == "+") {
    item.why = "it stands alone";
  } else if ((decoded.tail == '*' || decoded.tail == '~') && decoded.text.size() > 1) {
    if (is_stem(std::string_view(decoded.text).substr(0, decoded.text.size() - 1))) {
      item.clause.kind = decoded.tail == '*' ? ClauseKind::kPrefix : ClauseKind::kFuzzy;
      decoded.text.pop_back();
      decoded.has_star = false;
    } else if (decoded.tail == '~') {
      item.why = "no word stands in front of '~'";
    }
  }
  const bool is_excluded = sign == Sign::kExcluded && can_be_excluded(decoded.text);
  const bool is_required = sign == Sign::kRequired && can_be_required(decoded.text);
  if (decoded.has_star) {
    read_as_words(item, text_, kLooksLikePattern);
  } else if (sign != Sign::kNone && !is_excluded && !is_required) {
    read_as_words(item, text_, kLooksLikeOption);
  } else if (sign != Sign::kNone && is_sentence_) {
    read_as_words(item, text_, kReadsLikeSentence);
  } else {
    item.clause.text = std::move(decoded.text);
    item.clause.required = is_required;
    item.clause.excluded = is_excluded;
  }
  return item;
}

std::optional<std::string> QueryScanner::read_quoted() {
  assert(peek() == '"');
  ++at_;
  std::string inside;
  while (peek() != '"') {
    if (at_ == text_.size()) {
      return std::nullopt;
    }
    at_ += peek() == '\\' && (peek(1) == '"' || peek(1) == '\\') ? 1U : 0U;
    inside += text_[at_++];
  }
  ++at_;
  return inside;
}

std::optional<std::string> QueryScanner::read_value() {
  Decoded value;
  while (!at_end()) {
    if (peek() == '"') {
      const std::optional<std::string> inside = read_quoted();
      if (!inside) {
        return std::nullopt;
      }
      value.text += *inside;
    } else {
      read_character(value);
    }
  }
  return std::move(value.text);
}

void QueryScanner::read_character(Decoded& out) {
  assert(at_ < text_.size());
  const bool escaped = peek() == '\\' && is_escapable(peek(1));
  at_ += escaped ? 1U : 0U;
  out.tail = escaped ? '\0' : peek();
  out.has_star = out.has_star || out.tail == '*';
  out.text += text_[at_++];
}

std::size_t blank_size(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t ahead) -> unsigned {
    return offset + ahead < text.size() ? static_cast<unsigned char>(text[offset + ahead]) : 0U;
  };
  switch (byte(0)) {
    case ' ':
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
      return 1;
    case 0xC2:  // U+0085, the no-break space.
      return byte(1) == 0x85 || byte(1) == 0xA0 ? 2 : 0;
    case 0xE1:  // U+1680.
      return byte(1) == 0x9A && byte(2) == 0x80 ? 3 : 0;
    case 0xE2:  // U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F.
      return (byte(1) == 0x80 && ((byte(2) >= 0x80 && byte(2) <= 0x8A) || byte(2) == 0xA8 ||
                                  byte(2) == 0xA9 || byte(2) == 0xAF)) ||
                     (byte(1) == 0x81 && byte(2) == 0x9F)
                 ? 3
                 : 0;
    case 0xE3:  // U+3000, the blank between Han characters.
      return byte(1) == 0x80 && byte(2) == 0x80 ? 3 : 0;
    default:
      return 0;
  }
}

}  // namespace bmad_mem
