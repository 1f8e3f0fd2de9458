// context_candidates.cpp - chooses what each section of a context may say, the best first.
#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "context/context_builder.hpp"
#include "knowledge/prompt_text.hpp"
#include "model/statement.hpp"
#include "preference_detector.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kErrorSolutionsMax = 3;
constexpr std::size_t kNoRank = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kKeySizeMax = 60;

bool is_of_the_user(Category category) { return category_type(category) == EntryType::kPreference; }

class Chooser {
 public:
  Chooser(const ContextInput& input, const ContextRules& rules)
      : input_(input), rules_(rules), snippets_(rules, said_) {
    sort_items();
    rank_items();
    leave_out_candidates();
  }

  ContextCandidates run() {
    choose_constraints();
    choose_stated_rules();
    choose_agent_patterns();
    const auto is_task_fact = [](const KnowledgeItem& item) {
      return !is_of_the_user(item.category) && item.category != Category::kErrorSolution &&
             item.review != Review::kStated;  // Those are told where the task calls for them.
    };
    choose_by_task(ContextSection::kTaskFacts, rules_.facts_max, is_task_fact);
    choose_snippets();
    choose_preferences();
    choose_by_task(
        ContextSection::kErrorSolutions, kErrorSolutionsMax,
        [](const KnowledgeItem& item) { return item.category == Category::kErrorSolution; });
    std::ranges::stable_sort(result_.said, {}, [](const ContextCandidate& each) {
      return std::pair(each.item.section, each.item.quoted);
    });
    return std::move(result_);
  }

 private:
  using EntryKey = std::tuple<std::string_view, EntryType, std::string_view>;

  /// What has an author here first, then the surest, then the newest: an order that doesn't depend
  /// on the one they came in.
  void sort_items() {
    for (const KnowledgeItem& item : input_.items) {
      if (!item.sensitive && item.review != Review::kDropped) {
        items_.push_back(&item);
      }
    }
    const auto rank = [](const KnowledgeItem* item) {
      return std::tuple(holding_reliability(item->origin, item->trust) < kLowReliability,
                        -item->confidence, -item->updated_at.time_since_epoch().count(),
                        item->category, std::string_view(item->key),
                        std::string_view(item->session_id), std::string_view(item->id));
    };
    std::ranges::sort(items_, {}, rank);
  }

  static bool is_stated_by_agent(const KnowledgeItem& item) {
    return item.source_kind == "assistant" && item.origin != Origin::kElsewhere;
  }

  /// Whether what it is from, a message or a decision, is not among what was found: it has gone,
  /// and this is what stays of it.
  bool is_all_left(const KnowledgeItem& item) {
    if (item.origin == Origin::kElsewhere) {
      return false;
    }
    const Result<JsonValue> entry = parser_.parse(item.json);
    const std::vector<std::string_view> from =
        entry ? entry_citations(*entry) : std::vector<std::string_view>();
    return !from.empty() && std::ranges::none_of(input_.said, [&](const Hit& hit) {
      return is_among(from, hit.entry.id);
    });
  }

  /// Candidates of agents, and those that stay of what has gone, are told where the task brings
  /// them up, and nowhere else.
  void leave_out_candidates() {
    std::erase_if(items_, [&](const KnowledgeItem* item) {
      const bool is_left_out =
          item->review == Review::kCandidate &&
          (rank(item) == kNoRank || !(is_stated_by_agent(*item) || is_all_left(*item)));
      if (is_left_out) {
        ranks_.erase(item);
      }
      return is_left_out;
    });
  }

