// query_parser.cpp - reads the text of a query as clauses and filters, with its error messages.
#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/query.hpp"
#include "bmad_mem/text.hpp"
#include "model/field.hpp"
#include "plan.hpp"
#include "query_scanner.hpp"
#include "search/reads.hpp"

namespace bmad_mem {

namespace {

/// `text` with a blank for each byte that is no text, so that offsets agree.
std::string with_blanks(std::string_view text, std::vector<std::string>& notes) {
  std::string clean(text);
  std::size_t count = 0;
  const auto blank = [&](std::size_t at) {
    clean[at] = ' ';
    ++count;
  };
  std::size_t at = utf8_valid_size(text);
  while (at < text.size()) {
    blank(at++);
    at += utf8_valid_size(text.substr(at));
  }
  for (std::size_t nul = clean.find('\0'); nul != std::string::npos; nul = clean.find('\0', nul)) {
    blank(nul);
  }
  if (count > 0) {
    notes.push_back(fmt::format("read {} that {} no text as {}",
                                count == 1 ? "a byte" : fmt::format("{} bytes", count),
                                count == 1 ? "is" : "are", count == 1 ? "a blank" : "blanks"));
  }
  assert(clean.size() == text.size() && "offsets agree");
  return clean;
}

Result<std::vector<QueryItem>> scan_items(std::string_view text, bool is_sentence) {
  std::vector<QueryItem> items;
  QueryScanner scanner(text, is_sentence);
  while (scanner.has_next()) {
    BMAD_TRY_ASSIGN(QueryItem item, scanner.next());
    items.push_back(std::move(item));
  }
  return items;
}

/// The name of a filter that `name` is a slip of the pen for; empty when there is none.
std::string nearest_filter_name(std::string_view name) {
  const EditMatcher matcher(name);
  for (const std::string_view known : kFilterNames) {
    if (matcher.distance(known) <= matcher.bound()) {
      return std::string(known);
    }
  }
  return {};
}

/// A filter on a field that there isn't is refused only if it was surely meant as one: its name is
/// nearly a field's, or the query says nothing else. Otherwise it is a word.
Status judge_unknown_fields(std::vector<QueryItem>& items, bool is_sentence) {
  const bool only_filters = std::ranges::all_of(items, [](const QueryItem& item) {
    return item.filter || !item.unknown_field.empty() || !item.is_operand();
  });
  for (QueryItem& item : items) {
    const std::string_view name = item.unknown_field;
    if (name.empty()) {
      continue;
    }
    constexpr std::size_t kSlipSizeMin = 4;
    std::string near = nearest_filter_field(name);
    near = near.empty() ? nearest_filter_name(name) : near;
    const bool is_slip = name.size() >= kSlipSizeMin && !near.empty();
    const bool is_meant = is_slip || (only_filters && !name.contains('.'));
    if (is_meant && !is_sentence) {
      return query_error(
          item.offset(),
          fmt::format("{} is not a field; known are {}, {}; put {}\\: for the word{}",
                      quoted_part(name), fmt::join(kFilterNames, ", "), known_filter_fields(),
                      quoted_part(name),
                      near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    item.why = "it names no field there is";
  }
  return {};
}

void require(QueryItem& item) {
  if (!item.filter) {
    item.clause.by_operator = !item.clause.required && !item.clause.excluded;
    item.clause.required = !item.clause.excluded;
  }
}

void exclude(QueryItem& item) {
  if (item.filter) {
    item.filter->excluded = true;
  } else {
    item.clause.required = false;
    item.clause.excluded = true;
  }
}

/// What the operators `between` two items say about these. A single NOT says nothing: it is a word.
bool apply_operators(QueryItem& left, std::span<const QueryItem> between, QueryItem& right) {
  const auto is = [](QueryOperator op) {
    return [op](const QueryItem& item) { return item.op == op; };
  };
  const bool has_and = std::ranges::any_of(between, is(QueryOperator::kAnd));
  if (!has_and && std::ranges::none_of(between, is(QueryOperator::kOr))) {
    return false;
  }
  assert(!between.empty());
  const bool negated = between.back().op == QueryOperator::kNot;
  if (has_and) {
    require(left);
  }
  if (negated) {
    exclude(right);
  } else if (has_and) {
    require(right);
  }
  return true;
}

/// Carries out the operators, which keep their `op`; those that are mere words lose it.
void resolve_operators(std::vector<QueryItem>& items) {
  const auto is_operand = [](const QueryItem& item) { return item.op == QueryOperator::kNone; };
  auto begin = items.begin();
  while (begin != items.end()) {
    begin = std::find_if_not(begin, items.end(), is_operand);
    const auto end = std::find_if(begin, items.end(), is_operand);
    const bool inside = begin != items.begin() && begin != end && end != items.end();
    if (!inside || !apply_operators(*(begin - 1), {begin, end}, *end)) {
      std::for_each(begin, end, [](QueryItem& item) { item.op = QueryOperator::kNone; });
    }
    begin = end;
  }
}

/// Times that are excluded, and a range that ends before it begins. Ranges that only the clock can
/// tell to be empty are left to the planner.
Status check_times(std::span<const QueryItem> items) {
  constexpr Timestamp kAnyTime{};
  const auto is_fixed = [](const QueryItem& item, FilterField field) {
    return item.filter && item.filter->field == field && item.filter->time->is_fixed();
  };
  for (const QueryItem& item : items) {
    if (item.filter && item.filter->time && item.filter->excluded) {
      return query_error(item.offset(),
                         "a time cannot be excluded; turn since: into until:, or the "
                         "other way round");
    }
  }
  for (const QueryItem& until : items) {
    for (const QueryItem& since : items) {
      if (is_fixed(since, FilterField::kSince) && is_fixed(until, FilterField::kUntil) &&
          since.filter->time->at(kAnyTime) > until.filter->time->at(kAnyTime)) {
        return query_error(
            std::max(since.offset(), until.offset()),
            fmt::format("no time is after {} and before {}; swap the times",
                        quoted_part(since.filter->value), quoted_part(until.filter->value)));
      }
    }
  }
  return {};
}

/// In a sentence, times that make no sense are words.
Status judge_times(std::vector<QueryItem>& items, std::string_view text, bool is_sentence) {
  Status good = check_times(items);
  if (good || !is_sentence) {
    return good;
  }
  for (QueryItem& item : items) {
    if (item.filter && item.filter->time) {
      read_as_words(item, text, kReadsLikeSentence);
    }
  }
  return {};
}

/// Beside options and patterns, -exec and -name are options as well.
void judge_exclusions(std::vector<QueryItem>& items, std::string_view text) {
  const bool is_command = std::ranges::any_of(items, [](const QueryItem& item) {
    return item.why == kLooksLikeOption || item.why == kLooksLikePattern ||
           (!item.filter && item.clause.text.starts_with("--"));
  });
  for (QueryItem& item : items) {
    if (is_command && !item.filter && item.excluded() && item.clause.kind != ClauseKind::kPhrase) {
      read_as_words(item, text, kLooksLikeOption);
    }
  }
}

/// What is not wanted needs something that is: else its words are what is looked for.
void look_for_something(std::vector<QueryItem>& items, std::string_view text) {
  const bool is_positive = std::ranges::any_of(
      items, [](const QueryItem& item) { return item.is_operand() && !item.excluded(); });
  if (is_positive) {
    return;
  }
  for (QueryItem& item : items) {
    if (!item.filter && item.is_operand()) {
      read_as_words(item, text, "nothing else is looked for");
    }
  }
}

void note_prose(Plan& plan, ProseReading reading) {
  plan.notes.push_back(fmt::format("read \"{}\" as {}: {}", quoted_part(reading.text),
                                   reading.text.contains(' ') ? "words" : "a word", reading.why));
  plan.as_prose.push_back(std::move(reading));
}

Plan plan_of(const std::string& text, std::vector<QueryItem> items, bool has_many_words) {
  Plan plan{.prose = text};
  if (has_many_words) {
    const std::string why = fmt::format("it has more than {} words", kQueryClausesMax);
    note_prose(plan, {.text = text, .offset = 0, .size = text.size(), .why = why});
  }
  for (QueryItem& item : items) {
    if (has_many_words && !item.filter) {
      read_as_words(item, text, "");
    }
    if (!item.why.empty()) {
      note_prose(plan, {.text = text.substr(item.offset(), item.size()),
                        .offset = item.offset(),
                        .size = item.size(),
                        .why = std::string(item.why)});
    }
    if (!item.is_operand() || item.filter || item.excluded()) {
      plan.prose.replace(item.offset(), item.size(), item.size(), ' ');
    }
    if (item.filter) {
      plan.filters.push_back(*std::move(item.filter));
    } else if (item.is_operand()) {
      plan.clauses.push_back(std::move(item.clause));
    }
  }
  assert(plan.prose.size() == text.size() && "offsets agree");
  return plan;
}

/// A text that is too long to be anything but prose: one clause.
Plan prose_of(const std::string& text) {
  Plan plan{.prose = text};
  QueryScanner scanner(text, true);
  if (scanner.has_next()) {
    plan.clauses.push_back({.text = text, .size = text.size()});
    const std::string why = fmt::format("it has more than {} bytes", kQueryLanguageSizeMax);
    note_prose(plan, {.text = text, .offset = 0, .size = text.size(), .why = why});
  }
  return plan;
}

Result<Plan> parse_clean_text(const std::string& text, bool is_filtered) {
  if (text.size() > kQueryLanguageSizeMax) {
    return prose_of(text);
  }
  const bool is_sentence = reads_like_sentence(text);
  BMAD_TRY_ASSIGN(std::vector<QueryItem> items, scan_items(text, is_sentence));
  BMAD_TRY(judge_unknown_fields(items, is_sentence));
  judge_exclusions(items, text);
  resolve_operators(items);
  BMAD_TRY(judge_times(items, text, is_sentence));
  if (!is_filtered) {
    look_for_something(items, text);
  }
  const auto words = std::ranges::count_if(
      items, [](const QueryItem& item) { return !item.filter && item.is_operand(); });
  return plan_of(text, std::move(items), static_cast<std::size_t>(words) > kQueryClausesMax);
}

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

/// Joins `filter`, if it doesn't exclude or is of a field, to those of `query`.
bool take_filter(const QueryFilter& filter, Timestamp now, Query& query) {
  if (filter.field == FilterField::kField) {
    query.filter.fields.push_back(
        {.field = filter.name, .value = filter.value, .excluded = filter.excluded});
    return true;
  }
  if (filter.field == FilterField::kArchived) {
    query.filter.archived = archived_choice_of(filter);
    return true;
  }
  if (filter.excluded) {
    return false;
  }
  if (filter.field == FilterField::kType) {
    assert(filter.type && "the scanner has read it");
    query.filter.types.push_back(*filter.type);
  } else if (filter.field == FilterField::kSince || filter.field == FilterField::kUntil) {
    assert(filter.time && "the scanner has read it");
    (filter.field == FilterField::kSince ? query.filter.since : query.filter.until) =
        filter.time->at(now);
  } else if (filter.field == FilterField::kPinned) {
    query.filter.pinned_only = true;
  } else {
    (filter.field == FilterField::kAgent   ? query.filter.agents
     : filter.field == FilterField::kTag   ? query.filter.tags
     : filter.field == FilterField::kTopic ? query.topics
                                           : query.filter.sessions)
        .push_back(filter.value);
  }
  return true;
}

constexpr std::size_t kQuotedCharactersMax = 40;

/// C0, DEL, C1, the line separators, and U+202A..U+202E, U+2066..U+2069, which reorder a line.
bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) {
    return byte(0) < 0x20 || byte(0) == 0x7F;
  }
  if (character.size() == 2) {
    return byte(0) == 0xC2 && byte(1) < 0xA0;
  }
  return character.size() == 3 && byte(0) == 0xE2 &&
         ((byte(1) == 0x80 && byte(2) >= 0xA8 && byte(2) <= 0xAE) ||
          (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9));
}

}  // namespace

Result<Plan> parse_query_text(std::string_view text, bool is_filtered) {
  if (text.size() > kQuerySizeMax) {
    return query_error(kQuerySizeMax,
                       fmt::format("the query has {} bytes, and the maximum is {}; shorten it",
                                   text.size(), kQuerySizeMax));
  }
  std::vector<std::string> notes;
  BMAD_TRY_ASSIGN(Plan plan, parse_clean_text(with_blanks(text, notes), is_filtered));
  plan.notes.insert(plan.notes.begin(), notes.begin(), notes.end());
  return plan;
}

std::optional<ArchivedSessions> try_parse_archived(std::string_view value) {
  return value == "yes"    ? std::optional(ArchivedSessions::kWith)
         : value == "no"   ? std::optional(ArchivedSessions::kWithout)
         : value == "only" ? std::optional(ArchivedSessions::kOnly)
                           : std::nullopt;
}

Status check_time_range(const EntryFilter& filter) {
  if (filter.since && filter.until && *filter.since > *filter.until) {
    return invalid_query("time_range",
                         "the time range ends before it begins; swap since and until");
  }
  return {};
}

bool chooses_entries(const EntryFilter& filter) {
  return !filter.types.empty() || !filter.tags.empty() || !filter.agents.empty() || filter.since ||
         filter.until || filter.pinned_only || !filter.fields.empty() || filter.workspace;
}

bool says_filters(const Query& query) {
  return chooses_entries(query.filter) || !query.topics.empty();
}

Result<Plan> read_query(const Query& query, Timestamp now) {
  BMAD_TRY(check_fields(query.filter));
  Plan plan;
  if (query.text_is_prose) {
    plan.clauses.push_back({.text = query.text, .size = query.text.size()});
    plan.prose = query.text;
  } else {
    BMAD_TRY_ASSIGN(plan, parse_query_text(query.text, says_filters(query)));
  }
  const bool is_empty = plan.clauses.empty() && plan.filters.empty() && !says_filters(query);
  plan.query = query;
  std::erase_if(plan.filters,
                [&](const QueryFilter& filter) { return take_filter(filter, now, plan.query); });
  BMAD_TRY(check_time_range(plan.query.filter));
  if (is_empty) {
    return invalid_query("text", "the query is empty; write at least one word or filter");
  }
  return plan;
}

Error query_error(std::size_t offset, std::string message) {
  return Error{.code = ErrorCode::E_INVALID_QUERY,
               .message = std::move(message),
               .column = offset + 1,
               .field = "text"};
}

std::string printable_text(std::string_view text) {
  const std::string valid = utf8_repaired(text);
  std::string printable;
  for (std::string_view rest = valid; !rest.empty();) {
    const std::string_view character = rest.substr(0, utf8_character_size(rest));
    printable += is_control(character) ? " " : character;
    rest.remove_prefix(character.size());
  }
  return printable;
}

std::string quoted_part(std::string_view text) {
  // A few bytes more than it can show, so that what is cut is never the end of what is shown.
  std::string printable = printable_text(text.substr(0, 4 * kQuotedCharactersMax + 4));
  std::string_view rest = printable;
  for (std::size_t count = 0; !rest.empty(); ++count) {
    if (count == kQuotedCharactersMax) {
      return printable.substr(0, printable.size() - rest.size()) + "…";
    }
    rest.remove_prefix(utf8_character_size(rest));
  }
  return printable;
}

}  // namespace bmad_mem
