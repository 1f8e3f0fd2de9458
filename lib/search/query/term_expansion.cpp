// term_expansion.cpp - the terms of prefixes, fuzzy words and slips, and their postings.
#include <algorithm>
#include <cassert>
#include <map>
#include <ranges>
#include <utility>

#include "base/parallel.hpp"
#include "bmad_mem/text.hpp"
#include "plan.hpp"
#include "search/edit_matcher.hpp"

namespace bmad_mem {

namespace {

using Counts = std::map<std::string, std::uint64_t, std::less<>>;

std::string_view first_character(std::string_view text) {
  return text.empty() ? text : text.substr(0, utf8_character_size(text));
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
  ranked.resize(std::min(ranked.size(), count_max));
  std::vector<std::string> terms;
  std::ranges::move(ranked | std::views::keys, std::back_inserter(terms));
  return terms;
}

std::vector<std::string> sorted(std::vector<std::string> terms) {
  std::ranges::sort(terms);
  return terms;
}

/// Long prose (`similar`) is ranked by its rarest terms: the others cost time and say little.
constexpr std::size_t kRankTermsMax = 48;

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

bool TermPostings::any() const {
  return std::ranges::any_of(scope_.terms,
                             [](const SessionTerms& session) { return !session.terms.empty(); });
}

Status TermPostings::collect() {
  const std::size_t begin = collected_;
  const std::size_t end = scope_.plan.rank.terms.size();
  assert(begin <= end && "terms are only added meanwhile");
  const std::vector<SearchedPart> parts = parts_of(scope_.sessions);
  std::vector<Result<PartPostings>> found(parts.size() * (end - begin), PartPostings());
  for_each_parallel(found.size(), [&](std::size_t i) {
    const std::string& term = scope_.plan.rank.terms[begin + i / parts.size()].term;
    found[i] = scope_.settings.is_late()
                   ? Result<PartPostings>(query_timeout(scope_.plan.query))
                   : parts[i % parts.size()].part->part_postings(PostingKind::kTerm, term);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    BMAD_TRY(found[i] ? Status() : Status(std::move(found[i]).error()));
    for (const SessionPostings& each : found[i]->sessions) {
      std::vector<SessionPostings>& terms =
          scope_.terms[parts[i % parts.size()].first + each.session].terms;
      terms.resize(end);
      terms[begin + i / parts.size()] = each;
    }
    owners_.push_back(std::move(found[i]->owner));
  }
  for (SessionTerms& session : scope_.terms) {
    if (!session.terms.empty()) {
      session.terms.resize(end);
    }
  }
  collected_ = end;
  return {};
}

std::uint64_t SearchScope::count_holders(std::size_t term) const {
  std::uint64_t count = 0;
  for (const SessionTerms& session : terms) {
    assert(session.terms.empty() || term < session.terms.size());
    count += session.terms.empty() ? 0 : session.terms[term].postings.size();
  }
  return count;
}

Status TermPostings::add_slips(Analyzer& analyzer, std::vector<std::string>& notes) {
  if (scope_.plan.rank.terms.size() > kRankTermsMax || scope_.settings.literal) {
    return {};
  }
  for (const DoubtfulWord& word : scope_.plan.doubtful) {
    if (scope_.count_holders(word.term) == 0) {
      BMAD_TRY_ASSIGN(std::string note,
                      add_slip_terms(scope_.sessions, analyzer, word, scope_.plan));
      if (!note.empty()) {
        notes.push_back(std::move(note));
      }
    }
  }
  return collect();
}

void TermPostings::keep_rarest() {
  std::vector<RankTerm>& terms = scope_.plan.rank.terms;
  if (terms.size() <= kRankTermsMax) {
    return;
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> by_count;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (const std::uint64_t count = scope_.count_holders(i); count > 0) {
      by_count.emplace_back(count, i);
    }
  }
  std::ranges::sort(by_count);
  by_count.resize(std::min(by_count.size(), kRankTermsMax));
  std::ranges::sort(by_count, {}, &std::pair<std::uint64_t, std::size_t>::second);
  std::vector<RankTerm> kept;
  for (const auto& [count, i] : by_count) {
    kept.push_back(terms[i]);
  }
  for (SessionTerms& session : scope_.terms) {
    std::vector<SessionPostings> held;
    for (const auto& [count, i] : by_count) {
      if (!session.terms.empty()) {
        held.push_back(session.terms[i]);
      }
    }
    session.terms = std::move(held);
  }
  terms = std::move(kept);
}

}  // namespace bmad_mem
