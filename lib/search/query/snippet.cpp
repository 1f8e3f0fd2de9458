#include <algorithm>
#include <utility>

#include "bmad_mem/utf8.hpp"
#include "match_finder.hpp"
#include "model/entry.hpp"

namespace bmad_mem {
namespace {

/// How often terms stand in a stretch. There are few, so a list is faster than a map.
class TermCounts {
 public:
  [[nodiscard]] std::size_t different() const { return different_; }
  void enter(const std::string* term) {
    std::size_t& count = count_of(term);
    different_ += count == 0 ? 1 : 0;
    ++count;
  }
  void leave(const std::string* term) {
    std::size_t& count = count_of(term);
    --count;
    different_ -= count == 0 ? 1 : 0;
  }

 private:
  std::size_t& count_of(const std::string* term) {
    const auto known = std::ranges::find(counts_, term, &Counted::first);
    return known != counts_.end() ? known->second : counts_.emplace_back(term, 0).second;
  }

  using Counted = std::pair<const std::string*, std::size_t>;
  std::vector<Counted> counts_;
  std::size_t different_ = 0;
};

/// The match from which on `size` bytes hold the most different terms; the first of equal ones.
std::size_t best_start(const std::vector<Match>& matches, std::size_t size) {
  TermCounts inside;
  std::size_t best = 0;
  std::size_t best_count = 0;
  std::size_t last = 0;
  for (std::size_t first = 0; first < matches.size(); ++first) {
    while (last < matches.size() && matches[last].end <= matches[first].begin + size) {
      inside.enter(matches[last++].term);
    }
    if (inside.different() > best_count) {
      best = first;
      best_count = inside.different();
    }
    if (last > first) {
      inside.leave(matches[first].term);
    } else {
      last = first + 1;  // Longer than the stretch, so it never came in.
    }
  }
  return best;
}

constexpr char kBlankList[] = {' ', '\t', '\n', kTextBreak};
constexpr std::string_view kBlanks(kBlankList, sizeof kBlankList);

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

/// A little before `match`, at the start of a word, so that it is read in its sentence.
std::size_t start_before(std::string_view text, std::size_t match, std::size_t lead) {
  if (match <= lead) {
    return 0;
  }
  const std::size_t blank = text.find_first_of(kBlanks, match - lead);
  if (blank < match) {
    return blank + 1;
  }
  std::size_t begin = match - lead;
  while (begin < match && is_continuation(text[begin])) {
    ++begin;
  }
  return begin;
}

/// The start of the line of `match` where that is less than `reach` before it, else `otherwise`.
std::size_t line_start(std::string_view text, std::size_t match, std::size_t otherwise,
                       std::size_t reach) {
  const std::size_t line = match == 0 ? 0 : text.rfind('\n', match - 1) + 1;
  return match - line <= reach ? line : otherwise;
}

/// The front of `text`, of at most `size_max` bytes: up to the end of a paragraph, a line or a
/// sentence behind `least`, if there is one.
std::string_view whole_passage(std::string_view text, std::size_t size_max, std::size_t least) {
  const std::string_view part = utf8_prefix(text, size_max);
  if (part.size() == text.size()) {
    return part;
  }
  for (const std::string_view end : {"\n\n", "\n", ". ", "。"}) {
    const std::size_t at = part.rfind(end);
    if (at != std::string_view::npos && at > std::max(least, size_max / 2)) {
      return part.substr(0, end == "\n\n" || end == "\n" ? at : at + end.size());
    }
  }
  return part;
}

/// Appends `part` without control characters. Where each of its bytes, and its end, came to stand.
std::vector<std::size_t> append_one_line(std::string_view part, std::string& out) {
  std::vector<std::size_t> places;
  places.reserve(part.size() + 1);
  for (const char c : part) {
    places.push_back(out.size());
    if (c == kTextBreak) {
      while (out.ends_with(' ')) {
        out.pop_back();
      }
      out += " · ";
    } else {
      out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
  }
  places.push_back(out.size());
  return places;
}

}  // namespace

Snippet make_snippet(MatchFinder& finder, std::string_view text, std::size_t size_max,
                     bool begins_passage) {
  const std::vector<Match>& matches = finder.find(text);
  const std::size_t lead = size_max / 3;
  std::size_t begin = 0;
  std::string_view part = utf8_prefix(text, size_max);
  if (!matches.empty() && text.size() > size_max) {
    const std::size_t match = matches[best_start(matches, size_max - lead)].begin;
    begin = start_before(text, match, lead);
    if (begins_passage) {
      begin = line_start(text, match, begin, size_max / 2);
      part = whole_passage(text.substr(begin), size_max, match - begin);
    } else {
      part = utf8_prefix(text.substr(begin), size_max);
    }
  }
  Snippet snippet;
  snippet.text = begin > 0 ? "…" : "";
  const std::vector<std::size_t> places = append_one_line(part, snippet.text);
  for (const Match& match : matches) {
    if (match.begin >= begin && match.end <= begin + part.size()) {
      const std::size_t offset = places[match.begin - begin];
      snippet.highlights.push_back({.offset = offset, .size = places[match.end - begin] - offset});
    }
  }
  if (begin + part.size() < text.size()) {
    snippet.text += "…";
  }
  return snippet;
}

bool holds_phrase(Analyzer& analyzer, const std::vector<std::string>& phrase,
                  std::string_view text) {
  if (phrase.empty()) {
    return true;
  }
  std::vector<std::string_view> tokens;
  for (const Token& token : analyzer.tokenize(text)) {
    if (!token.whole) {
      tokens.push_back(token.text);
    }
  }
  return std::ranges::search(tokens, phrase).begin() != tokens.end();
}

}  // namespace bmad_mem
