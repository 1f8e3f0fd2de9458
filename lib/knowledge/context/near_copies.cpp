#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "context/context_builder.hpp"
#include "knowledge/merge_plan.hpp"

namespace bmad_mem {
namespace {

/// Of the words of both: a request of a dozen words about two other things has this much.
constexpr double kAlikeMin = 0.6;
constexpr std::ptrdiff_t kAlikeMax = 2;
/// In bytes: nobody repeats more word by word, and a long text would cost time.
constexpr std::size_t kComparedSizeMax = 1000;

}  // namespace

NearCopies::NearCopies(std::string_view task) {
  const std::vector<std::string> words = plain_words(task);
  task_ = WordSet(words.begin(), words.end());
}

bool NearCopies::repeats(std::string_view text) {
  if (text.size() > kComparedSizeMax) {
    return false;
  }
  const std::vector<std::string> listed = plain_words(text);
  WordSet words(listed.begin(), listed.end());
  const auto is_like = [&](const WordSet& other) {
    const auto shared = static_cast<double>(std::ranges::count_if(
        words, [&](const std::string& word) { return other.contains(word); }));
    const double all = static_cast<double>(words.size() + other.size()) - shared;
    return shared >= kAlikeMin * all && std::ranges::all_of(words, [&](const std::string& word) {
             return other.contains(word) || !task_.contains(word);
           });
  };
  if (std::ranges::count_if(taken_, is_like) >= kAlikeMax) {
    return true;
  }
  taken_.push_back(std::move(words));
  return false;
}

}  // namespace bmad_mem
