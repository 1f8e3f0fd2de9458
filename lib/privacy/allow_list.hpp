// allow_list.hpp - what is left as it is: allow lists of rules files, and those of config.json.
//
//   [[allowlists]]   paths, regexes, stopwords; one of them must hold, or with "AND" each kind
//   privacy.allow    "rule=github-pat text=9f86d081884c7d65… path=docs/*": all of an item must hold
//
// Threads: constant, but for patterns, which are compiled when they are first needed.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "bmad_mem/result.hpp"
#include "rule_file.hpp"

namespace re2 {
class RE2;
}

namespace bmad_mem {

/// A pattern that is compiled at the first use.
class LazyPattern {
 public:
  explicit LazyPattern(std::string text) : text_(std::move(text)) {}
  LazyPattern(const LazyPattern&) = delete;
  LazyPattern& operator=(const LazyPattern&) = delete;
  ~LazyPattern();

  [[nodiscard]] const std::string& text() const { return text_; }
  /// Of two threads one compiles in vain. One that is too large is there and matches nothing.
  [[nodiscard]] const re2::RE2& get() const;
  [[nodiscard]] bool matches(std::string_view text) const;

 private:
  std::string text_;
  mutable std::atomic<const re2::RE2*> compiled_{nullptr};
};

using Patterns = std::deque<LazyPattern>;  // They have a place of their own.

/// What was found, as an allow list sees it.
struct FoundText {
  std::string_view text;
  std::string_view match;
  std::string_view secret;
  std::string_view path = {};

  /// The lines on which the match stands.
  [[nodiscard]] std::string_view lines() const;
};

/// An allow list of a file.
class Allow {
 public:
  explicit Allow(AllowSpec spec);

  [[nodiscard]] bool holds(const FoundText& found) const;
  /// "path docs/.*, regex .*, word example": for people.
  [[nodiscard]] std::string terms() const;

 private:
  AllowSpec spec_;
  Patterns paths_;
  Patterns regexes_;
};

using Allows = std::deque<Allow>;

bool any_holds(const Allows& allows, const FoundText& found);

/// An item of privacy.allow.
struct AllowedText {
  std::string rule;
  std::string hash;
  std::string path;  ///< With '*' for any text.

  [[nodiscard]] bool holds(std::string_view found_rule, const FoundText& found) const;
};

/// Errors: E_SCHEMA_INVALID for a text that says nothing; `field` names it by its index.
Result<AllowedText> parse_allowed(std::string_view text, std::size_t index);

/// The hash that stands for `text` in an allow list: BLAKE2b, 128 bits, in hexadecimal. It has no
/// key, since the list is shared by git, and what it stands for is no secret.
std::string allow_hash(std::string_view text);

}  // namespace bmad_mem
