#include "best_found.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace bmad_mem {
/// The best first, for the order asked for.
bool BestFound::is_before(const Found& a, const Found& b) const {
  if (a.evicted != b.evicted) {
    return b.evicted;
  }
  if (sort_ == SortOrder::kRelevanceDesc && a.relevance != b.relevance) {
    return a.relevance > b.relevance;
  }
  if (sort_ == SortOrder::kRelevanceDesc && a.length != b.length) {
    return a.length > b.length;
  }
  if (a.timestamp != b.timestamp) {
    return sort_ == SortOrder::kTimeAsc ? a.timestamp < b.timestamp : a.timestamp > b.timestamp;
  }
  if (a.session != b.session) {
    return look_up_.is_session_before(a, b);
  }
  // Ordinals depend on how a session was indexed.
  return a.type != b.type ? a.type < b.type : look_up_.line(a) > look_up_.line(b);
}

void BestFound::offer(const Found& found) {
  if (found.relevance < min_relevance_) {
    return;
  }
  const auto before = [this](const Found& a, const Found& b) { return is_before(a, b); };
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

void BestFound::offer_of_all(const Found& found) {
  offer(found);
  if (limit_ == 0 || found.evicted || found.relevance <= least()) {
    return;
  }
  const Result<std::uint32_t> id = look_up_.id_hash(found);
  if (!id) {
    return;
  }
  const auto [known, is_new] = top_ids_.try_emplace(*id, found.relevance);
  if (!is_new) {
    if (known->second >= found.relevance) {
      return;
    }
    top_.erase({known->second, *id});
    known->second = found.relevance;
  }
  top_.emplace(found.relevance, *id);
  if (top_.size() > limit_) {
    top_ids_.erase(top_.begin()->second);
    top_.erase(top_.begin());
  }
  if (top_.size() == limit_) {
    raise_least(top_.begin()->first);
  }
}

void BestFound::raise_least(double relevance) {
  double known = least();
  while (known < relevance && !least_.compare_exchange_weak(known, relevance)) {
  }
}

void BestFound::finish(std::size_t session) {
  constexpr std::size_t kPoolMin = 1024;
  const std::vector<Found> done = std::exchange(found_[session], {});
  if (done.empty()) {
    return;
  }
  const std::lock_guard guard(pool_mutex_);
  pool_.insert(pool_.end(), done.begin(), done.end());
  if (limit_ != 0 && pool_.size() > std::max(pool_max_, kPoolMin)) {
    shorten_pool();
    pool_max_ = 2 * pool_.size();
  }
}

/// Drops what comes behind `limit` entries that are certainly different ones, by their hashes.
void BestFound::shorten_pool() {
  std::ranges::sort(pool_, [this](const Found& a, const Found& b) { return is_before(a, b); });
  std::unordered_set<std::uint32_t> different;
  std::size_t kept = 0;
  while (kept < pool_.size() && different.size() < limit_) {
    if (const Result<std::uint32_t> hash = look_up_.id_hash(pool_[kept++])) {
      different.insert(*hash);
    }
  }
  if (different.size() < limit_) {
    return;
  }
  if (sort_ == SortOrder::kRelevanceDesc && !pool_[kept - 1].evicted) {
    raise_least(pool_[kept - 1].relevance);
  }
  pool_.erase(pool_.begin() + static_cast<std::ptrdiff_t>(kept), pool_.end());
}

std::vector<Found> BestFound::merged() {
  for (std::size_t session = 0; session < found_.size(); ++session) {
    finish(session);
  }
  std::vector<Found> all = std::exchange(pool_, {});
  std::ranges::sort(all, [this](const Found& a, const Found& b) { return is_before(a, b); });
  return all;
}

}  // namespace bmad_mem
