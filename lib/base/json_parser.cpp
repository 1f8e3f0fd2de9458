// json_parser.cpp - parses with simdjson, and refuses what simdjson accepts and we do not.
#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <simdjson.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);

/// One bit of 64 for a key: keys with different bits differ.
std::uint64_t key_bit(std::string_view key) {
  if (key.empty()) {
    return 1;
  }
  const auto first = static_cast<unsigned char>(key.front());
  const auto last = static_cast<unsigned char>(key.back());
  return std::uint64_t{1} << ((key.size() * 7 + std::size_t{first} * 5 + last) & 63U);
}

/// Whether two keys of `object` itself are equal. Small objects, which nearly all are, are compared
/// pair by pair where the bits of two keys meet; large ones are sorted, so that hostile input costs
/// n log n.
bool has_duplicate_key(JsonValue object) {
  assert(object.is_object());
  constexpr std::size_t kPairwiseMax = 24;
  std::array<std::string_view, kPairwiseMax> keys;
  std::size_t count = 0;
  std::uint64_t seen = 0;
  for (const JsonMember& member : object.members()) {
    if (count == kPairwiseMax) {
      std::vector<std::string_view> all = mapped(object.members(), &JsonMember::key);
      std::ranges::sort(all);
      return std::ranges::adjacent_find(all) != all.end();
    }
    const std::uint64_t bit = key_bit(member.key);
    if ((seen & bit) != 0 &&
        std::find(keys.begin(), keys.begin() + count, member.key) != keys.begin() + count) {
      return true;
    }
    seen |= bit;
    keys[count++] = member.key;
  }
  return false;
}

/// What simdjson lets pass and we do not: a key twice, NUL in a string or key, and an empty object
/// or array below the deepest level. `depth` is how many containers are around `value`.
bool is_strict(JsonValue value, bool may_hold_nul, std::size_t depth) {
  assert(depth <= kJsonDepthMax + 1 && "simdjson bounds the nesting, and so this recursion");
  const auto holds_nul = [&](std::string_view text) {
    return may_hold_nul && text.find('\0') != std::string_view::npos;
  };
  switch (value.kind()) {
    case JsonKind::kString:
      return !holds_nul(value.string());
    case JsonKind::kArray:
      return depth < kJsonDepthMax &&
             std::ranges::all_of(
                 value.elements(),
                 [&](JsonValue element) { return is_strict(element, may_hold_nul, depth + 1); });
    case JsonKind::kObject:
      return depth < kJsonDepthMax && !has_duplicate_key(value) &&
             std::ranges::all_of(
                 value.members(),
                 [&](const JsonMember& member) {
                   return !holds_nul(member.key) &&
                          is_strict(member.value, may_hold_nul, depth + 1);
                 });
    default:
      return true;
  }
}

}  // namespace

namespace {

thread_local std::uint64_t texts_read = 0;

}  // namespace

std::uint64_t json_texts_read() { return texts_read; }

struct JsonParser::Impl {
  simdjson::dom::parser parser;
  std::string padded;  // parse() copies its text here.
};

JsonParser::JsonParser() : impl_(std::make_unique<Impl>()) {
  constexpr std::size_t kFirstCapacity = 4096;  // Most entries fit; the parser grows by itself.
  // simdjson counts an empty container as one level less; so it is let one further, and is_strict()
  // has the last word.
  if (impl_->parser.allocate(kFirstCapacity, kJsonDepthMax + 1) != simdjson::SUCCESS) {
    throw std::bad_alloc();
  }
}
JsonParser::JsonParser(JsonParser&&) noexcept = default;
JsonParser& JsonParser::operator=(JsonParser&&) noexcept = default;
JsonParser::~JsonParser() = default;

std::optional<JsonValue> JsonParser::try_parse_padded(std::string_view text) {
  assert(impl_ != nullptr && "the parser was moved from");
  ++texts_read;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) {
    return std::nullopt;
  }
  simdjson::dom::element root;
  if (impl_->parser.parse(text.data(), text.size(), false).get(root) != simdjson::SUCCESS) {
    return std::nullopt;
  }
  const simdjson::dom::document& document = impl_->parser.doc;
  constexpr std::size_t kRootIndex = 1;  // Word 0 is the frame around the whole text.
  const JsonValue value(document.tape.get(), document.string_buf.get(), kRootIndex);
  // NUL can only come from the escape \u0000: simdjson refuses a raw one.
  const bool may_hold_nul = std::memchr(text.data(), '\\', text.size()) != nullptr &&
                            text.find("\\u0000") != std::string_view::npos;
  if (!is_strict(value, may_hold_nul, 0)) {
    return std::nullopt;
  }
  return value;
}

Result<JsonValue> JsonParser::parse(std::string_view text) {
  impl_->padded.assign(text);
  impl_->padded.append(kJsonPadding, '\0');
  const std::string_view copy(impl_->padded.data(), text.size());
  if (const std::optional<JsonValue> value = try_parse_padded(copy)) {
    return *value;
  }
  return json_problem(text);
}

Result<ParsedJson> parse_json(std::string_view text) {
  ParsedJson parsed(text);
  if (!parsed) {
    return parsed.error();
  }
  return parsed;
}

std::string_view json_kind_name(JsonKind kind) {
  static constexpr std::array<std::string_view, 9> kNames = {"nothing",  "null",     "a boolean",
                                                             "a number", "a number", "a number",
                                                             "a string", "an array", "an object"};
  assert(static_cast<std::size_t>(kind) < kNames.size());
  return kNames[static_cast<std::size_t>(kind)];
}

double JsonValue::number(double fallback) const {
  switch (kind()) {
    case JsonKind::kInteger:
      return static_cast<double>(static_cast<std::int64_t>(tape_[index_ + 1]));
    case JsonKind::kUnsigned:
      return static_cast<double>(tape_[index_ + 1]);
    case JsonKind::kReal:
      return std::bit_cast<double>(tape_[index_ + 1]);
    default:
      return fallback;
  }
}

}  // namespace bmad_mem
