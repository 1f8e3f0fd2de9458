// fuzz_text_targets.cpp - the targets whose input is text that people write, queries, dates, and
// whatever is indexed; and what encoders answer.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/text.hpp"
#include "encoder/external/external_encoder.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"
#include "search/analyzer.hpp"
#include "search/date_span.hpp"
#include "search/edit_matcher.hpp"
#include "search/query/plan.hpp"
#include "store/atomic_file.hpp"
#include "store/layout.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test {
namespace {

bool is_utf8(std::string_view text) { return utf8_valid_size(text) == text.size(); }

void check_error(const Error& error, std::string_view text) {
  must(error.code == ErrorCode::E_INVALID_QUERY, "a refusal has its code");
  must(error.column <= text.size() + 1, "the column is in the text");
  must(!error.message.empty() && error.message.size() < 1000, "a refusal has a reason");
  must(is_utf8(error.message), "the reason is UTF-8");
  must(error.message.find_first_of("\n\r\x1b\x7f") == std::string::npos, "it is one line");
}

/// Parts of a text: in order, apart from each other, and inside.
template <typename Parts>
void check_parts(const Parts& parts, std::size_t text_size) {
  std::size_t end = 0;
  for (const auto& part : parts) {
    must(part.offset >= end && part.size > 0, "parts stand one behind the other");
    end = part.offset + part.size;
  }
  must(end <= text_size, "parts are in the text");
}

void check_query(std::string_view text) {
  const Result<Plan> query = parse_query_text(text);
  if (!query) {
    check_error(query.error(), text);
    must(query.error().column > 0, "a refusal says where");
    return;
  }
  check_parts(query->clauses, text.size());
  check_parts(query->filters, text.size());
  const auto is_plain = [](const QueryClause& clause) {
    return clause.kind == ClauseKind::kWord && !clause.required && !clause.excluded;
  };
  must(query->clauses.size() <= kQueryClausesMax || std::ranges::all_of(query->clauses, is_plain),
       "many clauses are words");
  check_parts(query->as_prose, text.size());
  must(query->notes.size() >= query->as_prose.size(), "what was read as words is said");
  must(query->prose.size() == text.size(), "offsets in the prose agree");
  bool is_positive = query->clauses.empty();
  for (const QueryClause& clause : query->clauses) {
    must(!clause.text.empty() && is_utf8(clause.text), "a clause has a text");
    must(!(clause.required && clause.excluded), "nothing is wanted and not wanted");
    is_positive = is_positive || !clause.excluded;
  }
  for (const QueryFilter& filter : query->filters) {
    must(!filter.value.empty(), "a filter has a value");
    must(filter.type.has_value() == (filter.field == FilterField::kType), "a type is one");
    must(filter.time.has_value() ==
             (filter.field == FilterField::kSince || filter.field == FilterField::kUntil),
         "a time is one");
    is_positive = is_positive || !filter.excluded;
  }
  must(is_positive, "something is asked for");
}

void check_dates(std::string_view text) {
  constexpr Timestamp kNow{std::chrono::milliseconds(1'795'000'000'000)};  // In November 2026.
  const std::vector<DateSpan> spans = find_date_spans(text, kNow);
  std::vector<DateSpan> places;
  for (const DateSpan& span : spans) {
    const bool is_second_reading = !places.empty() && places.back().offset == span.offset;
    if (!is_second_reading) {
      places.push_back(span);
    }
    must(!is_second_reading || places.back().size == span.size, "readings share their words");
  }
  check_parts(places, text.size());
  for (const DateSpan& span : spans) {
    must(span.begin < span.end, "a span has a length");
    must(date_match(span.begin, span) == 1, "its begin is inside");
    must(date_match(span.end + kDateEcho, span) == 0, "its echo ends");
  }
}

void check_distance(std::string_view text) {
  const std::string_view a = text.substr(0, text.size() / 2);
  const std::string_view b = text.substr(text.size() / 2);
  const EditMatcher matcher(a);
  must(matcher.distance(b) == EditMatcher(b, matcher.bound()).distance(a),
       "it is as far there as back");
}

/// What may stand in the index: JSON without escapes, no upper-case ASCII letter.
bool is_index_key(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || c == '"' || c == '\\' || (c >= 'A' && c <= 'Z')) {
      return false;
    }
  }
  return is_utf8(text);
}

