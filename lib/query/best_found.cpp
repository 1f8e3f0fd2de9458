#include "best_found.hpp"

#include <algorithm>
#include <iterator>

namespace bmad_mem {
namespace {

/// The best first, for the order asked for.
bool is_before(SortOrder sort, const Found& a, const Found& b) {
  if (a.evicted != b.evicted) {
    return b.evicted;
  }
  if (sort == SortOrder::kRelevanceDesc && a.relevance != b.relevance) {
    return a.relevance > b.relevance;
  }
  if (sort == SortOrder::kRelevanceDesc && a.length != b.length) {
    return a.length > b.length;
  }
  if (a.timestamp != b.timestamp) {
    return sort == SortOrder::kTimeAsc ? a.timestamp < b.timestamp : a.timestamp > b.timestamp;
  }
  if (a.session != b.session) {
    return a.session < b.session;
  }
  // Within a log, ordinals go up with the lines; across logs they depend on how they were indexed.
  return a.type != b.type ? a.type < b.type : a.ordinal > b.ordinal;
}

}  // namespace

void BestFound::offer(const Found& found) {
  if (found.relevance < min_relevance_) {
    return;
  }
  const auto before = [this](const Found& a, const Found& b) { return is_before(sort_, a, b); };
  std::vector<Found>& best = found_[found.session];
  if (limit_ == 0 || best.size() < limit_) {
    best.push_back(found);
    std::ranges::push_heap(best, before);
  } else if (before(found, best.front())) {
    std::ranges::pop_heap(best, before);
    best.back() = found;
    std::ranges::push_heap(best, before);
  } else {
    return;
  }
  // What was evicted keeps nothing else out, however relevant it is.
  if (sort_ == SortOrder::kRelevanceDesc && limit_ != 0 && best.size() == limit_ &&
      !found.evicted) {
    raise_least(best.front().relevance);
  }
}

void BestFound::raise_least(double relevance) {
  double known = least();
  while (known < relevance && !least_.compare_exchange_weak(known, relevance)) {
  }
}

std::vector<Found> BestFound::merged() {
  std::vector<Found> all;
  for (std::vector<Found>& session : found_) {
    std::ranges::move(session, std::back_inserter(all));
    session.clear();
  }
  std::ranges::sort(all, [this](const Found& a, const Found& b) { return is_before(sort_, a, b); });
  return all;
}

}  // namespace bmad_mem
