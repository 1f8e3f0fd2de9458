#include "rule_language.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <mutex>
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
  std::string_view by;
  std::string_view pattern;
};

/// Made on first use: all of them take as long as the rest of a prompt's hook.
const RE2& regex_of(std::string_view pattern) {
  static std::mutex mutex;
  static std::map<std::string_view, RE2> regexes;
  const std::scoped_lock lock(mutex);
  const RE2& regex = regexes.try_emplace(pattern, pattern).first->second;
  assert(regex.ok());
  return regex;
}

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
      const auto [pattern, by] = parted(rest, " => ");
      lines.push_back({.kind = kind, .by = by, .pattern = pattern});
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
      RE2::GlobalReplace(&small, regex_of(line.pattern), line.by);
    }
  }
  return fmt::format(", {} , ", trimmed(small, " ,"));
}

bool fits(std::string_view kind, const std::string& text) {
  return std::ranges::any_of(table_lines(), [&](const TableLine& line) {
    return line.kind == kind && RE2::PartialMatch(text, regex_of(line.pattern));
  });
}

}  // namespace

std::optional<StatedRule> stated_rule(std::string_view sentence) {
  const std::string text = plain(sentence);
  const int score = rule_score(text);
  constexpr int kScoreMin = 8;  // Of 60 rules and 60 look-alikes not seen, 42 and 2 reach it.
  if (score < kScoreMin || fits("no", text)) {
    return std::nullopt;
  }
  const auto line = std::ranges::find_if(table_lines(), [&](const TableLine& each) {
    return stored_category(each.kind) && RE2::PartialMatch(text, regex_of(each.pattern));
  });
  constexpr int kScoreMax = 28;
  return StatedRule{.category = line == table_lines().end() ? Category::kConstraint
                                                            : *stored_category(line->kind),
                    .confidence = (52 + std::min(score, kScoreMax)) / 100.0};
}

bool takes_back(std::string_view sentence) { return fits("back", plain(sentence)); }

bool is_own_lead(std::string_view head) {
  constexpr std::size_t kSizeMax = 80;
  return head.size() <= kSizeMax && fits("own", plain(head));
}

}  // namespace bmad_mem
