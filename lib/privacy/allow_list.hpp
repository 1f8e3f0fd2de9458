// allow_list.hpp - what is left as it is: allow lists of rules files, and those of config.json.
//
//   [[allowlists]]   paths, regexes, stopwords; one of them must hold, or with "AND" each kind
//   privacy.allow    "rule=github-pat text=9f86d081884c7d65… path=docs/*": all of an item must hold
//
// Threads: constant, but for patterns, which are compiled when they are first needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/result.hpp"

namespace re2 {
class RE2;
}

namespace bmad_mem {

/// A pattern that is compiled at the first use, once for all its copies.
class LazyPattern {
 public:
  LazyPattern() : LazyPattern(std::string()) {}
  explicit LazyPattern(std::string text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// One that is too large is there and matches nothing.
  [[nodiscard]] const re2::RE2& get() const;
  [[nodiscard]] bool matches(std::string_view text) const;
  /// Calls `use(groups)` for each match in `text`: the match and at most 99 groups, of which those
  /// that took no part are empty. The next one is looked for behind `last_group`.
  void for_each_match(std::string_view text,
                      const std::function<void(std::span<const std::string_view> groups)>& use,
                      std::size_t last_group = 0) const;

 private:
  struct Compiled;

  std::string text_;
  std::shared_ptr<Compiled> compiled_;
};

/// What was found, as an allow list sees it.
struct FoundText {
  std::string_view text;
  std::string_view match;
  std::string_view secret;
  std::string_view path = {};

  /// The lines on which the match stands.
  [[nodiscard]] std::string_view lines() const;
};

/// What regexes of an allow list are looked for in.
enum class AllowTarget : std::uint8_t { kSecret, kMatch, kLine };

/// An allow list of a file.
struct Allow {
  std::vector<std::string> rules;  ///< targetRules; empty: all.
  std::vector<LazyPattern> paths;
  std::vector<LazyPattern> regexes;
  std::vector<std::string> stopwords;
  AllowTarget target = AllowTarget::kSecret;
  bool needs_all = false;    ///< condition = "AND"
  bool has_commits = false;  ///< They never hold here.

  [[nodiscard]] bool holds(const FoundText& found) const;
  /// "path docs/.*, regex .*, word example": for people.
  [[nodiscard]] std::string terms() const;
};

using Allows = std::vector<Allow>;

bool any_holds(const Allows& allows, const FoundText& found);

/// An item of privacy.allow.
struct AllowedText {
  std::string rule;
  /// content_digest() of the text. It has no key, since the list is shared by git, and what it
  /// stands for is no secret.
  std::string hash;
  std::string path;  ///< With '*' for any text.

  [[nodiscard]] bool holds(std::string_view found_rule, const FoundText& found) const;
};

/// Errors: E_SCHEMA_INVALID for a text that says nothing; `field` names it by its index.
Result<AllowedText> parse_allowed(std::string_view text, std::size_t index);

}  // namespace bmad_mem
