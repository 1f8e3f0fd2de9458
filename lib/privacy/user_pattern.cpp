// user_pattern.cpp - the patterns of config.json that find secrets.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "finders.hpp"
#include "innocent.hpp"
#include "privacy_words.hpp"

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
  return kKeywordsNear.any([&](std::string_view word) { return before.contains(word); });
}

}  // namespace

bool takes_most(const FindSecrets& find) {
  constexpr std::array<std::string_view, 3> kOrdinary = {
      "We moved the weekly review to the small room, since the large one is taken until noon.",
      "Мы перенесли еженедельный обзор в малый зал, потому что большой занят до полудня.",
      "我们把每周的会议改到小会议室，因为大的那间到中午为止都有人使用。"};
  return std::ranges::any_of(kOrdinary, [&](std::string_view text) {
    Detections found;
    find(text, found);
    std::size_t taken = 0;
    for (const Detection& each : found) {
      taken += each.end - each.begin;
    }
    return 2 * taken > text.size();
  });
}

Result<UserPattern> make_user_pattern(const RedactionPattern& pattern, std::size_t index,
                                      bool aggressive) {
  UserPattern made{.type = pattern.type,
                   .regex = LazyPattern(pattern.regex),
                   .needs_keyword = !aggressive && pattern.regex == kLongWords};
  std::string problem = made.regex.get().error();
  if (!problem.empty()) {
    problem =
        fmt::format("doesn't compile: {}; see https://github.com/google/re2/wiki/Syntax", problem);
  } else if (takes_most([&](auto text, auto& out) { find_user_pattern(made, text, out); })) {
    problem = kTakesMost;
  } else {
    return made;
  }
  return Error{.code = ErrorCode::E_SCHEMA_INVALID,
               .message = fmt::format("the pattern \"{}\" {}", pattern.type, problem),
               .field = fmt::format("memory_config.privacy.redaction.patterns[{}].regex", index)};
}

void find_user_pattern(const UserPattern& pattern, std::string_view text, Detections& out) {
  pattern.regex.for_each_match(text, [&](std::span<const std::string_view> groups) {
    const std::string_view found = groups[groups.size() > 1 ? 1 : 0];
    if (found.empty()) {
      return;
    }
    const Detection each = detection_of(text, found, pattern.type);
    if (!pattern.needs_keyword || (is_near_keyword(text, each.begin) && !is_public_shape(found))) {
      out.push_back(each);
    }
  });
}

}  // namespace bmad_mem
