// object_text.cpp - takes a JSON object apart into members as text, and joins them again.
#include "base/object_text.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

#include <simdjson.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

std::string minified(std::string_view text) {
  std::string compact(text.size() + simdjson::SIMDJSON_PADDING, '\0');
  std::size_t size = 0;
  const simdjson::error_code error =
      simdjson::minify(text.data(), text.size(), compact.data(), size);
  assert(error == simdjson::SUCCESS);
  static_cast<void>(error);
  compact.resize(size);
  return compact;
}

}  // namespace

ObjectText::ObjectText(JsonValue object, std::string_view text) {
  assert(object.is_object());
  const std::string compact = minified(text);
  assert(compact.starts_with('{') && compact.ends_with('}'));
  constexpr std::size_t kUsual = 12;
  members_.reserve(kUsual);
  JsonCursor cursor(compact);
  for (const JsonMember& member : object.members()) {
    cursor.step();  // Over the '{' or a ','.
    const std::size_t begin = cursor.at();
    cursor.string();
    const std::size_t colon = cursor.at();
    cursor.step();
    cursor.value();
    members_.push_back({.key = std::string(member.key),
                        .key_raw = compact.substr(begin, colon - begin),
                        .raw = compact.substr(colon + 1, cursor.at() - colon - 1)});
  }
}

ObjectText::ObjectText(std::string_view text) {
  if (const ParsedJson value(text); value && value->is_object()) {
    *this = ObjectText(*value, text);
  }
}

const ObjectText::Member* ObjectText::find(std::string_view key) const {
  return find_by(members_, key, &Member::key);
}

bool ObjectText::has(std::string_view key) const { return find(key) != nullptr; }

std::vector<std::string> ObjectText::keys() const {
  std::vector<std::string> keys;
  std::ranges::transform(members_, std::back_inserter(keys), &Member::key);
  return keys;
}

std::string_view ObjectText::raw(std::string_view key) const {
  const Member* member = find(key);
  return member == nullptr ? std::string_view() : std::string_view(member->raw);
}

void ObjectText::set(std::string_view key, std::string raw) {
  assert(!raw.empty());
  const auto found = std::ranges::find(members_, key, &Member::key);
  if (found != members_.end()) {
    found->raw = std::move(raw);
    return;
  }
  members_.push_back({.key = std::string(key), .key_raw = json_quoted(key), .raw = std::move(raw)});
}

void ObjectText::set_unless_empty(std::string_view key, std::string raw) {
  if (raw == "{}" || raw == "[]") {
    remove(key);
  } else {
    set(key, std::move(raw));
  }
}

void ObjectText::set_string(std::string_view key, std::string_view value) {
  set(key, json_quoted(value));
}

void ObjectText::remove(std::string_view key) {
  std::erase_if(members_, [&](const Member& member) { return member.key == key; });
}

std::string ObjectText::to_line(std::span<const std::string_view> first,
                                std::span<const std::string_view> last) const {
  std::size_t size = 2;
  for (const Member& member : members_) {
    size += member.key_raw.size() + member.raw.size() + 2;
  }
  std::string line;
  line.reserve(size);
  line += '{';
  const auto append = [&](const Member& member) {
    line += line.size() > 1 ? "," : "";
    line += member.key_raw;
    line += ':';
    line += member.raw;
  };
  const auto append_named = [&](std::span<const std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (const Member* member = find(key)) {
        append(*member);
      }
    }
  };
  append_named(first);
  for (const Member& member : members_) {
    if (!is_among(first, member.key) && !is_among(last, member.key)) {
      append(member);
    }
  }
  append_named(last);
  assert(!line.contains('\n') && "the object is on one line");
  line += '}';
  return line;
}

}  // namespace bmad_mem
