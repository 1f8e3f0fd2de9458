// view_text.cpp - fills in the texts of views.toml from the members of a result.
#include "cli/view_text.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

/// The member `name` of views.toml. Each begins a line of its own, as no text and no member of a
/// member does: it is found without a look at the others, which would take a third of an `add`.
JsonValue member_of_table(std::string_view name) {
  static thread_local std::map<std::string, ParsedJson, std::less<>> read;
  auto member = read.find(name);
  if (member == read.end()) {
    const std::string head = fmt::format("\n\"{}\" : ", name);
    std::string_view text = views_json();
    const std::size_t begin = text.find(head);
    assert(begin != std::string_view::npos);
    text.remove_prefix(begin + head.size());
    text = text.substr(0, std::min(text.find("\n\""), text.rfind('}')));
    member = read.try_emplace(std::string(name), trimmed(text, ", \n")).first;
  }
  return *member->second;
}

bool is_there(JsonValue value) {
  return value.boolean() || !value.string().empty() || number_of(value) != 0;
}

/// A view that is being filled in.
class ViewWriter {
 public:
  ViewWriter(JsonValue object, const Style& style, std::size_t width)
      : scopes_({{object, {}}}), style_(style), width_(width) {}

  ViewText written(std::string_view view) {
    ViewText made{.text = filled(view)};
    made.text += made.text.empty() || made.text.ends_with('\n') ? "" : "\n";
    made.notes = std::move(notes_);
    return made;
  }

 private:
  struct Scope {
    JsonValue value;
    std::string_view key;
  };

  std::string filled(std::string_view rest) {
    const std::string_view around = std::exchange(view_, rest);
    std::string out;
    block(rest, &out);
    view_ = around;
    return out;
  }

