// merge_plan.cpp - compares statements by the pieces of their texts, and plans which are merged.
#include "knowledge/merge_plan.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "bmad_mem/text.hpp"
#include "knowledge/knowledge_item.hpp"
#include "knowledge_words.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kCharacterCount = 5;
constexpr std::size_t kWordCount = 3;

// Of lower-case text.
bool is_of_word(char c) { return is_lower(c) || is_digit(c) || !is_ascii(c); }

bool has_digit(std::string_view word) {
  return word.find_first_of("0123456789") != std::string_view::npos;
}

bool is_negation(std::string_view word) {
  return kNegations.contains(word) || word.ends_with("n't");
}

using Words = std::vector<std::string>;
using WordSet = std::multiset<std::string_view>;

/// Words of `a` that `b` has not, as often as that is so.
std::vector<std::string_view> missing(const WordSet& a, const WordSet& b) {
  std::vector<std::string_view> left;
  std::ranges::set_difference(a, b, std::back_inserter(left));
  return left;
}

bool counts_differ(const Words& a, const Words& b, bool (*is_counted)(std::string_view)) {
  WordSet in_a;
  WordSet in_b;
  std::ranges::copy_if(a, std::inserter(in_a, in_a.end()), is_counted);
  std::ranges::copy_if(b, std::inserter(in_b, in_b.end()), is_counted);
  return !std::ranges::equal(in_a, in_b);
}

bool are_opposites(std::string_view a, std::string_view b) {
  return kOpposites.any([&](std::string_view pair) {
    const std::size_t sign = pair.find('|');
    assert(sign != std::string_view::npos);
    const std::string_view first = pair.substr(0, sign);
    const std::string_view second = pair.substr(sign + 1);
    return (first == a && second == b) || (first == b && second == a);
  });
}

/// "limit" and "limited", "colour" and "color".
bool are_forms_of_one(std::string_view a, std::string_view b) {
  constexpr std::size_t kStemSizeMin = 4;
  const std::string_view shorter = a.size() < b.size() ? a : b;
  const std::string_view longer = a.size() < b.size() ? b : a;
  const bool is_ending = shorter.size() >= kStemSizeMin && longer.starts_with(shorter) &&
                         longer.size() - shorter.size() <= 3;
  const bool is_slip = shorter.size() > kStemSizeMin && shorter.front() == longer.front() &&
                       edit_distance(a, b, 1) <= 1;
  return is_ending || is_slip;
}

/// An item as it is compared.
struct Statement {
  const KnowledgeItem* item = nullptr;
  std::vector<std::string> words;  // What is compared.
  std::vector<std::string> key;    // Words of the key that the value does not say.
  Shingles shingles;
  std::vector<std::uint64_t> prefix;  // Its rarest shingles.
};

/// From so many words on, a value says by itself what it is about: the same sentence under two keys
/// is said twice. Below, it is compared with its key: "4" under two keys is not the same.
constexpr std::size_t kSentenceWordsMin = 4;

/// `item` as it is compared. Of the key of a sentence only that counts which the sentence does not
/// say: "staging_timeout" and "production_timeout" keep "Thirty seconds are the limit" apart,
/// "seat_hold" and "hold_time" nothing about seats.
Statement to_statement(const KnowledgeItem& item) {
  std::string key = item.key;
  std::ranges::replace(key, '_', ' ');
  Statement statement{.item = &item, .words = plain_words(item.value)};
  if (statement.words.size() < kSentenceWordsMin) {
    statement.words = plain_words(key + " " + item.value);
  } else {
    statement.key = plain_words(key);
    std::erase_if(statement.key, [&](const std::string& word) {
      return std::ranges::any_of(statement.words, [&](const std::string& said) {
        return word == said || are_forms_of_one(word, said);
      });
    });
  }
  statement.shingles = shingles_of(statement.words);
  return statement;
}

/// The best is least.
auto merge_rank(const Statement& statement) {
  const KnowledgeItem& item = *statement.item;
  return std::tuple(-item.confidence, -item.trust, -item.updated_at.time_since_epoch().count(),
                    std::tie(item.key, item.id, item.session_id));
}