  /// A hit brings up what is known under its category and key, though another statement holds.
  void rank_items() {
    std::map<EntryKey, std::size_t> rank_of_hit;
    for (std::size_t i = 0; i < input_.known.size(); ++i) {
      const Entry& entry = input_.known[i].entry;
      rank_of_hit.try_emplace({entry.session_id, entry.type, entry.id}, i);
    }
    if (rank_of_hit.empty()) {
      return;
    }
    for (const KnowledgeItem* item : items_) {
      std::size_t best = kNoRank;
      const auto look_up = [&](const EntryKey& key) {
        const auto found = rank_of_hit.find(key);
        best = found == rank_of_hit.end() ? best : std::min(best, found->second);
      };
      look_up({item->session_id, item->type, item->id});
      for (const KnowledgeVersion& version : item->chain) {
        look_up({version.session_id, version.type, version.id});
      }
      if (best != kNoRank) {
        assert(best < input_.known.size());
        ranks_.emplace(item, best);
      }
    }
  }

  [[nodiscard]] std::size_t rank(const KnowledgeItem* item) const {
    const auto found = ranks_.find(item);
    return found == ranks_.end() ? kNoRank : found->second;
  }

  static SourceReliability reliability_of(const KnowledgeItem& item) {
    return checked_reliability(
        {.source_kind = item.source_kind, .trust = item.trust, .origin = item.origin});
  }

  [[nodiscard]] bool is_quoted(const KnowledgeItem& item) const {
    return item.review == Review::kCandidate ||
           must_be_quoted(reliability_of(item), rules_.quote_below_trust);
  }

  static std::string confidence_text(const KnowledgeItem& item) {
    return fmt::format("{}, confidence {:.2f}", category_name(item.category), item.confidence);
  }

  /// Adds the first of `items` that are not said yet. How many more might be added.
  template <typename Why>
  std::size_t add_items(ContextSection section, std::span<const KnowledgeItem* const> items,
                        std::size_t left, const Why& why) {
    for (std::size_t i = 0; i < items.size() && left > 0; ++i) {
      left -= add_item(section, *items[i], why(*items[i])) ? 1 : 0;
    }
    return left;
  }

  void choose_constraints() {
    std::vector<const KnowledgeItem*> chosen;
    const auto add_if = [&](const auto& wanted) {
      for (const KnowledgeItem* item : items_) {
        if (wanted(*item) && !is_among(chosen, item)) {
          chosen.push_back(item);
        }
      }
    };
    // What must be quoted is no constraint, whatever it says of itself, unless somebody pins it.
    const auto is_certain = [&](const KnowledgeItem& item, Category category) {
      return item.category == category && item.confidence >= kToldConfidence &&
             item.review != Review::kStated && !is_quoted(item);
    };
    add_if([](const KnowledgeItem& item) {
      return item.pinned && item.origin != Origin::kElsewhere && item.review != Review::kCandidate;
    });
    add_if([&](const KnowledgeItem& item) { return is_certain(item, Category::kConstraint); });
    add_if([&](const KnowledgeItem& item) { return is_certain(item, Category::kArchitecture); });
    std::size_t left = add_items(
        ContextSection::kConstraints, chosen, kConstraintsMax, [](const KnowledgeItem& item) {
          return item.pinned ? std::string("pinned") : confidence_text(item);
        });
    for (std::size_t i = 0; i < input_.pinned.size() && left > 0; ++i) {
      left -= add_snippet(ContextSection::kConstraints, input_.pinned[i], "pinned") ? 1 : 0;
    }
  }

  /// As theirs: the newest when a session begins, and later those that the task calls for.
  void choose_stated_rules() {
    std::vector<const KnowledgeItem*> rules;
    std::ranges::copy_if(items_, std::back_inserter(rules), [&](const KnowledgeItem* item) {
      const bool is_rule =
          item->category == Category::kConstraint || is_of_the_user(item->category);
      return item->review == Review::kStated ||
             (is_rule && !input_.task.empty() && !is_quoted(*item) && is_in_force(item->review));
    });
    if (!input_.task.empty()) {
      std::erase_if(rules, [&](const KnowledgeItem* item) { return is_chosen(*item); });
      rules = triggered_rules(rules, input_.task);
    }
    add_items(ContextSection::kStatedRules, rules, kStatedRulesMax, [&](const KnowledgeItem&) {
      return input_.task.empty() ? "stated by the user" : "a rule that the task calls for";
    });
  }

