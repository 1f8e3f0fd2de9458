// text_pattern.cpp - patterns that users write: those of redaction, and those of the rooms above.
#include "privacy/text_pattern.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "bmad_mem/utf8.hpp"
#include "finders.hpp"
#include "innocent.hpp"

namespace bmad_mem {
namespace {

/// The pattern that the specification gives for API keys. It takes out every long word, so that
/// it only applies next to a word that speaks of secrets.
constexpr std::string_view kLongWords = R"(\b[A-Za-z0-9]{32,}\b)";

/// Whether a word that speaks of secrets stands on the line before `at`, not far away.
bool is_near_keyword(std::string_view text, std::size_t at) {
  constexpr std::size_t kLook = 64;
  const std::size_t begin = at - std::min(at, kLook);
  std::string before = lower_ascii(text.substr(begin, at - begin));
  before.erase(0, before.rfind('\n') + 1);  // npos + 1 is 0.
  constexpr std::string_view kWords[] = {"key",  "token", "secret",     "password", "passwd",
                                         "auth", "cred",  "passphrase", "bearer"};
  return std::ranges::any_of(kWords, [&](std::string_view word) { return before.contains(word); });
}

/// `pattern` compiled; errors call it `name`.
Result<std::unique_ptr<RE2>> compiled(std::string_view pattern, std::string_view name) {
  const RE2::Options options(RE2::Quiet);
  auto regex = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!regex->ok()) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("the pattern \"{}\" doesn't compile: {}; see "
                                        "https://github.com/google/re2/wiki/Syntax",
                                        name, regex->error())};
  }
  return regex;
}

}  // namespace

TextPattern::TextPattern(std::unique_ptr<re2::RE2> regex) : regex_(std::move(regex)) {}
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;
TextPattern::~TextPattern() = default;

Result<TextPattern> TextPattern::make(std::string_view pattern) {
  if (pattern.size() > kPatternSizeMax) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("the pattern has {} bytes; {} are the most, so make it "
                                        "shorter or two of it",
                                        pattern.size(), kPatternSizeMax)};
  }
  BMAD_TRY_ASSIGN(std::unique_ptr<RE2> regex, compiled(pattern, utf8_repaired(pattern)));
  return TextPattern(std::move(regex));
}

bool TextPattern::matches(std::string_view text) const {
  return regex_->Match({text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

Result<UserPattern> make_user_pattern(const RedactionPattern& pattern, std::size_t index,
                                      bool aggressive) {
  Result<std::unique_ptr<RE2>> regex = compiled(pattern.regex, pattern.type);
  if (!regex) {
    Error error = std::move(regex).error();
    error.field = fmt::format("memory_config.privacy.redaction.patterns[{}].regex", index);
    return error;
  }
  return UserPattern{.type = pattern.type,
                     .regex = *std::move(regex),
                     .needs_keyword = !aggressive && pattern.regex == kLongWords};
}

void find_user_pattern(const UserPattern& pattern, std::string_view text, Detections& out) {
  const int group_count = pattern.regex->NumberOfCapturingGroups() > 0 ? 2 : 1;
  std::array<re2::StringPiece, 2> groups;
  for (std::size_t at = 0;
       at <= text.size() && pattern.regex->Match({text.data(), text.size()}, at, text.size(),
                                                 RE2::UNANCHORED, groups.data(), group_count);) {
    const auto match_end =
        static_cast<std::size_t>(groups[0].data() - text.data()) + groups[0].size();
    const re2::StringPiece secret = groups[static_cast<std::size_t>(group_count) - 1];
    at = std::max(match_end, at + 1);
    if (secret.data() == nullptr || secret.empty()) {
      continue;
    }
    const auto begin = static_cast<std::size_t>(secret.data() - text.data());
    const std::string_view found(secret.data(), secret.size());
    if (pattern.needs_keyword && (!is_near_keyword(text, begin) || is_public_shape(found))) {
      continue;
    }
    out.push_back({.begin = begin, .end = begin + secret.size(), .rule = pattern.type});
  }
}

}  // namespace bmad_mem
