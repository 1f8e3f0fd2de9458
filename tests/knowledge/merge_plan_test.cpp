// merge_plan_test.cpp - which items become one.
#include "knowledge/merge_plan.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace bmad_mem::test::merge_plan_test {
namespace {

KnowledgeItem item(const std::string& id, const std::string& value, double confidence = 0.8,
                   double trust = 1) {
  KnowledgeItem made;
  made.category = Category::kProjectFact;
  made.id = id;
  made.session_id = "s1";
  made.value = value;
  made.confidence = confidence;
  made.trust = trust;
  return made;
}

/// "a <- b c; d <- e": who stays, and what goes into it.
std::string plan(const std::vector<KnowledgeItem>& items, double min_similarity = 0.6) {
  std::string text;
  for (const MergeProposal& proposal : plan_merges(items, min_similarity)) {
    CHECK(proposal.similarity >= min_similarity);
    text += text.empty() ? "" : "; ";
    text += proposal.into.id + " <-";
    for (const KnowledgeItem& part : proposal.parts) {
      text += " " + part.id;
    }
  }
  return text;
}

const std::string kSeats = "Seats are held for two minutes after the scan";
const std::string kSeatsToo = "Seats are held for two minutes after a scan";

}  // namespace

TEST_CASE("nearly the same becomes one; the surest stays, then the most trusted, then the newest") {
  CHECK(plan({item("a", kSeats), item("b", kSeatsToo, 0.9)}) == "b <- a");
  CHECK(plan({item("a", kSeats, 0.8, 0.7), item("b", kSeatsToo, 0.8, 0.9)}) == "b <- a");
  KnowledgeItem newer = item("b", kSeatsToo);
  newer.updated_at = Timestamp(std::chrono::milliseconds(5));
  CHECK(plan({item("a", kSeats), newer}) == "b <- a");
  CHECK(plan({item("a", kSeats), item("b", "The quay at Holm has two berths")}).empty());
  CHECK(plan({}).empty());
  CHECK(plan({item("a", kSeats)}).empty());
}

TEST_CASE("trust is the lowest of the parts, likeness the lowest to the one that stays") {
  const auto merged = plan_merges(
      std::vector{item("a", kSeats, 0.9), item("b", kSeatsToo, 0.8, 0.6), item("c", kSeats, 0.7)},
      0.6);
  REQUIRE(merged.size() == 1);
  CHECK(merged[0].into.id == "a");
  CHECK(merged[0].parts.size() == 2);
  CHECK(merged[0].trust == 0.6);
  CHECK(merged[0].similarity < 1);
}

TEST_CASE("what differs in kind stays apart") {
  const auto apart = [](KnowledgeItem other) {
    return plan({item("a", kSeats), std::move(other)}).empty();
  };
  KnowledgeItem other = item("b", kSeats);
  CHECK_FALSE(apart(other));
  other.category = Category::kDecision;
  CHECK(apart(other));
  other = item("b", kSeats);
  other.agent_id = "MARS";
  CHECK(apart(other));
  CHECK(apart(item("b", kSeats, 0.8, 0.2)));
  other = item("b", kSeats);
  other.review = Review::kDropped;
  CHECK(apart(other));
  other.review = Review::kCandidate;
  CHECK(apart(other));
  other.review = Review::kAccepted;
  CHECK_FALSE(apart(other));
  CHECK(plan({item("a", kSeats, 0.8, 0.2), item("b", kSeats, 0.8, 0.3)}) == "b <- a");
}

TEST_CASE("contradictions stay apart, however alike") {
  CHECK(plan({item("a", "use tabs"), item("b", "never use tabs")}, 0.3).empty());
  CHECK(plan({item("a", "the server listens on port 80"),
              item("b", "the server listens on port 8080")})
            .empty());
}

TEST_CASE("the key counts as words: one value under two names is two things") {
  KnowledgeItem editor = item("a", "4 spaces of indentation");
  editor.key = "editor_tabs";
  KnowledgeItem shell = item("b", "4 spaces of indentation");
  shell.key = "shell_tabs";
  CHECK(plan({editor, shell}).empty());
  shell.key = "shell_tab";
  CHECK(plan({editor, shell}, 0.3).empty());
  editor.key = "editor_indent";
  shell.key = "editor_indents";
  CHECK(plan({editor, shell}, 0.5) == "a <- b");
}

TEST_CASE("the plan is the same in whatever order the items come") {
  std::vector<KnowledgeItem> items;
  for (int i = 0; i < 60; ++i) {
    static const std::string kNames[] = {"booking", "harbour", "purser", "timetable"};
    const std::string& name = kNames[i % 4];
    items.push_back(item("f" + std::to_string(i),
                         "The " + name + " of the ferry is kept by " +
                             std::string(static_cast<std::size_t>(i / 20), 'x') +
                             " the crew of the " + name,
                         0.5 + 0.001 * (i % 7)));
  }
  const std::string first = plan(items);
  CHECK_FALSE(first.empty());
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same each time.
  for (int i = 0; i < 5; ++i) {
    std::ranges::shuffle(items, random);
    CHECK(plan(items) == first);
  }
}