  void choose_agent_patterns() {
    std::vector<const KnowledgeItem*> patterns;
    std::ranges::copy_if(items_, std::back_inserter(patterns), [&](const KnowledgeItem* item) {
      // An error is told when the task is like the one in which it was met.
      return item->agent_id == input_.agent_id && !is_of_the_user(item->category) &&
             item->category != Category::kErrorSolution && item->review != Review::kCandidate &&
             !is_chosen(*item);
    });
    add_items(ContextSection::kAgentPatterns, patterns,
              input_.agent_id.empty() ? 0 : kAgentPatternsMax, [](const KnowledgeItem& item) {
                return fmt::format("learned by {}, confidence {:.2f}", visible_line(item.agent_id),
                                   item.confidence);
              });
  }

  /// What the task brings up, best first.
  void choose_by_task(ContextSection section, std::size_t count_max,
                      const std::function<bool(const KnowledgeItem&)>& wanted) {
    std::vector<const KnowledgeItem*> found;
    for (const auto& [item, rank] : ranks_) {
      if (wanted(*item)) {
        found.push_back(item);
      }
    }
    std::ranges::sort(found, {}, [&](const KnowledgeItem* item) {
      return std::pair(rank(item), std::string_view(item->id));
    });
    add_items(section, found, count_max,
              [&](const KnowledgeItem& item) { return why_of_task(item); });
  }

  [[nodiscard]] std::string why_of_task(const KnowledgeItem& item) const {
    assert(rank(&item) < input_.known.size() && "the task brings it up");
    const Hit& hit = input_.known[rank(&item)];
    return fmt::format("{} that fits the task, relevance {:.2f}, {}", category_name(item.category),
                       hit.relevance, near_text(hit.nearness));
  }

  /// Those that fit the task first.
  void choose_preferences() {
    std::vector<const KnowledgeItem*> wishes;
    std::ranges::copy_if(items_, std::back_inserter(wishes), [](const KnowledgeItem* item) {
      return is_of_the_user(item->category) && item->review != Review::kStated;
    });
    std::ranges::stable_sort(wishes, {}, [&](const KnowledgeItem* item) { return rank(item); });
    // As many of the user's own memory as of the project: what is wished for everywhere is told.
    std::array<std::size_t, 2> left = {kPreferencesMax, kPreferencesMax};
    std::ranges::stable_sort(wishes, {}, [](const KnowledgeItem* item) { return item->of_user; });
    for (const KnowledgeItem* const wish : wishes) {
      const KnowledgeItem& item = *wish;
      std::size_t& its_left = left.at(item.of_user ? 1 : 0);
      if (its_left > 0 && !is_chosen(item)) {
        const std::string why = rank(&item) != kNoRank ? why_of_task(item) : confidence_text(item);
        its_left -= add_item(ContextSection::kPreferences, item, why) ? 1 : 0;
      }
    }
  }

  /// The best ones. What was said just before or after one of them counts with it: an exchange is
  /// one snippet.
  void choose_snippets() {
    std::size_t left = rules_.snippets_max;
    std::set<SaidTexts::Key> beside;
    bool has_newer = false;  // What was said before is told below what is said now.
    for (const Hit& hit : input_.said) {
      const bool is_beside =
          hit.nearness.words > 0 && beside.contains(SaidTexts::key_of(hit.entry));
      if (left == 0 && !is_beside) {
        continue;
      }
      if (hit.said_before && !has_newer) {
        omit(result_.omitted, ContextSection::kTaskSnippets, hit.entry, "said before");
        continue;
      }
      const std::string why = fmt::format("fits the task, relevance {:.2f}, {}", hit.relevance,
                                          near_text(hit.nearness));
      const bool is_added = add_snippet(ContextSection::kTaskSnippets, hit, why);
      has_newer = hit.said_before ? has_newer : is_added;
      if (is_added && !is_beside) {
        assert(left > 0);
        --left;
        for (const std::vector<Entry>* const entries : {&hit.before, &hit.after}) {
          for (const Entry& entry : *entries) {
            beside.insert(SaidTexts::key_of(entry));
          }
        }
      }
    }
  }