/// Items of the same kind only.
bool may_join(const KnowledgeItem& a, const KnowledgeItem& b) {
  return a.category == b.category && a.agent_id == b.agent_id &&
         (a.trust < kLowReliability) == (b.trust < kLowReliability);
}

class Planner {
 public:
  Planner(std::span<const KnowledgeItem> items, double min_similarity)
      : min_similarity_(min_similarity) {
    for (const KnowledgeItem& item : items) {
      if (is_in_force(item.review)) {
        statements_.push_back(to_statement(item));
      }
    }
    std::ranges::sort(statements_, {}, merge_rank);
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
    std::ranges::move(proposals_ | std::views::values, std::back_inserter(merged));
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
    candidates.erase(std::ranges::unique(candidates).begin(), candidates.end());
    std::optional<Leader> best;
    for (const std::size_t candidate : candidates) {
      const Statement& other = statements_[candidate];
      if (!may_join(*other.item, *statement.item)) {
        continue;
      }
      const double similarity = shingle_similarity(other.shingles, statement.shingles);
      if (similarity >= min_similarity_ && (!best || similarity > best->similarity) &&
          !may_contradict(other.words, statement.words) &&
          !may_contradict(other.key, statement.key)) {
        best = Leader{.number = candidate, .similarity = similarity};
      }
    }
    return best;
  }

  void join(const Leader& leader, std::size_t number) {
    assert(leader.number < number && "the best come first, and stay");
    const KnowledgeItem& into = *statements_[leader.number].item;
    const KnowledgeItem& part = *statements_[number].item;
    MergeProposal& proposal =
        proposals_
            .try_emplace(
                leader.number,
                MergeProposal{.into = into, .similarity = leader.similarity, .trust = into.trust})
            .first->second;
    proposal.parts.push_back(part);
    proposal.similarity = std::min(proposal.similarity, leader.similarity);
    proposal.trust = std::min(proposal.trust, part.trust);
  }

  double min_similarity_;
  std::vector<Statement> statements_;  // Best first.
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> leaders_;
  std::map<std::size_t, MergeProposal> proposals_;  // By who stays.
};

/// Of 5,915 pairs of statements about something else, 26 are as near, nearly all of them variants
/// of one sentence; of 25 that say the same in other words 16, of 29 that deny each other 21. So it
/// tells that two are about the same, and not what they say of it.
constexpr double kNearMin = 0.75;

}  // namespace

Words plain_words(std::string_view text) {
  Words words;
  std::string word;
  const auto end_word = [&] {
    while (!word.empty() && !is_of_word(word.back())) {
      word.pop_back();
    }
    if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  };
  for (const char raw : text) {
    const char c = raw >= 'A' && raw <= 'Z' ? static_cast<char>(raw - 'A' + 'a') : raw;
    const bool holds_together = !word.empty() && std::string_view("'./:@%+#*-").contains(c);
    if (is_of_word(c) || holds_together) {
      word += c;
    } else {
      end_word();
    }
  }
  end_word();
  return words;
}

Shingles shingles_of(const Words& words) {
  std::string text;
  std::vector<std::size_t> begins;
  for (const std::string& word : words) {
    text += text.empty() ? "" : " ";
    begins.push_back(text.size());
    text += word;
  }
  Shingles hashes;
  const auto add = [&](std::size_t begin, std::size_t end) {
    hashes.push_back(xxh3(std::string_view(text).substr(begin, end - begin)));
  };
  if (words.size() > kCharacterWordsMax) {
    for (std::size_t i = 0; i + kWordCount <= words.size(); ++i) {
      const std::size_t last = i + kWordCount - 1;
      add(begins[i], begins[last] + words[last].size());
    }
  } else if (text.size() > kCharacterCount) {
    for (std::size_t i = 0; i + kCharacterCount <= text.size(); ++i) {
      add(i, i + kCharacterCount);
    }
  } else if (!text.empty()) {
    add(0, text.size());
  }
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
  assert(!hashes.empty() || text.empty());
  return hashes;
}

