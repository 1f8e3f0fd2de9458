// allow_list.cpp - decides what allow lists of rules files and of config.json leave unredacted.
#include "allow_list.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "base/hash.hpp"
#include "bmad_mem/text.hpp"
#include "rule_file.hpp"

namespace bmad_mem {

struct LazyPattern::Compiled {
  std::once_flag once;
  std::optional<RE2> regex;
};

LazyPattern::LazyPattern(std::string text)
    : text_(std::move(text)), compiled_(std::make_shared<Compiled>()) {}

const RE2& LazyPattern::get() const {
  assert(compiled_ != nullptr && "a pattern that was moved from is not used");
  std::call_once(compiled_->once, [this] { compiled_->regex.emplace(text_, RE2::Quiet); });
  return *compiled_->regex;
}

bool LazyPattern::matches(std::string_view text) const {
  return get().ok() && RE2::PartialMatch({text.data(), text.size()}, get());
}

void LazyPattern::for_each_match(
    std::string_view text, const std::function<void(std::span<const std::string_view> groups)>& use,
    std::size_t last_group) const {
  constexpr int kGroupsMax = 100;
  std::array<re2::StringPiece, kGroupsMax> groups;
  std::array<std::string_view, kGroupsMax> views;
  const int count = std::min(get().NumberOfCapturingGroups() + 1, kGroupsMax);
  for (std::size_t at = 0;
       at <= text.size() && get().Match({text.data(), text.size()}, at, text.size(),
                                        RE2::UNANCHORED, groups.data(), count);) {
    const auto matched = std::span(groups).first(static_cast<std::size_t>(count));
    std::ranges::transform(matched, views.begin(), [](const re2::StringPiece& piece) {
      return std::string_view(piece.data(), piece.size());
    });
    assert(last_group < matched.size());
    const std::string_view last = views[last_group];
    at = std::max(static_cast<std::size_t>(last.data() - text.data()) + last.size(), at + 1);
    use(std::span(views).first(matched.size()));
  }
}

std::string_view FoundText::lines() const {
  const auto begin = static_cast<std::size_t>(match.data() - text.data());
  assert(begin + match.size() <= text.size() && "the match is a part of the text");
  const std::size_t before = text.substr(0, begin).rfind('\n');
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t last = std::min(text.find('\n', begin + match.size()), text.size());
  return text.substr(first, last - first);
}

bool Allow::holds(const FoundText& found) const {
  const auto any = [](const std::vector<LazyPattern>& patterns, std::string_view text) {
    return std::ranges::any_of(patterns,
                               [&](const LazyPattern& each) { return each.matches(text); });
  };
  const bool has_path = !found.path.empty() && any(paths, found.path);
  if (has_path && !needs_all) {
    return true;
  }
  const bool has_regex = any(regexes, target == AllowTarget::kSecret  ? found.secret
                                      : target == AllowTarget::kMatch ? found.match
                                                                      : found.lines());
  const std::string secret = stopwords.empty() ? std::string() : lower_ascii(found.secret);
  const bool has_word = std::ranges::any_of(
      stopwords, [&](const std::string& each) { return secret.contains(each); });
  return needs_all ? (paths.empty() || has_path) && (regexes.empty() || has_regex) &&
                         (stopwords.empty() || has_word) && !has_commits
                   : has_regex || has_word;
}

std::string Allow::terms() const {
  std::vector<std::string> terms;
  const auto add = [&](std::string_view kind, std::string_view text) {
    terms.push_back(fmt::format("{} {}", kind, shown_in_message(text, 200)));
  };
  for (const LazyPattern& each : paths) {
    add("path", each.text());
  }
  for (const LazyPattern& each : regexes) {
    add("regex", each.text());
  }
  for (const std::string& each : stopwords) {
    add("word", each);
  }
  return fmt::format("{}", fmt::join(terms, needs_all ? " and " : ", "));
}

bool any_holds(const Allows& allows, const FoundText& found) {
  return std::ranges::any_of(allows, [&](const Allow& each) { return each.holds(found); });
}

namespace {

/// Whether all of `text` is `pattern`, in which '*' is any text.
bool is_like(std::string_view text, std::string_view pattern) {
  std::string regex;
  for (std::size_t at = 0; at <= pattern.size();) {
    const std::size_t star = std::min(pattern.find('*', at), pattern.size());
    const std::string_view piece = pattern.substr(at, star - at);
    regex += RE2::QuoteMeta({piece.data(), piece.size()}) + (star < pattern.size() ? ".*" : "");
    at = star + 1;
  }
  return RE2::FullMatch({text.data(), text.size()}, RE2("(?s)" + regex, RE2::Quiet));
}

}  // namespace

bool AllowedText::holds(std::string_view found_rule, const FoundText& found) const {
  return (rule.empty() || rule == found_rule) &&
         (path.empty() || (!found.path.empty() && is_like(found.path, path))) &&
         (hash.empty() || hash == content_digest(found.secret));
}

Result<AllowedText> parse_allowed(std::string_view text, std::size_t index) {
  AllowedText item;
  std::string_view rest = trimmed(text);
  const auto takes = [&](std::string_view name, std::string& out, bool all) {
    if (!rest.starts_with(name)) {
      return false;
    }
    rest.remove_prefix(name.size());
    const std::size_t size = all ? rest.size() : std::min(rest.find(' '), rest.size());
    out = rest.substr(0, size);
    rest = trimmed(rest.substr(size));
    return !out.empty();
  };
  while (!rest.empty()) {
    if (!takes("rule=", item.rule, false) && !takes("text=", item.hash, false) &&
        !takes("path=", item.path, true)) {
      return field_error(ErrorCode::E_SCHEMA_INVALID,
                         fmt::format("memory_config.privacy.allow[{}]", index),
                         fmt::format("\"{}\" is none of rule=ID, text=HASH and path=GLOB; "
                                     "`bmad-mem redact --allow` writes them",
                                     text));
    }
  }
  if (item.rule.empty() && item.hash.empty() && item.path.empty()) {
    return field_error(ErrorCode::E_SCHEMA_INVALID,
                       fmt::format("memory_config.privacy.allow[{}]", index), "says nothing");
  }
  return item;
}

}  // namespace bmad_mem