Analyzer& analyzer_of(std::size_t choice) {
  static std::vector<Analyzer> analyzers = [] {
    std::vector<Analyzer> all;
    for (const char* language : {"english", "german", "french", "spanish", "italian", "russian"}) {
      all.push_back(Analyzer::create(language).value());
    }
    return all;
  }();
  return analyzers[choice % analyzers.size()];
}

struct OwnedToken {
  std::string text;
  std::size_t offset = 0;
  std::size_t size = 0;
  bool whole = false;

  bool operator==(const OwnedToken&) const = default;
};

std::vector<OwnedToken> tokens_of(Analyzer& analyzer, std::string_view text) {
  std::vector<OwnedToken> tokens;
  for (const Token& token : analyzer.tokenize(text)) {
    tokens.push_back({std::string(token.text), token.offset, token.size, token.whole});
  }
  return tokens;
}

}  // namespace

void fuzz_query(std::string_view bytes) {
  check_query(bytes);
  check_dates(bytes);
  if (const Result<Query> query = read_json_query(bytes, Timestamp{}); !query) {
    check_error(query.error(), bytes);
  }
  check_distance(bytes);
}

void fuzz_analyzer(std::string_view bytes) {
  if (bytes.empty()) {
    return;
  }
  Analyzer& analyzer = analyzer_of(static_cast<unsigned char>(bytes.front()));
  const std::string_view text = bytes.substr(1);
  const std::vector<OwnedToken> tokens = tokens_of(analyzer, text);
  std::size_t offset = 0;
  for (const OwnedToken& token : tokens) {
    must(token.offset >= offset && token.size > 0, "tokens come in order");
    must(token.offset + token.size <= text.size(), "tokens are in the text");
    must(!token.text.empty() && token.text.size() <= kTokenSizeMax, "tokens have their size");
    must(is_index_key(token.text), "tokens stand in JSON as they are");
    offset = token.offset;
    const std::string term(analyzer.term(token.text, token.whole));
    must(is_index_key(term), "terms stand in JSON as they are");
    must(analyzer.term(token.text, token.whole) == term, "a term is the same again");
  }
  must(tokens_of(analyzer, std::string(text)) == tokens, "tokens are the same again");
}

namespace {

void check_vectors(const Result<Vectors>& vectors, std::size_t count) {
  if (!vectors) {
    must(vectors.error().code == ErrorCode::E_INVALID_FORMAT, "a refusal has its code");
    must(!vectors.error().message.empty(), "a refusal has a reason");
    return;
  }
  const std::size_t dimension = vectors->dimension;
  must(dimension >= 1 && dimension <= kDimensionMax, "the dimension is in its range");
  must(vectors->numbers.size() == count * dimension, "there is a row for each text");
  for (std::size_t row = 0; row < count; ++row) {
    double square = 0;
    for (std::size_t i = 0; i < dimension; ++i) {
      square += std::pow(double{vectors->numbers[row * dimension + i]}, 2);
    }
    must(square == 0 || std::abs(square - 1) < 1e-3, "a vector has length 1 or 0");
  }
}

}  // namespace

void fuzz_vectors(std::string_view bytes) {
  const std::size_t count = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]) % 4;
  const std::string_view answer = bytes.substr(std::min<std::size_t>(bytes.size(), 1));
  check_vectors(program_vectors(answer, count), count);
  check_vectors(server_vectors(answer, count), count);
  MemoryFileSystem files;
  must(replace_file(files, kEncoderStateName, answer).has_value(), "the file is there");
  const EncoderRecord record = read_encoder_record(files, 1);
  must(record.dimension <= kDimensionMax && record.failures >= 0 &&
           record.failures <= kEncoderFailuresMax,
       "what is kept is in its range");
  if (const Result<HttpPlace> place = http_place(answer, false); place) {
    for (const std::string& address : place->addresses) {
      must(address.starts_with("127.") || address == "::1", "the place is on this machine");
    }
    must(place->port > 0 && place->target.starts_with('/'), "there is a port and a path");
    must((place->host + place->target).find_first_of("\r\n ") == std::string::npos,
         "a header stays one line");
  }
}

}  // namespace bmad_mem::test
