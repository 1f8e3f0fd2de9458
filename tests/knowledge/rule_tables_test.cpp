// rule_tables_test.cpp - which sentences of people are rules, in six languages: by counts, over
// tables of those that are and of those that only look so; and which prompts call for them.
#include <algorithm>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "knowledge/preference_detector.hpp"

namespace bmad_mem::test::rule_tables_test {
namespace {

struct Row {
  std::string language;
  std::string kind;
  std::string statement;
  std::string prompt;  // To which it applies; may be empty.

  [[nodiscard]] bool is_rule() const { return !kind.starts_with("not-"); }
};

std::vector<Row> rows_of(const std::string& file) {
  std::ifstream in(std::string(BMAD_SOURCE_DIR) + "/" + file);
  REQUIRE(in);
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    std::vector<std::string> cells(4);
    std::size_t cell = 0;
    for (const char c : line) {
      c == '\t' ? void(++cell) : void(cells.at(cell) += c);
    }
    std::string& text = cells[2];
    for (std::size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) {
      text.replace(at, 2, "\n");
    }
    rows.push_back({cells[0], cells[1], cells[2], cells[3]});
  }
  return rows;
}

bool is_learned(const std::string& statement) {
  return std::ranges::any_of(detect_preferences(statement),
                             [](const auto& found) { return !found.may_be_pasted; });
}

struct Counts {
  std::size_t rules = 0;
  std::size_t learned = 0;
  std::size_t others = 0;
  std::size_t mistaken = 0;
};

Counts count(const std::vector<Row>& rows) {
  Counts counts;
  for (const Row& row : rows) {
    const bool learned = is_learned(row.statement);
    if (learned != row.is_rule()) {
      MESSAGE((row.is_rule() ? "not learned: " : "learned: ") << row.statement);
    }
    (row.is_rule() ? counts.rules : counts.others) += 1;
    (row.is_rule() ? counts.learned : counts.mistaken) += learned ? 1 : 0;
  }
  return counts;
}

KnowledgeItem rule(const std::string& value) {
  KnowledgeItem item{.category = Category::kConstraint};
  item.value = value;
  return item;
}

std::vector<std::string> called_for(const std::vector<std::string>& rules,
                                    std::string_view prompt) {
  std::vector<KnowledgeItem> items;
  std::ranges::transform(rules, std::back_inserter(items), rule);
  std::vector<const KnowledgeItem*> pointers;
  for (const KnowledgeItem& item : items) {
    pointers.push_back(&item);
  }
  std::vector<std::string> called;
  for (const KnowledgeItem* const item : triggered_rules(pointers, prompt)) {
    called.push_back(item->value);
  }
  return called;
}

using Rules = std::vector<std::string>;

}  // namespace

TEST_CASE("of 50 rules 45 are learned, and none of 50 sentences that look like one") {
  const Counts counts = count(rows_of("fixtures/told/tune/rules.tsv"));
  CHECK(counts.rules == 50);
  CHECK(counts.others == 50);
  CHECK(counts.learned >= 45);
  CHECK(counts.mistaken == 0);
}

TEST_CASE("the same of the sentences that the tables were made with") {
  std::vector<Row> rows;
  for (const std::string file :
       {"rules_de_en", "rules_es_fr_ja_zh", "rules_kinds_de_en", "rules_kinds_es_fr_ja_zh"}) {
    std::ranges::copy(rows_of("tests/knowledge/fixtures/stated_" + file + ".tsv"),
                      std::back_inserter(rows));
  }
  const Counts counts = count(rows);
  CHECK(counts.rules >= 1300);
  CHECK(counts.others >= 1400);
  CHECK(counts.learned * 100 >= counts.rules * 90);
  CHECK(counts.mistaken * 100 <= counts.others);
}

TEST_CASE(
    "of 168 rules that the weights were not made with 136 are learned, and 9 of the look-alikes") {
  struct Set {
    const char* file;
    std::size_t rules;
    std::size_t learned;
    std::size_t mistaken;
  };
  for (const Set& set : {Set{"unseen_rules", 48, 44, 3}, Set{"unseen_kinds_a", 60, 52, 3},
                         Set{"unseen_kinds_b", 60, 40, 3}}) {
    CAPTURE(std::string(set.file));
    const Counts counts =
        count(rows_of(std::string("tests/knowledge/fixtures/") + set.file + ".tsv"));
    CHECK(counts.rules == set.rules);
    CHECK(counts.others == set.rules);
    CHECK(counts.learned >= set.learned);
    CHECK(counts.mistaken <= set.mistaken);
  }
}

