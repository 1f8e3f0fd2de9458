// replacement.cpp - writes placeholders, replaces strings in JSON, and merges detections.
#include "replacement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "assignment_parts.hpp"
#include "base/hash.hpp"
#include "base/json_cursor.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "judged_values.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kRulePlace = "{rule}";
/// Digits of the hash in a placeholder: 2^16 secrets of a session before two are taken for one.
constexpr std::size_t kHashDigits = 8;

/// Whether `text` can stand where the rule and its hash stand: "github-pat:1f3870be".
bool is_rule_text(std::string_view text) {
  constexpr std::size_t kRuleSizeMax = 80;
  return !text.empty() && text.size() <= kRuleSizeMax && std::ranges::none_of(text, [](char c) {
    return c == '[' || c == ']' || static_cast<unsigned char>(c) <= ' ';
  });
}

bool is_id_name(std::string_view name) {
  return name == "id" || name.ends_with("_id") || name.ends_with("_ids") || name == "references" ||
         name == "links" || name == "supersedes" || name.starts_with("related_");
}

/// What the members of an object say of one another.
struct Members {
  /// The string value of the first of kPairNames that there is, for the "value" beside it.
  std::string_view paired;
  /// "db_password is ", of a fact that has this key; empty for one about nothing secret.
  std::string context;
};
constexpr auto kPairNames =
    std::to_array<std::string_view>({"name", "key", "Name", "Key", "variable", "header"});

bool is_pair_value(std::string_view name) { return name == "value" || name == "Value"; }

/// In one walk: to look each name up would be one for each of them.
Members members_of(JsonValue object) {
  std::array<JsonValue, kPairNames.size()> named;
  for (const JsonMember& member : object.members()) {
    const auto* const name = std::ranges::find(kPairNames, member.key);
    if (name != kPairNames.end() &&
        !named[static_cast<std::size_t>(name - kPairNames.begin())].present()) {
      named[static_cast<std::size_t>(name - kPairNames.begin())] = member.value;
    }
  }
  Members members;
  const auto* const first = std::ranges::find_if(named, &JsonValue::is_string);
  members.paired = first == named.end() ? std::string_view() : first->string();
  const std::string_view key = named[1].string();
  if (!key.empty() && secret_kind(key) != SecretKind::kNone) {
    members.context = fmt::format("{} is ", key);
  }
  return members;
}

/// Of a command's arguments, those that are looked at for what the next one is.
constexpr std::size_t kArgumentsMax = 160;

/// "-pVALUE".
bool is_glued_option(std::string_view argument) {
  constexpr std::size_t kSizeMin = 6;
  return argument.size() >= kSizeMin && argument[0] == '-' && argument[1] != '-';
}

/// Goes through the parsed value and the text at once: the one has the strings decoded, the other
/// knows where they stand.
class Walk {
 public:
  Walk(std::string_view json,
       const std::function<std::optional<std::string>(const JsonString&)>& replace)
      : json_(json), cursor_(json), replace_(replace) {}

  std::optional<std::string> run(JsonValue root) {
    value(root, {}, {}, false);
    if (copied_ == 0 && out_.empty()) {
      return std::nullopt;
    }
    out_.append(json_, copied_);
    return std::move(out_);
  }

 private:
  void value(JsonValue value, std::string_view name, std::string_view context, bool is_id) {
    if (value.is_string()) {
      write(replace_({.text = value.string(), .name = name, .context = context, .is_id = is_id}));
    } else if (value.is_object()) {
      object(value, name, is_id);
    } else if (value.is_array()) {
      array(value, name, is_id);
    } else {
      cursor_.value();
    }
  }

