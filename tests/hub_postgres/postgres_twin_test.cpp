// postgres_twin_test.cpp - the hub in memory and the one on PostgreSQL give equal answers, and
// mirrors of the latter end equal.
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "postgres_fixture.hpp"
#include "support/memory_fixture.hpp"
#include "support/memory_hub.hpp"

namespace bmad_mem::test::postgres_twin_test {
namespace {

constexpr int kReplicas = 3;

/// What a row says, wherever it is.
std::string text_of(const FeedRow& row) {
  return fmt::format("{} {} {} {} {} {} {}", row.seq, static_cast<int>(row.op), row.session_id,
                     static_cast<int>(row.log), row.target, row.entry_id,
                     row.line.value_or("(purged)"));
}

std::string text_of(const std::vector<FeedRow>& rows) {
  std::string text;
  for (const FeedRow& row : rows) {
    text += text_of(row) + "\n";
  }
  return text;
}

/// A line, a manifest, or an operation on a line of the feed, as a mirror would send it.
FeedRow any_row(const MemoryFeed& feed) {
  const auto [op, entry, session, target] = *rc::gen::tuple(
      rc::gen::weightedElement<int>({{8, 0}, {1, 1}, {1, 2}, {1, 3}, {1, 4}, {1, 6}}),
      rc::gen::inRange(0, 5), rc::gen::inRange(0, 2),
      rc::gen::inRange<std::size_t>(0, feed.rows.size() + 1));
  FeedRow row{.op = static_cast<FeedOp>(op),
              .session_id = fmt::format("s{}", session),
              .log = EntryType::kFact,
              .entry_id = fmt::format("f{}", entry)};
  const std::string text = fmt::format("{} \\u0000 {}", entry, *rc::gen::inRange(0, 100));
  if (row.op == FeedOp::kManifest) {
    row.entry_id.clear();
    row.line = text;
    return row;
  }
  const bool has_target =
      target > 0 && feed.rows[target - 1].op == FeedOp::kLine && feed.rows[target - 1].seq != 0;
  if (row.op == FeedOp::kLine || !has_target) {
    row.op = FeedOp::kLine;
    row.line = text;
    return row;
  }
  row.target = target;
  row.entry_id = feed.rows[target - 1].entry_id;
  row.session_id = feed.rows[target - 1].session_id;
  if (row.op == FeedOp::kRedact) {
    row.line = text;
  }
  return row;
}

}  // namespace

TEST_CASE("the hub in memory and the one on PostgreSQL give equal answers") {
  NEEDS_POSTGRES();
  const auto agree = [] {
    const HubDatabase house;
    const auto feed = std::make_shared<MemoryFeed>();
    std::vector<std::unique_ptr<PostgresHub>> theirs;
    std::vector<std::unique_ptr<MemoryHub>> ours;
    for (int i = 1; i <= kReplicas; ++i) {
      theirs.push_back(house.hub("forgetter", i));
      ours.push_back(std::make_unique<MemoryHub>(feed));
      RC_ASSERT(ours.back()->add_replica(replica_id(i), "here").has_value());
    }
    for (int step = 0; step < 25; ++step) {
      const auto who = static_cast<std::size_t>(*rc::gen::inRange(0, kReplicas));
      const HubHead head = must(ours[who]->head());
      const HubHead their_head = must(theirs[who]->head());
      RC_ASSERT(head.head == their_head.head);
      RC_ASSERT(head.pushed == their_head.pushed);
      PushBatch batch{.pushed = head.pushed + (*rc::gen::inRange(0, 6) == 0 ? 1U : 0U)};
      const int count = *rc::gen::inRange(1, 6);
      for (int i = 0; i < count; ++i) {
        batch.rows.push_back(any_row(*feed));
      }
      if (*rc::gen::inRange(0, 4) == 0) {
        batch.only_at_head = head.head - (*rc::gen::inRange(0, 3) == 0 && head.head > 0 ? 1U : 0U);
      }
      const PushAnswer our_answer = must(ours[who]->push(batch));
      const PushAnswer their_answer = must(theirs[who]->push(batch));
      RC_ASSERT(our_answer.is_stored == their_answer.is_stored);
      RC_ASSERT(our_answer.seqs == their_answer.seqs);
    }
    RC_ASSERT(text_of(must(ours[0]->pull({}))) == text_of(must(theirs[0]->pull({}))));
    const PullRange part{.after = 3, .until = 40, .session_id = "s1"};
    RC_ASSERT(text_of(must(ours[0]->pull(part))) == text_of(must(theirs[0]->pull(part))));
    const std::vector<std::uint64_t> seqs = {9, 2, 5, 1000};
    RC_ASSERT(text_of(must(ours[0]->rows(seqs))) == text_of(must(theirs[0]->rows(seqs))));
  };
  CHECK(rc::check("the hub in memory and the one on PostgreSQL give equal answers", agree));
}

TEST_CASE("mirrors of a hub on PostgreSQL end with equal logs") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  std::vector<std::unique_ptr<MemoryFixture>> roots;
  std::vector<std::unique_ptr<PostgresHub>> hubs;
  for (int i = 0; i < kReplicas; ++i) {
    roots.push_back(std::make_unique<MemoryFixture>());
    hubs.push_back(house.hub("forgetter", 0));
    must(join_hub(**roots.back(), *hubs.back(), {.service = "x", .project = "house", .host = "h"}));
  }
  roots[0]->session();
  const auto settle = [&] {
    for (int round = 0; round < 2; ++round) {
      for (std::size_t i = 0; i < roots.size(); ++i) {
        CHECK(must(sync_with_hub(**roots[i], *hubs[i])).problems.empty());
      }
    }
  };
  roots[0]->add_fact("f1", "canary");
  settle();
  for (std::size_t i = 0; i < roots.size(); ++i) {
    for (int k = 0; k < 20; ++k) {
      roots[i]->add_fact(fmt::format("m{}-{}", i, k));
    }
  }
  settle();
  const std::vector<std::string> deleted = {"m0-3", "m1-4"};
  const std::vector<std::string> purged = {"f1"};
  REQUIRE((*roots[1])->delete_entries({.ids = deleted}));
  REQUIRE((*roots[2])->delete_entries({.ids = purged}, {.purge = true}));
  REQUIRE((*roots[0])->compact("s1", {.keep_share = 0.8}));
  settle();
  for (const auto& root : roots) {
    CHECK(root->read(EntryType::kFact) == roots[0]->read(EntryType::kFact));
    CHECK(root->read(EntryType::kFact).find("canary") == std::string::npos);
  }
  CHECK(must(hubs[0]->head()).head == must(hubs[1]->replicas())[0].cursor);
}

}  // namespace bmad_mem::test::postgres_twin_test