TEST_CASE("every pair that is alike enough is found: the prefix filter loses none") {
  std::mt19937 random(11);  // NOLINT(bugprone-random-generator-seed): the same each time.
  static const std::string kWords[] = {"seat", "berth", "quay", "crew", "storm", "light", "chart"};
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (int i = 0; i < 6; ++i) {
      text += kWords[random() % 7] + " ";
    }
    std::string other = text;
    other += kWords[random() % 7];
    other += " ";
    other += kWords[random() % 7];
    const auto merged = plan_merges(std::vector{item("a", text), item("b", other)}, 0.7);
    CAPTURE(text);
    CAPTURE(other);
    CHECK(merged.empty() != (shingle_similarity(shingles_of(text), shingles_of(other)) >= 0.7 &&
                             !may_contradict(plain_words(text), plain_words(other))));
  }
}

TEST_CASE("thousands of items are planned in seconds, also when all are alike") {
  const auto takes = [](const std::vector<KnowledgeItem>& items) {
    const auto begin = std::chrono::steady_clock::now();
    (void)plan_merges(items, 0.6);
    return std::chrono::steady_clock::now() - begin;
  };
  std::vector<KnowledgeItem> same;
  std::vector<KnowledgeItem> numbered;
  std::vector<KnowledgeItem> various;
  for (int i = 0; i < 3000; ++i) {
    const std::string n = std::to_string(i);
    same.push_back(item(n, kSeats));
    numbered.push_back(item(n, "The service number " + n + " of the fleet listens on port " + n));
    various.push_back(item(n, "f" + n + " is about g" + std::to_string(i * 7919 % 10007) +
                                  " and h" + std::to_string(i * 31 % 977)));
  }
  // About 2 s each without optimisation, for 10,000 with it.
  CHECK(takes(same) < std::chrono::seconds(30));
  CHECK(takes(numbered) < std::chrono::seconds(60));
  CHECK(takes(various) < std::chrono::seconds(30));
}

namespace {

/// "a b 0.90; c d 0.80 contradict": the pairs of items whose vectors have these angles, in degrees.
std::string near(const std::vector<KnowledgeItem>& items, const std::vector<double>& angles) {
  std::vector<float> vectors;
  for (const double angle : angles) {
    vectors.push_back(static_cast<float>(std::cos(angle * std::numbers::pi / 180)));
    vectors.push_back(static_cast<float>(std::sin(angle * std::numbers::pi / 180)));
  }
  std::string text;
  for (const NearStatements& each : near_statements(items, vectors, 0.6)) {
    text += fmt::format("{}{} {} {:.2f}{}", text.empty() ? "" : "; ", each.first.id, each.second.id,
                        each.cosine, each.may_contradict ? " contradict" : "");
  }
  return text;
}

const std::string kBill = "Customers are charged when the order ships";
const std::string kBillToo = "Billing takes place at shipment";

}  // namespace

TEST_CASE("what an encoder finds alike in other words is a pair, the surer one first") {
  CHECK(near({}, {}).empty());
  CHECK(near({item("a", kBill), item("b", kBillToo, 0.9)}, {0, 20}) == "b a 0.94");
  CHECK(near({item("b", kBillToo, 0.9), item("a", kBill)}, {20, 0}) == "b a 0.94");
  CHECK(near({item("a", kBill), item("b", kBillToo)}, {0, 45}).empty());
}

TEST_CASE("what may contradict comes last, and words keep apart what they have judged") {
  const std::string never = "Never charge anybody for shipment";
  CHECK(near({item("a", kBill), item("b", kBillToo), item("c", never)}, {0, 20, 10}) ==
        "a b 0.94; a c 0.98 contradict; b c 0.98 contradict");
  // Merged, or the same sentence about something else.
  CHECK(near({item("a", kSeats), item("b", kSeatsToo)}, {0, 0}).empty());
  CHECK(near({item("a", "The payment service retries requests three times"),
              item("b", "The booking service retries requests three times")},
             {0, 0})
            .empty());
  KnowledgeItem other = item("b", kBillToo);
  other.category = Category::kDecision;
  CHECK(near({item("a", kBill), other}, {0, 0}).empty());
  CHECK(near({item("a", kBill), item("b", kBillToo, 0.8, 0.3)}, {0, 0}).empty());
}

TEST_CASE("at most so many pairs are given, the nearest") {
  std::vector<KnowledgeItem> items;
  std::vector<double> angles;
  for (int i = 0; i < 30; ++i) {
    const std::string word(static_cast<std::size_t>(i) + 6, static_cast<char>('a' + i % 26));
    items.push_back(item(word, word + " is one of the words " + word));
    angles.push_back(i);
  }
  std::vector<float> vectors;
  for (const double angle : angles) {
    vectors.push_back(static_cast<float>(std::cos(angle / 60)));
    vectors.push_back(static_cast<float>(std::sin(angle / 60)));
  }
  CHECK(near_statements(items, vectors, 0.6).size() == kNearPairsMax);
}

TEST_CASE("a sentence says by itself what it is about") {
  CHECK(is_sentence(item("a", "Billing takes place later")));
  CHECK_FALSE(is_sentence(item("a", "4 weeks")));
}

}  // namespace bmad_mem::test::merge_plan_test
