#include "query/query_parser.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/utf8.hpp"
#include "query_error.hpp"
#include "query_scanner.hpp"

namespace bmad_mem {
namespace {

Status check_bytes(std::string_view text) {
  if (text.size() > kQuerySizeMax) {
    return query_error(kQuerySizeMax,
                       fmt::format("the query has {} bytes, {} at most are taken; shorten it",
                                   text.size(), kQuerySizeMax));
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return query_error(nul, "the query holds a NUL byte; leave it out");
  }
  if (const std::size_t valid = utf8_valid_size(text); valid != text.size()) {
    return query_error(valid, fmt::format("the query is not valid UTF-8: byte 0x{:02x}; convert it",
                                          static_cast<unsigned char>(text[valid])));
  }
  return {};
}

Result<std::vector<QueryItem>> scan_items(std::string_view text) {
  std::vector<QueryItem> items;
  QueryScanner scanner(text);
  while (scanner.has_next()) {
    BMAD_TRY_ASSIGN(QueryItem item, scanner.next());
    items.push_back(std::move(item));
  }
  return items;
}

void require(QueryItem& item) {
  if (!item.filter) {
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

Status check_items(std::span<const QueryItem> items) {
  std::size_t count = 0;
  bool found_positive = false;
  const QueryItem* first_excluded = nullptr;
  for (const QueryItem& item : items) {
    if (item.op != QueryOperator::kNone) {
      continue;
    }
    if (++count > kQueryClausesMax) {
      return query_error(item.offset(), fmt::format("the query has more than {} words and filters; "
                                                    "leave out what matters least",
                                                    kQueryClausesMax));
    }
    if (item.excluded() && item.filter && item.filter->time) {
      return query_error(item.offset(),
                         "a time cannot be excluded; turn since: into until:, or the "
                         "other way round");
    }
    if (item.excluded() && first_excluded == nullptr) {
      first_excluded = &item;
    }
    found_positive = found_positive || !item.excluded();
  }
  if (first_excluded != nullptr && !found_positive) {
    return query_error(
        first_excluded->offset(),
        "the query only says what is not wanted; add a word or a filter to look for");
  }
  return {};
}

/// Ranges that only the clock can tell to be empty are left to the planner.
Status check_time_range(std::span<const QueryFilter> filters) {
  constexpr Timestamp kAnyTime{};
  for (const QueryFilter& until : filters) {
    for (const QueryFilter& since : filters) {
      if (since.field == FilterField::kSince && until.field == FilterField::kUntil &&
          since.time->is_fixed() && until.time->is_fixed() &&
          since.time->at(kAnyTime) > until.time->at(kAnyTime)) {
        return query_error(std::max(since.offset, until.offset),
                           fmt::format("nothing is both since {} and until {}; swap the times",
                                       quoted_part(since.value), quoted_part(until.value)));
      }
    }
  }
  return {};
}

}  // namespace

Result<ParsedQuery> parse_query_text(std::string_view text) {
  BMAD_TRY(check_bytes(text));
  BMAD_TRY_ASSIGN(std::vector<QueryItem> items, scan_items(text));
  resolve_operators(items);
  BMAD_TRY(check_items(items));
  ParsedQuery query{.clauses = {}, .filters = {}, .prose = std::string(text)};
  for (QueryItem& item : items) {
    const bool is_operator = item.op != QueryOperator::kNone;
    if (is_operator || item.filter || item.excluded()) {
      query.prose.replace(item.offset(), item.size(), item.size(), ' ');
    }
    if (item.filter) {
      query.filters.push_back(*std::move(item.filter));
    } else if (!is_operator) {
      query.clauses.push_back(std::move(item.clause));
    }
  }
  BMAD_TRY(check_time_range(query.filters));
  return query;
}

}  // namespace bmad_mem