  [[nodiscard]] bool is_chosen(const KnowledgeItem& item) const {
    return said_.has_entry(SaidTexts::key_of(item));
  }

  /// Adds `item`, unless it is said already. True when it was added.
  bool add_item(ContextSection section, const KnowledgeItem& item, const std::string& why) {
    const std::string said = comparable_text(item.value);
    const Result<JsonValue> entry = parser_.parse(item.json);
    if (said.empty() || !entry || (!item.of_user && !is_of_workspace(rules_.workspace, *entry))) {
      return false;
    }
    if (rules_.told.contains(told_hash(item.session_id, item.type, item.id))) {
      omit(result_.omitted, section, item, kToldBefore);
      return false;
    }
    if (!said_.add(SaidTexts::key_of(item), said)) {
      omit(result_.omitted, section, item, "said above");
      return false;
    }
    said_.add_sources(item.learned_from);
    const SourceReliability trust = reliability_of(item);
    const bool quoted = is_quoted(item);
    ContextCandidate candidate{
        .item = {.section = section,
                 .session_id = item.session_id,
                 .type = item.type,
                 .id = item.id,
                 .timestamp = item.updated_at,
                 .trust = trust.trust,
                 .quoted = quoted,
                 .origin = item.origin,
                 .of_user = item.of_user,
                 .why = why},
        .label = label_of(section, item, quoted),
        .quoted_label =
            fmt::format("{}{} ({})", item.review == Review::kCandidate ? "Not accepted: " : "",
                        is_of_the_user(item.category) ? "preference" : "fact", trust_text(trust)),
        .text = item.value,
        .note = item.review == Review::kStated
                    ? fmt::format("noted on {} from what the user said; `bmad-mem forget {}`",
                                  format_date(item.updated_at), item.id)
                    : std::string()};
    result_.said.push_back(std::move(candidate));
    return true;
  }

  static std::string label_of(ContextSection section, const KnowledgeItem& item, bool quoted) {
    if (item.key.empty()) {
      return {};
    }
    if (quoted) {
      return cut_text(visible_line(item.key), kKeySizeMax);
    }
    std::string key = harmless_line(item.key, kKeySizeMax);
    std::erase(key, '*');
    if (key.empty()) {
      return {};
    }
    const bool says_category = section == ContextSection::kTaskFacts;
    return says_category ? fmt::format("**{}** ({})", key, category_name(item.category))
                         : fmt::format("**{}**", key);
  }

  /// Adds an entry with its neighbours, unless it is said already. True when it was added.
  bool add_snippet(ContextSection section, const Hit& hit, std::string why) {
    std::optional<ContextCandidate> snippet =
        snippets_.make(section, hit, std::move(why), result_.omitted);
    if (!snippet) {
      return false;
    }
    result_.said.push_back(*std::move(snippet));
    return true;
  }

  const ContextInput& input_;
  const ContextRules& rules_;
  JsonParser parser_;
  SaidTexts said_;
  SnippetMaker snippets_;
  std::vector<const KnowledgeItem*> items_;                      // Those that may be told.
  std::unordered_map<const KnowledgeItem*, std::size_t> ranks_;  // Of those in ContextInput::known.
  ContextCandidates result_;
};

}  // namespace

std::string near_text(const Nearness& nearness) {
  return fmt::format("near {:.2f} (coverage {:.2f}, words {})", nearness.score, nearness.coverage,
                     nearness.words);
}

ContextCandidates choose_candidates(const ContextInput& input, const ContextRules& rules) {
  return Chooser(input, rules).run();
}

}  // namespace bmad_mem