  void object(JsonValue object, std::string_view name, bool is_id) {
    const auto [paired, key_context] = members_of(object);
    // {"passwords": {"db": "…"}}: all of them are.
    const std::string_view one = singular_secret(name);
    std::vector<std::string> names;  // Of members that got another one.
    cursor_.step();
    for (const JsonMember& member : object.members()) {
      this->name(member.key, names);
      cursor_.step();  // The ':'.
      const bool takes_pair = !paired.empty() && is_pair_value(member.key);
      const bool takes_one = !one.empty() && secret_kind(member.key) == SecretKind::kNone;
      value(member.value,
            takes_pair  ? paired
            : takes_one ? one
                        : member.key,
            member.key == "content" ? std::string_view(key_context) : std::string_view(),
            is_id || is_id_name(member.key));
      skip_comma();
    }
    cursor_.step();
  }

  void array(JsonValue array, std::string_view name, bool is_id) {
    const std::string_view one = singular_secret(name);
    std::string_view option;  // The element before, when it is one.
    std::string arguments;
    cursor_.step();
    for (const JsonValue element : array.elements()) {
      const bool has_option = !option.empty() && element.is_string();
      const bool is_glued = element.is_string() && is_glued_option(element.string());
      value(element,
            has_option    ? option
            : one.empty() ? name
                          : one,
            has_option || is_glued ? std::string_view(arguments) : std::string_view(), is_id);
      option = element.is_string() && element.string().starts_with('-') ? element.string()
                                                                        : std::string_view();
      if (element.is_string() && arguments.size() < kArgumentsMax) {
        arguments.append(element.string().substr(0, kArgumentsMax)).append(" ");
      }
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

  /// Steps over the string at the cursor; writes `other` in its place if there is one.
  void write(const std::optional<std::string>& other) {
    const std::size_t begin = cursor_.at();
    const std::size_t size = cursor_.string().size() + 2;  // With its quotes.
    assert(copied_ <= begin && begin + size <= json_.size() && json_[begin] == '"');
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

/// A detection and the place it had in the list: lower ones know better what it is.
struct Ranked : Detection {
  std::size_t rank = 0;
};

/// Widens a detection to whole characters.
Detection snapped(std::string_view text, Detection detection) {
  while (detection.begin > 0 && is_continuation(text[detection.begin])) {
    --detection.begin;
  }
  while (detection.end < text.size() && is_continuation(text[detection.end])) {
    ++detection.end;
  }
  return detection;
}

/// What is left between two placeholders may be a separator only.
bool is_worth_taking_out(std::string_view text) {
  constexpr std::ptrdiff_t kWordSizeMin = 4;
  return std::ranges::count_if(text, [](char c) { return is_alnum(c) || !is_ascii(c); }) >=
         kWordSizeMin;
}

/// Appends what of `each` lies in none of `kept`.
void append_outside(std::string_view text, const Ranked& each, std::span<const Detection> kept,
                    std::vector<Ranked>& out) {
  auto next = std::ranges::lower_bound(kept, each.begin + 1, {}, &Detection::end);
  if (next == kept.end() || next->begin >= each.end) {
    out.push_back(each);
    return;
  }
  const auto append = [&](std::size_t begin, std::size_t end) {
    if (begin < end && is_worth_taking_out(text.substr(begin, end - begin))) {
      out.push_back(each);
      out.back().begin = begin;
      out.back().end = end;
    }
  };
  assert(each.begin < each.end && each.end <= text.size());
  std::size_t begin = each.begin;
  for (; next != kept.end() && next->begin < each.end; ++next) {
    append(begin, next->begin);
    begin = next->end;
  }
  append(begin, each.end);
}

/// Joins those that overlap; `ranked` is of one action.
Detections joined(std::vector<Ranked> ranked) {
  std::ranges::sort(ranked, {}, &Ranked::begin);
  std::vector<Ranked> all;
  for (const Ranked& each : ranked) {
    assert(each.begin < each.end);
    if (all.empty() || each.begin >= all.back().end) {
      all.push_back(each);
      continue;
    }
    Ranked& last = all.back();
    last.end = std::max(last.end, each.end);
    if (each.rank < last.rank) {
      last.rank = each.rank;
      last.rule = each.rule;
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace

std::string keyed_hash(std::string_view message, const RedactionKey& key) {
  return hash_hex(std::byteswap(keyed_hash(key, message)));  // Its bytes as the library has them.
}

std::string keyed_hash(std::string_view secret, const RedactionScope& scope) {
  return keyed_hash(fmt::format("{}{}{}", scope.session_id, '\0', secret), scope.key);
}

Result<Placeholder> Placeholder::make(const std::string& pattern, bool linkable) {
  const std::size_t at = pattern.find(kRulePlace);
  Placeholder placeholder;
  placeholder.linkable_ = linkable;
  placeholder.names_rule_ = at != std::string::npos;
  placeholder.before_ = pattern.substr(0, at);
  if (placeholder.names_rule_) {
    placeholder.after_ = pattern.substr(at + kRulePlace.size());
  }
  if (placeholder.before_.empty() || (placeholder.names_rule_ && placeholder.after_.empty())) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "memory_config.privacy.redaction.replacement",
                       "must have a character before and after {rule}, so that a text that "
                       "was redacted before is recognised by it");
  }
  return placeholder;
}

std::string Placeholder::text(std::string_view rule, std::string_view secret,
                              const RedactionScope& scope) const {
  assert(!before_.empty() && "make() refuses a placeholder without a sign of its own");
  if (!names_rule_) {
    return before_;
  }
  std::string text = before_;
  text += rule;
  if (linkable_) {
    text += ':' + keyed_hash(secret, scope).substr(0, kHashDigits);
  }
  return text + after_;
}

Detections Placeholder::find(std::string_view text) const {
  assert(!before_.empty() && "an empty text would be found everywhere");
  Detections all;
  for (std::size_t at = 0; (at = text.find(before_, at)) != std::string_view::npos;) {
    const std::size_t rule = at + before_.size();
    std::size_t end = rule;
    if (names_rule_) {
      constexpr std::size_t kLook = 100;
      const std::size_t after =
          text.substr(0, std::min(text.size(), rule + kLook)).find(after_, rule);
      if (after == std::string_view::npos || !is_rule_text(text.substr(rule, after - rule))) {
        ++at;
        continue;
      }
      end = after + after_.size();
    }
    all.push_back({.begin = at, .end = end});
    at = end;
  }
  return all;
}

std::string_view Placeholder::rule_in(std::string_view placeholder) const {
  if (!names_rule_) {
    return placeholder;
  }
  assert(placeholder.size() >= before_.size() + after_.size() && "find() found it");
  placeholder.remove_prefix(before_.size());
  placeholder.remove_suffix(after_.size());
  return placeholder.substr(0, placeholder.find(':'));
}

std::optional<std::string> replace_json_strings(
    JsonValue root, std::string_view json,
    const std::function<std::optional<std::string>(const JsonString&)>& replace) {
  return Walk(json, replace).run(root);
}

bool overlaps_any(const Detection& detection, const Detections& others) {
  const auto next = std::ranges::lower_bound(others, detection.begin + 1, {}, &Detection::end);
  return next != others.end() && next->begin < detection.end;
}

Detections merge_detections(std::string_view text, Detections detections,
                            std::span<const Detection> kept) {
  assert(std::ranges::is_sorted(kept, {}, &Detection::end));
  std::vector<Ranked> secrets;
  std::vector<Ranked> near;
  for (std::size_t i = 0; i < detections.size(); ++i) {
    if (detections[i].begin >= detections[i].end || detections[i].end > text.size()) {
      continue;
    }
    std::vector<Ranked>& list = detections[i].action == DetectionAction::kSecret ? secrets : near;
    const std::size_t rank = detections[i].rule == JudgedValues::kRule ? detections.size() : i;
    append_outside(text, {snapped(text, detections[i]), rank}, kept, list);
  }
  Detections all = joined(std::move(secrets));
  Detections rest = joined(std::move(near));
  std::erase_if(rest, [&](const Detection& each) { return overlaps_any(each, all); });
  Detections merged;
  std::ranges::merge(all, rest, std::back_inserter(merged), {}, &Detection::begin,
                     &Detection::begin);
  return merged;
}

}  // namespace bmad_mem
