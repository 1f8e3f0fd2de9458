#include "rule_language.hpp"

#include <algorithm>
#include <cassert>
#include <memory>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/text.hpp"
#include "knowledge_tables.hpp"
#include "model/statement.hpp"
#include "rule_score.hpp"
#include "search/analyzer.hpp"

namespace bmad_mem {
namespace {

/// A line of the table.
struct TableLine {
  std::string_view kind;
  std::string by;
  std::unique_ptr<RE2> pattern;
};

/// `text` in two parts, before and after the first `apart`.
std::pair<std::string_view, std::string_view> parted(std::string_view text,
                                                     std::string_view apart) {
  const std::size_t at = std::min(text.find(apart), text.size());
  return {text.substr(0, at), text.substr(std::min(at + apart.size(), text.size()))};
}

const std::vector<TableLine>& table_lines() {
  static const std::vector<TableLine> kLines = [] {
    std::vector<TableLine> lines;
    for (const auto line : std::views::split(kSentencesTable, '\n')) {
      const auto [kind, rest] = parted(std::string_view(line), " ");
      const auto [pattern, by] = parted(rest, " =>");
      lines.push_back({.kind = kind,
                       .by = std::string(by.starts_with(' ') ? by.substr(1) : by),
                       .pattern = std::make_unique<RE2>(pattern)});
      assert(lines.back().pattern->ok());
    }
    return lines;
  }();
  return kLines;
}

/// `text` as the tables have it: lower case, what is quoted left out, clauses apart.
std::string plain(std::string_view text) {
  std::string small = fold_accents(text);
  std::ranges::transform(small, small.begin(), to_lower);
  for (const TableLine& line : table_lines()) {
    if (line.kind == "change") {
      RE2::GlobalReplace(&small, *line.pattern, line.by);
    }
  }
  return fmt::format(", {} , ", trimmed(small, " ,"));
}

}  // namespace

std::optional<StatedRule> stated_rule(std::string_view sentence) {
  const std::string text = plain(sentence);
  const int score = rule_score(text);
  constexpr int kScoreMin = 8;  // Of 200 rules and 200 look-alikes not seen, 156 and 7 reach it.
  if (score < kScoreMin) {
    return std::nullopt;
  }
  std::optional<Category> category;
  for (const TableLine& line : table_lines()) {
    const std::optional<Category> its = stored_category(line.kind);
    if ((its || line.kind == "no") && !category && RE2::PartialMatch(text, *line.pattern)) {
      if (!its) {
        return std::nullopt;
      }
      category = its;
    }
  }
  constexpr int kScoreMax = 28;
  return StatedRule{.category = category.value_or(Category::kConstraint),
                    .confidence = (52 + std::min(score, kScoreMax)) / 100.0};
}

bool takes_back(std::string_view sentence) {
  const std::string text = plain(sentence);
  return std::ranges::any_of(table_lines(), [&](const TableLine& line) {
    return line.kind == "back" && RE2::PartialMatch(text, *line.pattern);
  });
}

bool is_own_lead(std::string_view head) {
  constexpr std::size_t kSizeMax = 80;
  if (head.size() > kSizeMax) {
    return false;
  }
  const std::string text = plain(head);
  return std::ranges::any_of(table_lines(), [&](const TableLine& line) {
    return line.kind == "own" && RE2::FullMatch(trimmed(text, " "), *line.pattern);
  });
}

}  // namespace bmad_mem
