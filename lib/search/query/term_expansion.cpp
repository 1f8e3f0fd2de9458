#include <algorithm>
#include <map>

#include "base/parallel.hpp"
#include "plan.hpp"
#include "search/edit_matcher.hpp"

namespace bmad_mem {
namespace {

using Counts = std::map<std::string, std::uint64_t, std::less<>>;

/// The first character of `text` with all its bytes.
std::string_view first_character(std::string_view text) {
  std::size_t size = std::min<std::size_t>(1, text.size());
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) {
    ++size;
  }
  return text.substr(0, size);
}

/// The terms from `prefix` on that `wanted` accepts, with how many entries hold them.
template <typename Wanted>
Result<Counts> collect(std::span<IndexedSession* const> sessions, std::string_view prefix,
                       const Wanted& wanted) {
  const std::vector<SearchedPart> parts = parts_of(sessions);
  std::vector<Counts> found(parts.size());
  std::vector<Status> done(parts.size());
  for_each_parallel(parts.size(), [&](std::size_t i) {
    done[i] = parts[i].part->part_keys(PostingKind::kTerm, prefix, wanted,
                                       [&](std::string_view term, std::uint64_t count) {
                                         found[i][std::string(term)] += count;
                                         return true;
                                       });
  });
  Counts all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    BMAD_TRY(std::move(done[i]));
    for (const auto& [term, count] : found[i]) {
      all[term] += count;
    }
  }
  return all;
}

std::vector<std::string> most_frequent(const Counts& counts, std::size_t count_max) {
  std::vector<std::pair<std::string, std::uint64_t>> ranked(counts.begin(), counts.end());
  std::ranges::stable_sort(ranked, std::ranges::greater(),
                           &std::pair<std::string, std::uint64_t>::second);
  std::vector<std::string> terms;
  for (const auto& [term, count] : ranked) {
    if (terms.size() == count_max) {
      break;
    }
    terms.push_back(term);
  }
  return terms;
}

std::vector<std::string> sorted(std::vector<std::string> terms) {
  std::ranges::sort(terms);
  return terms;
}

}  // namespace

Result<std::vector<std::string>> terms_with_prefix(std::span<IndexedSession* const> sessions,
                                                   std::string_view prefix) {
  BMAD_TRY_ASSIGN(const Counts counts,
                  collect(sessions, fold_accents(prefix), [](std::string_view) { return true; }));
  return sorted(most_frequent(counts, kExpansionsMax));
}

Result<std::vector<std::string>> terms_like(std::span<IndexedSession* const> sessions,
                                            Analyzer& analyzer, std::string_view word) {
  const std::string stem(analyzer.term(word, false));
  const std::string plain = fold_accents(word);
  const EditMatcher matcher(plain);
  const EditMatcher stem_matcher(stem.empty() ? plain : stem);
  BMAD_TRY_ASSIGN(const Counts counts,
                  collect(sessions, first_character(plain), [&](std::string_view term) {
                    return matcher.matches(term) || stem_matcher.matches(term);
                  }));
  return sorted(most_frequent(counts, kExpansionsMax));
}

std::vector<std::string> stems_one_slip_from(Analyzer& analyzer, std::string_view word) {
  std::vector<std::string> stems;
  if (!std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; })) {
    return stems;
  }
  const auto take = [&](const std::string& other) {
    stems.emplace_back(analyzer.term(other, false));  // Empty for a stop word, which no term is.
  };
  for (std::size_t at = 1; at <= word.size(); ++at) {
    const std::string begin(word.substr(0, at));
    const std::string_view rest = word.substr(at);
    if (!rest.empty()) {
      take(begin + std::string(rest.substr(1)));
    }
    if (rest.size() > 1) {
      take(begin + rest[1] + rest[0] + std::string(rest.substr(2)));
    }
    for (char letter = 'a'; letter <= 'z'; ++letter) {
      take(begin + letter + std::string(rest));
      if (!rest.empty()) {
        take(begin + letter + std::string(rest.substr(1)));
      }
    }
  }
  std::ranges::sort(stems);
  stems.erase(std::ranges::unique(stems).begin(), stems.end());
  return stems;
}

Result<std::vector<std::string>> terms_one_slip_from(std::span<IndexedSession* const> sessions,
                                                     Analyzer& analyzer, std::string_view word) {
  const std::string stem(analyzer.term(word, false));
  const std::string plain = fold_accents(word);
  const std::vector<std::string> stems = stems_one_slip_from(analyzer, plain);
  const EditMatcher matcher(plain, 1);
  const EditMatcher stem_matcher(stem, 1);
  BMAD_TRY_ASSIGN(const Counts counts,
                  collect(sessions, first_character(stem), [&](std::string_view term) {
                    return std::ranges::binary_search(stems, term) || matcher.matches(term) ||
                           stem_matcher.matches(term);
                  }));
  return most_frequent(counts, kSlipTermsMax);
}

}  // namespace bmad_mem
