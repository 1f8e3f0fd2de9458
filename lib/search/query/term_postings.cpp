#include "term_postings.hpp"

#include <algorithm>
#include <utility>

#include "base/parallel.hpp"

namespace bmad_mem {
namespace {

/// Long prose (`similar`) is ranked by its rarest terms: the others cost time and say little.
constexpr std::size_t kRankTermsMax = 48;

}  // namespace

bool TermPostings::any() const {
  return std::ranges::any_of(by_session_,
                             [](const SessionTerms& session) { return !session.terms.empty(); });
}

Status TermPostings::collect() {
  const std::size_t begin = collected_;
  const std::size_t end = plan_.rank.terms.size();
  const std::vector<SearchedPart> parts = parts_of(sessions_);
  std::vector<Result<PartPostings>> found(parts.size() * (end - begin), PartPostings());
  for_each_parallel(found.size(), [&](std::size_t i) {
    const std::string& term = plan_.rank.terms[begin + i / parts.size()].term;
    found[i] = settings_.is_late()
                   ? Result<PartPostings>(query_timeout(plan_.query))
                   : parts[i % parts.size()].part->part_postings(PostingKind::kTerm, term);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    BMAD_TRY(found[i] ? Status() : Status(std::move(found[i]).error()));
    for (const SessionPostings& each : found[i]->sessions) {
      std::vector<SessionPostings>& terms =
          by_session_[parts[i % parts.size()].first + each.session].terms;
      terms.resize(end);
      terms[begin + i / parts.size()] = each;
    }
    owners_.push_back(std::move(found[i]->owner));
  }
  for (SessionTerms& session : by_session_) {
    if (!session.terms.empty()) {
      session.terms.resize(end);
    }
  }
  collected_ = end;
  return {};
}

/// How many entries hold the term that is number `term`.
std::uint64_t TermPostings::count_holders(std::size_t term) const {
  std::uint64_t count = 0;
  for (const SessionTerms& session : by_session_) {
    count += session.terms.empty() ? 0 : session.terms[term].postings.size();
  }
  return count;
}

Status TermPostings::add_slips(Analyzer& analyzer, std::vector<std::string>& notes) {
  if (plan_.rank.terms.size() > kRankTermsMax || settings_.literal) {
    return {};
  }
  for (const DoubtfulWord& word : plan_.doubtful) {
    if (count_holders(word.term) == 0) {
      BMAD_TRY_ASSIGN(std::string note, add_slip_terms(sessions_, analyzer, word, plan_));
      if (!note.empty()) {
        notes.push_back(std::move(note));
      }
    }
  }
  return collect();
}

void TermPostings::keep_rarest() {
  std::vector<RankTerm>& terms = plan_.rank.terms;
  if (terms.size() <= kRankTermsMax) {
    return;
  }
  std::vector<std::pair<std::uint64_t, std::size_t>> by_count;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (const std::uint64_t count = count_holders(i); count > 0) {
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
  for (SessionTerms& session : by_session_) {
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