Shingles shingles_of(std::string_view text) { return shingles_of(plain_words(text)); }

double shingle_similarity(const Shingles& a, const Shingles& b) {
  assert(std::ranges::is_sorted(a) && std::ranges::is_sorted(b));
  std::size_t shared = 0;
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (*i == *j) {
      ++shared;
      ++i;
      ++j;
    } else if (*i < *j) {
      ++i;
    } else {
      ++j;
    }
  }
  const std::size_t all = a.size() + b.size() - shared;
  assert(shared <= std::min(a.size(), b.size()));
  return all == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(all);
}

bool may_contradict(const Words& a, const Words& b) {
  if (counts_differ(a, b, has_digit) || counts_differ(a, b, is_negation)) {
    return true;
  }
  const WordSet in_a(a.begin(), a.end());
  const WordSet in_b(b.begin(), b.end());
  std::vector<std::string_view> only_a = missing(in_a, in_b);
  std::vector<std::string_view> only_b = missing(in_b, in_a);
  for (const std::string_view one : only_a) {
    if (std::ranges::any_of(only_b, [&](auto other) { return are_opposites(one, other); })) {
      return true;
    }
  }
  const bool has_order =
      std::ranges::any_of(a, [](const std::string& word) { return kOrderingWords.contains(word); });
  if (only_a.empty() && only_b.empty()) {
    return has_order && a != b;
  }
  const auto is_light = [](std::string_view word) { return kLightWords.contains(word); };
  std::erase_if(only_a, is_light);
  std::erase_if(only_b, is_light);
  std::erase_if(only_a, [&](std::string_view word) {
    const auto form = std::ranges::find_if(
        only_b, [&](std::string_view other) { return are_forms_of_one(word, other); });
    const bool has_form = form != only_b.end();
    if (has_form) {
      only_b.erase(form);
    }
    return has_form;
  });
  return !only_a.empty() && only_a.size() == only_b.size();
}

std::vector<MergeProposal> plan_merges(std::span<const KnowledgeItem> items,
                                       double min_similarity) {
  assert(min_similarity > 0 && min_similarity <= 1);
  return Planner(items, min_similarity).plan();
}

bool is_sentence(const KnowledgeItem& item) {
  return plain_words(item.value).size() >= kSentenceWordsMin;
}

std::vector<NearStatements> near_statements(std::span<const KnowledgeItem> items,
                                            std::span<const float> vectors, double min_similarity) {
  struct Pair {
    bool may_contradict;
    double cosine;
    std::size_t first;
    std::size_t second;
  };
  std::vector<Statement> statements = mapped(items, to_statement);
  std::ranges::sort(statements, {}, merge_rank);
  assert((items.empty() || vectors.size() % items.size() == 0) && "one size for all");
  const std::size_t size = items.empty() ? 0 : vectors.size() / items.size();
  const auto vector_of = [&](const Statement& statement) {
    return vectors.data() + static_cast<std::size_t>(statement.item - items.data()) * size;
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const Statement& first = statements[i];
    const float* const vector = vector_of(first);
    for (std::size_t j = i + 1; j < statements.size(); ++j) {
      const Statement& second = statements[j];
      if (!may_join(*first.item, *second.item)) {
        continue;
      }
      const double cosine = std::transform_reduce(vector, vector + size, vector_of(second), 0.0F);
      if (cosine >= kNearMin &&
          shingle_similarity(first.shingles, second.shingles) < min_similarity) {
        pairs.push_back({may_contradict(first.words, second.words), cosine, i, j});
      }
    }
  }
  std::ranges::sort(pairs, {}, [](const Pair& pair) {
    return std::tuple(pair.may_contradict, -pair.cosine, pair.first, pair.second);
  });
  pairs.resize(std::min(pairs.size(), kNearPairsMax));
  return mapped(pairs, [&](const Pair& pair) {
    return NearStatements{.first = *statements[pair.first].item,
                          .second = *statements[pair.second].item,
                          .cosine = std::min(pair.cosine, 1.0),
                          .may_contradict = pair.may_contradict};
  });
}

}  // namespace bmad_mem
