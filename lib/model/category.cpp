// category.cpp - the names that knowledge has on disk and on the command line.
#include <algorithm>
#include <array>
#include <string_view>

#include "bmad_mem/knowledge.hpp"

namespace bmad_mem {
namespace {

constexpr std::array<std::string_view, kCategoryCount> kNames = {
    "user_preference", "architecture", "pattern",    "error_solution",
    "project_fact",    "style",        "constraint", "decision"};

}  // namespace

std::string_view category_name(Category category) {
  return kNames[static_cast<std::size_t>(category)];
}

std::optional<Category> try_parse_category(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name);
  if (found == kNames.end()) {
    return std::nullopt;
  }
  return static_cast<Category>(found - kNames.begin());
}

EntryType category_type(Category category) {
  const bool is_of_user = category == Category::kUserPreference || category == Category::kStyle;
  return is_of_user ? EntryType::kPreference : EntryType::kFact;
}

std::string_view review_name(Review review) {
  switch (review) {
    case Review::kNone:
      return "";
    case Review::kCandidate:
      return "candidate";
    case Review::kAccepted:
      return "accepted";
    case Review::kDropped:
      return "dropped";
  }
  return "";
}

}  // namespace bmad_mem
