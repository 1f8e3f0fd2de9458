#include "knowledge/context_builder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "context_candidates.hpp"
#include "context_text.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kTextSizeMax = 320;
constexpr std::size_t kSnippetSizeMax = 560;  // With its neighbours, which get half of it.
/// What doesn't fit is tried shorter, in these parts of the full size: a cut sentence still tells
/// that there is something to ask for.
constexpr std::array<std::size_t, 4> kParts = {1, 2, 4, 8};

/// The order in which room is given away: constraints, then one of each section in turn.
std::vector<std::size_t> by_use(const std::vector<ContextCandidate>& candidates) {
  static constexpr std::array kTurns = {
      ContextSection::kAgentPatterns, ContextSection::kTaskFacts, ContextSection::kTaskSnippets,
      ContextSection::kErrorSolutions, ContextSection::kPreferences};
  std::map<ContextSection, std::vector<std::size_t>> sections;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    sections[candidates[i].item.section].push_back(i);
  }
  std::vector<std::size_t> order = sections[ContextSection::kConstraints];
  for (std::size_t turn = 0; order.size() < candidates.size(); ++turn) {
    for (const ContextSection section : kTurns) {
      const std::vector<std::size_t>& members = sections[section];
      if (turn < members.size()) {
        order.push_back(members[turn]);
      }
    }
  }
  return order;
}

/// What is said so far, never more than fits.
class Page {
 public:
  Page(std::string_view agent_id, std::size_t tokens_max)
      : agent_id_(agent_id), tokens_max_(tokens_max) {}

  /// Takes candidate `index`, shortened where it must be. False when it doesn't fit at all.
  bool take(std::size_t index, const ContextCandidate& candidate) {
    const bool is_entry =
        candidate.item.type != EntryType::kFact && candidate.item.type != EntryType::kPreference;
    std::string last;
    for (const std::size_t part : kParts) {
      std::string text =
          candidate_text(candidate, (is_entry ? kSnippetSizeMax : kTextSizeMax) / part);
      if (text == last) {
        continue;
      }
      last = text;
      texts_[index] = {candidate.item.section, std::move(text)};
      std::string page = markdown();
      if (estimate_tokens(page) <= tokens_max_) {
        markdown_ = std::move(page);
        return true;
      }
    }
    texts_.erase(index);
    return false;
  }

  [[nodiscard]] const std::string& text() const { return markdown_; }
  [[nodiscard]] const auto& texts() const { return texts_; }

 private:
  [[nodiscard]] std::string markdown() const {
    std::vector<ContextPart> parts;
    for (const auto& [index, part] : texts_) {
      parts.push_back({.section = part.first, .text = part.second});
    }
    return context_markdown(parts, agent_id_);
  }

  std::string_view agent_id_;
  std::size_t tokens_max_;
  std::map<std::size_t, std::pair<ContextSection, std::string>> texts_;  // By candidate.
  std::string markdown_;
};

}  // namespace

Context build_context(const ContextInput& input, const ContextRules& rules) {
  ContextCandidates candidates = choose_candidates(input, rules);
  Context context{.max_tokens = rules.max_tokens, .omitted = std::move(candidates.omitted)};
  Page page(input.agent_id, rules.max_tokens);
  for (const std::size_t index : by_use(candidates.said)) {
    const ContextCandidate& candidate = candidates.said[index];
    if (!page.take(index, candidate)) {
      context.omitted.push_back({.section = candidate.item.section,
                                 .session_id = candidate.item.session_id,
                                 .id = candidate.item.id,
                                 .why = std::string(kOverCeiling)});
    }
  }
  for (const auto& [index, part] : page.texts()) {
    ContextItem item = std::move(candidates.said[index].item);
    item.text = part.second.substr(0, part.second.size() - 1);  // Without the last line break.
    item.tokens = estimate_tokens(part.second);
    context.items.push_back(std::move(item));
  }
  context.markdown = page.text();
  context.tokens = estimate_tokens(context.markdown);
  return context;
}

std::string_view context_section_name(ContextSection section) {
  switch (section) {
    case ContextSection::kConstraints:
      return "constraints";
    case ContextSection::kAgentPatterns:
      return "agent_patterns";
    case ContextSection::kTaskFacts:
      return "task_facts";
    case ContextSection::kTaskSnippets:
      return "task_snippets";
    case ContextSection::kPreferences:
      return "preferences";
    case ContextSection::kErrorSolutions:
      return "error_solutions";
  }
  return "";
}

}  // namespace bmad_mem
