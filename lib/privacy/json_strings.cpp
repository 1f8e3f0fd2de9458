#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json_cursor.hpp"
#include "bmad_mem/json_writer.hpp"
#include "replacement.hpp"

namespace bmad_mem {
namespace {

bool is_id_name(std::string_view name) {
  return name == "id" || name.ends_with("_id") || name.ends_with("_ids") || name == "references" ||
         name == "supersedes" || name.starts_with("related_");
}

/// What the string value of one of these names is the name of the "value" beside it.
std::string_view pair_name(JsonValue object) {
  for (const std::string_view key : {"name", "key", "Name", "Key", "variable", "header"}) {
    if (const JsonValue name = object[key]; name.is_string()) {
      return name.string();
    }
  }
  return {};
}

bool is_pair_value(std::string_view name) { return name == "value" || name == "Value"; }

/// Goes through the parsed value and the text at once: the one has the strings decoded, the other
/// knows where they stand.
class Walk {
 public:
  Walk(std::string_view json,
       const std::function<std::optional<std::string>(const JsonString&)>& replace)
      : json_(json), cursor_(json), replace_(replace) {}

  std::optional<std::string> run(JsonValue root) {
    value(root, {}, false);
    if (copied_ == 0 && out_.empty()) {
      return std::nullopt;
    }
    out_.append(json_, copied_);
    return std::move(out_);
  }

 private:
  void value(JsonValue value, std::string_view name, bool is_id) {
    if (value.is_string()) {
      string({.text = value.string(), .name = name, .is_id = is_id});
    } else if (value.is_object()) {
      object(value, is_id);
    } else if (value.is_array()) {
      array(value, name, is_id);
    } else {
      cursor_.value();
    }
  }

  void object(JsonValue object, bool is_id) {
    const std::string_view paired = pair_name(object);
    std::vector<std::string> names;  // Of members that got another one.
    cursor_.step();
    for (const JsonMember& member : object.members()) {
      name(member.key, names);
      cursor_.step();  // The ':'.
      const bool takes_pair = !paired.empty() && is_pair_value(member.key);
      value(member.value, takes_pair ? paired : member.key, is_id || is_id_name(member.key));
      skip_comma();
    }
    cursor_.step();
  }

  void array(JsonValue array, std::string_view name, bool is_id) {
    cursor_.step();
    for (const JsonValue element : array.elements()) {
      value(element, name, is_id);
      skip_comma();
    }
    cursor_.step();
  }

  void skip_comma() {
    if (cursor_.peek() == ',') {
      cursor_.step();
    }
  }

  /// The name of a member. Two of an object stay apart.
  void name(std::string_view text, std::vector<std::string>& taken) {
    std::optional<std::string> other = replace_({.text = text});
    if (other) {
      const std::string wanted = *other;
      for (int number = 2; std::ranges::find(taken, *other) != taken.end(); ++number) {
        other = fmt::format("{}#{}", wanted, number);
      }
      taken.push_back(*other);
    }
    write(other);
  }

  void string(const JsonString& string) { write(replace_(string)); }

  /// Steps over the string at the cursor; writes `other` in its place if there is one.
  void write(const std::optional<std::string>& other) {
    const std::size_t begin = cursor_.at();
    const std::size_t size = cursor_.string().size() + 2;  // With its quotes.
    if (other) {
      out_.append(json_, copied_, begin - copied_);
      append_json_quoted(out_, *other);
      copied_ = begin + size;
    }
  }

  std::string_view json_;
  JsonCursor cursor_;
  const std::function<std::optional<std::string>(const JsonString&)>& replace_;
  std::string out_;
  std::size_t copied_ = 0;  // Up to here `json_` is in `out_`.
};

}  // namespace

std::optional<std::string> replace_json_strings(
    JsonValue root, std::string_view json,
    const std::function<std::optional<std::string>(const JsonString&)>& replace) {
  return Walk(json, replace).run(root);
}

}  // namespace bmad_mem
