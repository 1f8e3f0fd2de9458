#include "context/said_texts.hpp"

#include <algorithm>
#include <cstddef>

#include "bmad_mem/text.hpp"
#include "prompt_text.hpp"

namespace bmad_mem {
namespace {

/// Shorter texts stand in others by chance.
constexpr std::size_t kCoveringSizeMin = 20;

}  // namespace

std::string comparable_text(std::string_view text) {
  std::string out;
  for (const char c : visible_line(text)) {
    if (is_alnum(c) || !is_ascii(c)) {
      out += to_lower(c);
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) {
    out.pop_back();
  }
  return out;
}

bool SaidTexts::add(const Key& key, const std::string& text) {
  return entries_.insert(key).second && texts_.insert(text).second;
}

bool SaidTexts::covers(const Key& key, std::string_view text) const {
  if (entries_.contains(key) || sources_.contains(std::get<2>(key))) {
    return true;
  }
  return std::ranges::any_of(texts_, [&](const std::string& said) {
    return text == said || (said.size() >= kCoveringSizeMin && text.size() < 2 * said.size() &&
                            text.find(said) != std::string_view::npos);
  });
}

}  // namespace bmad_mem
