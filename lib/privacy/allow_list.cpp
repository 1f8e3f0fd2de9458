#include "allow_list.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem {

LazyPattern::~LazyPattern() { delete compiled_.load(); }

const RE2& LazyPattern::get() const {
  if (const RE2* known = compiled_.load(std::memory_order_acquire)) {
    return *known;
  }
  auto made = std::make_unique<const RE2>(text_, RE2::Quiet);
  const RE2* known = nullptr;
  return compiled_.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
}

bool LazyPattern::matches(std::string_view text) const {
  return get().ok() && RE2::PartialMatch({text.data(), text.size()}, get());
}

std::string_view FoundText::lines() const {
  const auto begin = static_cast<std::size_t>(match.data() - text.data());
  const std::size_t before = text.substr(0, begin).rfind('\n');
  const std::size_t first = before == std::string_view::npos ? 0 : before + 1;
  const std::size_t last = std::min(text.find('\n', begin + match.size()), text.size());
  return text.substr(first, last - first);
}

Allow::Allow(AllowSpec spec) : spec_(std::move(spec)) {
  for (const std::string& each : spec_.paths) {
    paths_.emplace_back(each);
  }
  for (const std::string& each : spec_.regexes) {
    regexes_.emplace_back(each);
  }
}

bool Allow::holds(const FoundText& found) const {
  const auto any = [](const Patterns& patterns, std::string_view text) {
    return std::ranges::any_of(patterns,
                               [&](const LazyPattern& each) { return each.matches(text); });
  };
  const bool path = !found.path.empty() && any(paths_, found.path);
  if (path && !spec_.needs_all) {
    return true;
  }
  const std::string_view target = spec_.target == AllowTarget::kSecret  ? found.secret
                                  : spec_.target == AllowTarget::kMatch ? found.match
                                                                        : found.lines();
  const bool regex = any(regexes_, target);
  const std::string secret = spec_.stopwords.empty() ? std::string() : lower_ascii(found.secret);
  const bool word = std::ranges::any_of(
      spec_.stopwords, [&](const std::string& each) { return secret.contains(each); });
  return spec_.needs_all ? (paths_.empty() || path) && (regexes_.empty() || regex) &&
                               (spec_.stopwords.empty() || word) && !spec_.has_commits
                         : regex || word;
}

std::string Allow::terms() const {
  std::vector<std::string> terms;
  const auto add = [&](std::string_view kind, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      terms.push_back(fmt::format("{} {}", kind, shown_in_message(text, 200)));
    }
  };
  add("path", spec_.paths);
  add("regex", spec_.regexes);
  add("word", spec_.stopwords);
  return fmt::format("{}", fmt::join(terms, spec_.needs_all ? " and " : ", "));
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
         (hash.empty() || hash == allow_hash(found.secret));
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
      return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                   .message = fmt::format("\"{}\" is none of rule=ID, text=HASH and path=GLOB; "
                                          "`bmad-mem redact --allow` writes them",
                                          text),
                   .field = fmt::format("memory_config.privacy.allow[{}]", index)};
    }
  }
  if (item.rule.empty() && item.hash.empty() && item.path.empty()) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = "says nothing",
                 .field = fmt::format("memory_config.privacy.allow[{}]", index)};
  }
  return item;
}

std::string allow_hash(std::string_view text) {
  std::array<unsigned char, crypto_generichash_BYTES_MIN> hash;
  static_assert(hash.size() == 16);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the library takes bytes.
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  crypto_generichash(hash.data(), hash.size(), bytes, text.size(), nullptr, 0);
  std::string digits;
  for (const unsigned char byte : hash) {
    digits += fmt::format("{:02x}", byte);
  }
  return digits;
}

}  // namespace bmad_mem
