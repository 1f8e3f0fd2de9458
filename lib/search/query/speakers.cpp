// speakers.cpp - finds the participant whom a question names.
#include "speakers.hpp"

#include <array>
#include <ranges>

#include "bmad_mem/text.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kFewParticipants = 12;

constexpr std::array<std::string_view, 5> kFirstPerson = {"i", "i'm", "i've", "me", "my"};
constexpr std::array<std::string_view, 3> kSecondPerson = {"you", "your", "you've"};
// Names of roles are words as well: "user login" is not about who said it.
constexpr std::array<std::string_view, 4> kRoleNames = {"user", "assistant", "system", "tool"};

}  // namespace

SpeakerFinder::SpeakerFinder(std::span<IndexedSession* const> sessions) {
  Participants all;
  for (const SearchedPart& each : parts_of(sessions)) {
    each.part->add_participants(all);
  }
  has_roles_ = all.has_user && all.has_assistant;
  participant_count_ = all.names.size();
  for (const std::string& name : all.names) {
    const std::string lower = lower_ascii(name);
    for (const auto part : lower | std::views::split(' ')) {
      parts_.emplace(part.begin(), part.end());
    }
    names_.emplace(lower, name);
    const std::size_t blank = name.find(' ');
    if (blank != std::string::npos) {
      // A first name that two people share names neither.
      const auto [place, is_new] = names_.emplace(lower_ascii(name.substr(0, blank)), name);
      if (!is_new) {
        place->second.clear();
      }
    }
  }
}

bool SpeakerFinder::take(std::string_view token, bool capitalised, bool is_first) {
  names_user_ = names_user_ || is_among(kFirstPerson, token);
  names_assistant_ = names_assistant_ || is_among(kSecondPerson, token);
  const auto found = names_.find(token);
  if (found == names_.end() || found->second.empty()) {
    return false;
  }
  const bool few = participant_count_ <= kFewParticipants;
  if (few || (capitalised && !is_first)) {
    named_.insert(found->second);
  }
  return few && !is_among(kRoleNames, token);
}

Speaker SpeakerFinder::speaker() const {
  if (named_.size() == 1) {
    return {.who = *named_.begin()};
  }
  if (named_.empty() && has_roles_ && names_user_ != names_assistant_) {
    return {.role = names_user_ ? EntryRole::kUser : EntryRole::kAssistant};
  }
  return {};
}

}  // namespace bmad_mem
