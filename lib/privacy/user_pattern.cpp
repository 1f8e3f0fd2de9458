// user_pattern.cpp - the patterns of config.json that find secrets.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
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

}  // namespace

Result<UserPattern> make_user_pattern(const RedactionPattern& pattern, std::size_t index,
                                      bool aggressive) {
  const RE2::Options options(RE2::Quiet);
  auto regex = std::make_unique<RE2>(pattern.regex, options);
  if (!regex->ok()) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("the pattern \"{}\" doesn't compile: {}; see "
                                        "https://github.com/google/re2/wiki/Syntax",
                                        pattern.type, regex->error()),
                 .field = fmt::format("memory_config.privacy.redaction.patterns[{}].regex", index)};
  }
  return UserPattern{.type = pattern.type,
                     .regex = std::move(regex),
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