TEST_CASE("what is asked for once is no rule") {
  for (const char* const file :
       {"fixtures/told/tune/rules.tsv", "tests/knowledge/fixtures/unseen_rules.tsv"}) {
    const std::vector<Row> rows = rows_of(file);
    CHECK(std::ranges::count_if(rows, [](const Row& row) { return is_learned(row.prompt); }) <= 2);
  }
  const std::vector<Row> ordinary = rows_of("fixtures/told/tune/prompts.tsv");
  CHECK(ordinary.size() == 150);
  CHECK(std::ranges::none_of(ordinary, [](const Row& row) { return is_learned(row.statement); }));
}

TEST_CASE("a later prompt calls for the rule that applies to it, in its own words") {
  for (const auto& [file, least] :
       std::map<std::string, std::size_t>{{"fixtures/told/tune/rules.tsv", 47},
                                          {"tests/knowledge/fixtures/unseen_rules.tsv", 35},
                                          {"tests/knowledge/fixtures/unseen_kinds_a.tsv", 43},
                                          {"tests/knowledge/fixtures/unseen_kinds_b.tsv", 24}}) {
    CAPTURE(file);
    std::size_t called = 0;
    const std::vector<Row> rows = rows_of(file);
    CHECK(rows.size() >= 96);
    for (const Row& row : rows) {
      called += row.is_rule() && !called_for({row.statement}, row.prompt).empty() ? 1 : 0;
    }
    CHECK(called >= least);
  }
}

TEST_CASE("a prompt calls for a rule by another word of its subject, in another language too") {
  const std::string pnpm = "Always use pnpm, never npm, in this repository.";
  const std::string columns = "We use snake_case for database columns.";
  const std::string english = "Write commit messages in English.";
  const std::string tuesdays = "Remember: deployment happens only on Tuesdays.";
  const std::string dates = "For dates use Temporal, not moment.";
  const Rules all = {pnpm, columns, english, tuesdays, dates};
  CHECK(called_for(all, "add the dayjs package to the web app") == Rules{pnpm, dates});
  CHECK(called_for(all, "installiere bitte das Paket zod") == Rules{pnpm});
  CHECK(called_for(all, "write the migration for the users table") == Rules{columns});
  CHECK(called_for(all, "ajoute une colonne pour l'adresse") == Rules{columns});
  CHECK(called_for(all, "commit it") == Rules{english});
  CHECK(called_for(all, "is the release ready") == Rules{tuesdays});
  CHECK(called_for(all, "\u90e8\u7f72\u4e00\u4e0b") == Rules{tuesdays});
}

TEST_CASE("rules that agree but for a value have one key, and others none") {
  CHECK(rule_key("Always use pnpm, never npm.") == "package-manager");
  CHECK(rule_key("From now on we use yarn.") == "package-manager");
  CHECK(rule_key("Write commit messages in English.") == "language_commit_messag");
  CHECK(rule_key("Please write commit messages in German.") == "language_commit_messag");
  CHECK(rule_key("Schreib Commit-Nachrichten auf Englisch.") ==
        rule_key("Schreib die Commit-Nachrichten auf Deutsch."));
  CHECK(rule_key("Use kebab-case for file names.") == rule_key("For file names use snake_case."));
  CHECK(rule_key("Always run npm audit before a release.") != "package-manager");
  CHECK(rule_key("Never commit to main.").empty());
}

TEST_CASE("words of any work call for no rule, and at most five are called for") {
  const Rules all = {"Always use pnpm, never npm, in this repository.",
                     "Use kebab-case for file names.", "Answer in German.",
                     "Keep functions under 40 lines."};
  for (const std::string_view prompt :
       {"yes", "continue", "fix the bug in this file", "boil an egg", "use the other function",
        "what does this do", "ok, go on", "\u7ee7\u7eed", "\u306f\u3044"}) {
    CAPTURE(prompt);
    CHECK(called_for(all, prompt).empty());
  }
  Rules many;
  for (int i = 0; i < 9; ++i) {
    many.push_back("Tests of part " + std::to_string(i) + " run on Mondays.");
  }
  many.emplace_back("Tests of the parser use golden files.");
  const Rules called = called_for(many, "write a test for the parser");
  REQUIRE(called.size() == kTriggeredMax);
  CHECK(called[0] == many.back());
}

}  // namespace bmad_mem::test::rule_tables_test
