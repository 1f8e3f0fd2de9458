#include "knowledge/merge_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "knowledge/knowledge_item.hpp"
#include "knowledge/shingles.hpp"

namespace bmad_mem {
namespace {

/// An item as it is compared.
struct Statement {
  const KnowledgeItem* item = nullptr;
  std::vector<std::string> words;  // Of the key, too: "4" under two keys is not the same.
  Shingles shingles;
  std::vector<std::uint64_t> prefix;  // Its rarest shingles.
};

bool is_better(const Statement& a, const Statement& b) {
  const auto rank = [](const KnowledgeItem& item) {
    return std::tuple(-item.confidence, -item.trust, -item.updated_at.time_since_epoch().count(),
                      std::tie(item.key, item.id, item.session_id));
  };
  return rank(*a.item) < rank(*b.item);
}

/// Items of the same kind only.
bool may_join(const KnowledgeItem& a, const KnowledgeItem& b) {
  return a.category == b.category && a.agent_id == b.agent_id &&
         (a.trust < kLowTrust) == (b.trust < kLowTrust);
}

class Planner {
 public:
  Planner(std::span<const KnowledgeItem> items, double min_similarity)
      : min_similarity_(min_similarity) {
    for (const KnowledgeItem& item : items) {
      if (item.review == Review::kDropped || item.review == Review::kCandidate) {
        continue;
      }
      std::string key = item.key;
      std::ranges::replace(key, '_', ' ');
      std::vector<std::string> words = plain_words(key + " " + item.value);
      Shingles shingles = shingles_of(words);
      statements_.push_back({.item = &item,
                             .words = std::move(words),
                             .shingles = std::move(shingles),
                             .prefix = {}});
    }
    std::ranges::sort(statements_, is_better);
    set_prefixes();
  }

  std::vector<MergeProposal> plan() {
    for (std::size_t number = 0; number < statements_.size(); ++number) {
      if (const auto leader = best_leader(number)) {
        join(*leader, number);
      } else {
        for (const std::uint64_t shingle : statements_[number].prefix) {
          std::vector<std::size_t>& list = leaders_[shingle];
          if (list.size() < kMergeListMax) {
            list.push_back(number);
          }
        }
      }
    }
    std::vector<MergeProposal> merged;
    merged.reserve(proposals_.size());
    for (auto& [leader, proposal] : proposals_) {
      merged.push_back(std::move(proposal));
    }
    return merged;
  }

 private:
  void set_prefixes() {
    std::unordered_map<std::uint64_t, std::uint32_t> counts;
    for (const Statement& statement : statements_) {
      for (const std::uint64_t shingle : statement.shingles) {
        ++counts[shingle];
      }
    }
    for (Statement& statement : statements_) {
      std::vector<std::pair<std::uint32_t, std::uint64_t>> rarest;
      for (const std::uint64_t shingle : statement.shingles) {
        rarest.emplace_back(counts[shingle], shingle);
      }
      std::ranges::sort(rarest);
      const auto size = static_cast<double>(rarest.size());
      const auto needed = static_cast<std::size_t>(std::ceil(min_similarity_ * size - 1e-9));
      rarest.resize(rarest.size() - std::min(needed, rarest.size()) + (rarest.empty() ? 0U : 1U));
      std::ranges::copy(rarest | std::views::values, std::back_inserter(statement.prefix));
    }
  }

  struct Leader {
    std::size_t number = 0;
    double similarity = 0;
  };

  /// The most like of those that stay, the first of equals.
  [[nodiscard]] std::optional<Leader> best_leader(std::size_t number) const {
    const Statement& statement = statements_[number];
    std::vector<std::size_t> candidates;
    for (const std::uint64_t shingle : statement.prefix) {
      if (const auto found = leaders_.find(shingle); found != leaders_.end()) {
        candidates.insert(candidates.end(), found->second.begin(), found->second.end());
      }
    }
    std::ranges::sort(candidates);
    const auto [first, last] = std::ranges::unique(candidates);
    candidates.erase(first, last);
    std::optional<Leader> best;
    for (const std::size_t candidate : candidates) {
      const Statement& other = statements_[candidate];
      if (!may_join(*other.item, *statement.item)) {
        continue;
      }
      const double similarity = shingle_similarity(other.shingles, statement.shingles);
      if (similarity >= min_similarity_ && (!best || similarity > best->similarity) &&
          !may_contradict(other.words, statement.words)) {
        best = Leader{.number = candidate, .similarity = similarity};
      }
    }
    return best;
  }

  void join(const Leader& leader, std::size_t number) {
    const KnowledgeItem& into = *statements_[leader.number].item;
    const KnowledgeItem& part = *statements_[number].item;
    const auto [at, is_new] = proposals_.try_emplace(leader.number);
    MergeProposal& proposal = at->second;
    if (is_new) {
      proposal.into = into;
      proposal.similarity = leader.similarity;
      proposal.trust = into.trust;
    }
    proposal.parts.push_back(part);
    proposal.similarity = std::min(proposal.similarity, leader.similarity);
    proposal.trust = std::min(proposal.trust, part.trust);
  }

  double min_similarity_;
  std::vector<Statement> statements_;  // Best first.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> leaders_;
  std::map<std::size_t, MergeProposal> proposals_;  // By who stays.
};

}  // namespace

std::vector<MergeProposal> plan_merges(std::span<const KnowledgeItem> items,
                                       double min_similarity) {
  return Planner(items, min_similarity).plan();
}

}  // namespace bmad_mem