  [[nodiscard]] JsonValue find(std::string_view path) const {
    if (path.starts_with('$')) {
      return member_of_table(path.substr(1));
    }
    if (path == ".") {
      return scopes_.back().value;
    }
    const std::string_view first = taken(path, '.');
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (JsonValue value = scope->value[first]; value.present()) {
        while (!path.empty()) {
          value = value[taken(path, '.')];
        }
        return value;
      }
    }
    return {};
  }

  [[nodiscard]] bool holds_term(std::string_view term) const {
    const std::size_t at = std::min(term.find_first_of("=<>~"), term.size());
    const JsonValue value = find(term.substr(0, at));
    if (at == term.size()) {
      return is_there(value);
    }
    const std::string_view word = term.substr(at + 1);
    switch (term[at]) {
      case '=':
        return plain_text(value) ==
               (word.starts_with('@') ? plain_text(find(word.substr(1))) : word);
      case '~':
        return value.string().starts_with(word);
      case '<':
        return number_of(value) < *real_in(word);
      default:
        return number_of(value) > *real_in(word);
    }
  }

  [[nodiscard]] std::string formed(JsonValue value, std::string text,
                                   std::string_view forms) const {
    while (!forms.empty()) {
      std::string_view argument = taken(forms, '|');
      const std::string_view name = taken(argument, ' ');
      const std::string named =
          argument.starts_with('@') ? plain_text(find(argument.substr(1))) : std::string(argument);
      text = formed_text(name, {value, std::move(text), named, style_, width_});
    }
    return text;
  }

  /// Writes up to the tag that ends the block, and returns that. `out` is null for what is not
  /// shown.
  std::string_view block(std::string_view& rest, std::string* out) {
    while (!rest.empty()) {
      write(rest.substr(0, rest.find('{')), out);
      rest.remove_prefix(std::min(rest.find('{'), rest.size()));
      if (rest.empty()) {
        break;
      }
      const bool begins_line = rest.data() == view_.data() || rest.data()[-1] == '\n';
      rest.remove_prefix(1);
      const std::string_view tag = taken(rest, '}');
      const bool is_alone = begins_line && rest.starts_with('\n') &&
                            std::string_view("?#@:/>&").contains(tag.front());
      rest.remove_prefix(is_alone ? 1 : 0);
      if (tag.front() == '/' || tag.front() == ':') {
        return tag;
      }
      write_tag(tag, is_alone, rest, out);
    }
    return {};
  }

  void write(std::string_view text, std::string* out) const {
    while (out != nullptr && !text.empty()) {
      const std::size_t at = is_table_ ? text.find(" | ") : std::string_view::npos;
      *out += text.substr(0, at);
      *out += at == std::string_view::npos ? "" : "\t";
      text.remove_prefix(at == std::string_view::npos ? text.size() : at + 3);
    }
  }

  void write_tag(std::string_view tag, bool is_alone, std::string_view& rest, std::string* out) {
    const std::string_view said = tag.substr(1);
    switch (tag.front()) {
      case '?':
        choose(said, rest, out);
        return;
      case '#':
      case '@':
        if (!said.empty() && !said.starts_with('|')) {
          repeat(said, tag.front() == '@', rest, out);
          return;
        }
        break;
      case '>':
        surround(said, rest, out);
        return;
      case '&':
        if (out != nullptr) {
          *out += filled(view_named(said));
          *out += is_alone && !out->ends_with('\n') ? "\n" : "";
        }
        return;
      default:
        break;
    }
    if (out != nullptr) {
      const std::string_view path = taken(tag, '|');
      const JsonValue value = find(path);
      *out += formed(value, path == "@" ? printable(scopes_.back().key) : plain_text(value), tag);
    }
  }

  void choose(std::string_view condition, std::string_view& rest, std::string* out) {
    const auto is_so = [&](std::string_view term) { return holds_term(term); };
    bool is_done = out == nullptr;
    for (bool is_last = false; !is_last;) {
      const bool is_shown = !is_done && (condition.empty() || holds(condition, is_so));
      is_done = is_done || is_shown;
      const std::string_view end = block(rest, is_shown ? out : nullptr);
      is_last = !end.starts_with(':');
      condition = end.substr(std::min<std::size_t>(1, end.size()));
    }
  }

  /// "PATH", "PATH MOST": for each element; once for an object, or for each of its members.
  void repeat(std::string_view said, bool by_member, std::string_view& rest, std::string* out) {
    const JsonValue value = find(taken(said, ' '));
    std::size_t left = said.empty() ? std::string_view::npos : *number_in<std::size_t>(said);
    const std::string_view begin = rest;
    block(rest, nullptr);
    const std::string_view after = rest;
    const auto visit = [&](JsonValue each, std::string_view key) {
      if (left > 0) {
        --left;
        rest = begin;
        scopes_.push_back({each, key});
        block(rest, out);
        scopes_.pop_back();
      }
    };
    if (out != nullptr && value.is_object() && !by_member) {
      visit(value, {});
    } else if (out != nullptr) {
      for (const JsonValue each : value.elements()) {
        visit(each, {});
      }
      for (const JsonMember& member : value.members()) {
        visit(member.value, member.key);
      }
    }
    rest = after;
  }

  /// "note CONDITION", or "FORM ARGUMENT".
  void surround(std::string_view said, std::string_view& rest, std::string* out) {
    const std::string_view name = said.substr(0, said.find(' '));
    std::string inner;
    if (name == "note") {
      const auto is_so = [&](std::string_view term) { return holds_term(term); };
      const bool is_shown = out != nullptr && (name == said || holds(said.substr(5), is_so));
      block(rest, is_shown ? &inner : nullptr);
      rest.remove_prefix(rest.starts_with('\n') ? 1 : 0);
      if (is_shown) {
        notes_.push_back(std::move(inner));
      }
      return;
    }
    const bool was_table =
        std::exchange(is_table_, is_table_ || name == "table" || name == "list" ||
                                     name == "fields" || name == "explained");
    block(rest, out == nullptr ? nullptr : &inner);
    is_table_ = was_table;
    if (out != nullptr && (name != "once" || said_.insert(inner).second)) {
      *out += name == "once" ? inner : formed({}, std::move(inner), said);
    }
  }

  std::string_view view_;
  std::vector<Scope> scopes_;
  const Style& style_;
  std::size_t width_;
  bool is_table_ = false;
  std::vector<std::string> notes_;
  std::set<std::string> said_;  // By "once".
};

}  // namespace

std::string_view view_named(std::string_view path) {
  JsonValue view = member_of_table(taken(path, '.'));
  while (!path.empty()) {
    view = view[taken(path, '.')];
  }
  assert(view.is_string());
  return view.string();
}

ViewText fill_view(std::string_view view, std::string_view object, const Style& style,
                   std::size_t width) {
  ParsedJson value(object);
  if (!value) {  // A path may be no UTF-8.
    value = ParsedJson(utf8_repaired(object));
  }
  return value ? ViewWriter(*value, style, width).written(view)
               : ViewText{.text = std::string(object)};
}

ViewText view_text(std::string_view name, std::string_view object, const Style& style,
                   std::size_t width) {
  return fill_view(view_named(name), object, style, width);
}

std::string view_line(std::string_view name, std::string_view object) {
  std::string text = view_text(name, object, Style(false), 0).text;
  text.erase(text.size() - (text.ends_with('\n') ? 1 : 0));
  return text;
}

}  // namespace bmad_mem::cli
