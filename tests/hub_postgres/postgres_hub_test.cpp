// postgres_hub_test.cpp - what a hub on PostgreSQL keeps, gives back and forgets.
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "postgres_fixture.hpp"

namespace bmad_mem::test::postgres_hub_test {
namespace {

using Seqs = std::vector<std::uint64_t>;

FeedRow op_row(FeedOp op, std::string_view entry_id, std::uint64_t target = 0,
               std::optional<std::string> line = std::nullopt) {
  return {.op = op,
          .session_id = "s1",
          .log = EntryType::kFact,
          .target = target,
          .entry_id = std::string(entry_id),
          .line = std::move(line)};
}

std::vector<std::optional<std::string>> lines_of(Hub& hub) {
  std::vector<std::optional<std::string>> lines;
  for (const FeedRow& row : all_rows(hub)) {
    lines.push_back(row.line);
  }
  return lines;
}

}  // namespace

TEST_CASE("what is pushed is pulled, by whoever may") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto writer = house.hub("writer", 1);
  const auto reader = house.hub("reader", 2);
  std::vector<FeedRow> rows;
  for (const EntryType log : kEntryTypes) {
    rows.push_back(line_row("id", R"({"id":"id"})"));
    rows.back().log = log;
  }
  rows.push_back(op_row(FeedOp::kDelete, "id", 3));
  rows.push_back(op_row(FeedOp::kEvict, "id", 4));
  rows.push_back(op_row(FeedOp::kSession, ""));
  const PushAnswer answer = push_next(*writer, rows);
  CHECK(answer.is_stored);
  REQUIRE(answer.seqs.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(answer.seqs[i] == i + 1);
    rows[i].seq = i + 1;
    rows[i].replica = replica_id(1);
    rows[i].who = "writer";
  }
  CHECK(all_rows(*reader) == rows);
}

TEST_CASE("the head says how the hub stands") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto writer = house.hub("writer", 1);
  push_next(*writer, {line_row("a", "{}"), line_row("b", "{}")});
  const HubHead head = must(writer->head());
  CHECK(head.head == 2);
  CHECK(head.pushed == 2);
  CHECK(head.is_replica);
  CHECK(head.rights == "write");
  CHECK(head.version == kHubVersion);
  CHECK(head.min_client == kHubVersion);
  CHECK(head.policy.empty());
  const auto now = std::chrono::system_clock::now();
  CHECK(std::chrono::abs(now - head.now) < std::chrono::minutes(5));
  const auto other = must(PostgresHub::connect(house.options("reader", 7)));
  CHECK(!must(other->head()).is_replica);
  CHECK(must(other->head()).pushed == 0);
}

TEST_CASE("a pull is of a range, and of a session") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  push_next(*hub, {line_row("a", "1", "s1"), line_row("b", "2", "s2"), line_row("c", "3", "s1"),
                   line_row("d", "4", "s1")});
  const auto seqs = [&](const PullRange& range) {
    Seqs found;
    for (const FeedRow& row : must(hub->pull(range))) {
      found.push_back(row.seq);
    }
    return found;
  };
  CHECK(seqs({.after = 1}) == Seqs{2, 3, 4});
  CHECK(seqs({.after = 1, .until = 3}) == Seqs{2, 3});
  CHECK(seqs({.session_id = "s1"}) == Seqs{1, 3, 4});
  CHECK(seqs({.after = 1, .until = 3, .session_id = "s1"}) == Seqs{3});
  CHECK(seqs({.after = 4}).empty());
  Seqs named;
  for (const FeedRow& row : must(hub->rows(Seqs{4, 2, 99}))) {
    named.push_back(row.seq);
  }
  CHECK(named == Seqs{2, 4});
}

TEST_CASE("a page ends after so many bytes, but has a row") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  const std::string line(1U << 20U, 'x');
  for (int i = 0; i < 6; ++i) {
    push_next(*hub, {line_row("a", line), line_row("b", line), line_row("c", line)});
  }
  const auto page = must(hub->pull({}));
  CHECK(page.size() == kPullBytesMax / line.size());
  CHECK(page.back().line == line);
  CHECK(all_rows(*hub).size() == 18);
}

TEST_CASE("a page ends after so many rows") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  for (std::size_t i = 0; i < kPullRowsMax / kPushRowsMax + 1; ++i) {
    push_next(*hub, std::vector<FeedRow>(kPushRowsMax, line_row("a", "{}")));
  }
  CHECK(must(hub->pull({})).size() == kPullRowsMax);
  CHECK(all_rows(*hub).size() == kPullRowsMax + kPushRowsMax);
}

TEST_CASE("a row is found behind more gaps than a page has rows") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("forgetter", 1);
  push_next(*hub, {line_row("a", "{}"), op_row(FeedOp::kPurge, "a")});
  std::uint64_t head = 2;
  for (std::size_t i = 0; i < kPullRowsMax / kPushRowsMax + 1; ++i) {
    push_next(*hub, std::vector<FeedRow>(kPushRowsMax, line_row("a", "{}")));
    head += kPushRowsMax;
  }
  CHECK(must(hub->pull({.after = 2, .until = head})).empty());
  push_next(*hub, {line_row("b", "{}")});
  const auto page = must(hub->pull({.after = 2, .until = head + 1}));
  REQUIRE(page.size() == 1);
  CHECK(page.front().seq == head + 1);
  CHECK(must(hub->pull({.after = 2, .until = head})).empty());
}

TEST_CASE("a batch whose answer was lost is stored once") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  const PushBatch batch{.pushed = 0, .rows = {line_row("a", "{}"), line_row("b", "{}")}};
  CHECK(must(hub->push(batch)).is_stored);
  const PushAnswer again = must(hub->push(batch));
  CHECK(!again.is_stored);
  CHECK(again.seqs.empty());
  CHECK(must(hub->head()).pushed == 2);  // So it was stored before.
  CHECK(must(hub->head()).head == 2);
  CHECK(all_rows(*hub).size() == 2);
  CHECK(!must(must(PostgresHub::connect(house.options("writer", 9)))->push(batch)).is_stored);
}

TEST_CASE("an empty batch is stored, and changes nothing") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  CHECK(push_next(*hub, {}).is_stored);
  CHECK(must(hub->head()).head == 0);
}

TEST_CASE("a batch may ask that nothing came before it") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto one = house.hub("writer", 1);
  const auto two = house.hub("writer", 2);
  PushBatch batch{.pushed = 0, .rows = {line_row("a", "{}")}, .only_at_head = 0};
  push_next(*two, {line_row("b", "{}")});
  CHECK(!must(one->push(batch)).is_stored);
  CHECK(must(one->head()).pushed == 0);
  batch.only_at_head = 1;
  CHECK(must(one->push(batch)).seqs == Seqs{2});
  batch = {.pushed = 1, .rows = {op_row(FeedOp::kManifest, "", 0, "{}")}, .only_at_head = 1};
  CHECK(!must(one->push(batch)).is_stored);
  batch.only_at_head = 2;
  CHECK(must(one->push(batch)).is_stored);
}

TEST_CASE("a purge empties all versions, and the entry never comes back") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("forgetter", 1);
  push_next(*hub, {line_row("a", "a1"), line_row("b", "b1"), line_row("a", "a2")});
  CHECK(push_next(*hub, {op_row(FeedOp::kRedact, "a", 1, "a-")}).is_stored);
  CHECK(push_next(*hub, {op_row(FeedOp::kPurge, "a")}).seqs == Seqs{5});
  using Lines = std::vector<std::optional<std::string>>;
  CHECK(lines_of(*hub) == Lines{{}, "b1", {}, {}, {}});
  // What is gone leaves a gap, and the counter counts it.
  CHECK(push_next(*hub, {line_row("c", "c1"), line_row("a", "a3"), line_row("d", "d1")}).seqs ==
        Seqs{6, 0, 8});
  CHECK(must(hub->head()).pushed == 8);
  CHECK(push_next(*hub, {line_row("a", "a4")}).seqs == Seqs{0});
  CHECK(lines_of(*hub) == Lines{{}, "b1", {}, {}, {}, "c1", "d1"});
  CHECK(push_next(*hub, {op_row(FeedOp::kPurge, "a")}).seqs == Seqs{10});
}

TEST_CASE("a purge counts for the lines of its own batch") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("admin", 1);
  const PushAnswer answer =
      push_next(*hub, {line_row("a", "a1"), op_row(FeedOp::kPurge, "a"), line_row("a", "a2"),
                       line_row("b", "b1"), op_row(FeedOp::kPurge, "a")});
  CHECK(answer.seqs == Seqs{1, 2, 0, 4, 5});
  CHECK(lines_of(*hub) == std::vector<std::optional<std::string>>{{}, {}, "b1", {}});
}

TEST_CASE("a redaction changes its line in place, and the redactions before it") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("forgetter", 1);
  push_next(*hub, {line_row("a", "key 12, pin 34"), line_row("a", "other")});
  push_next(*hub, {op_row(FeedOp::kRedact, "a", 1, "key -, pin 34")});
  push_next(*hub, {op_row(FeedOp::kRedact, "a", 1, "key -, pin 3-"),
                   op_row(FeedOp::kRedact, "a", 1, "key -, pin -")});
  CHECK(lines_of(*hub) == std::vector<std::optional<std::string>>{"key -, pin -", "other",
                                                                  "key -, pin -", "key -, pin -",
                                                                  "key -, pin -"});
  SUBCASE("but never one that was purged") {
    push_next(*hub, {op_row(FeedOp::kPurge, "a")});
    push_next(*hub, {op_row(FeedOp::kRedact, "a", 1, "back?")});
    for (const auto& line : lines_of(*hub)) {
      CHECK(!line);
    }
  }
}

TEST_CASE("of the manifests of a session the last one is kept") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  FeedRow other = op_row(FeedOp::kManifest, "", 0, "other");
  other.session_id = "s2";
  push_next(*hub, {op_row(FeedOp::kManifest, "", 0, "1"), other});
  push_next(*hub, {op_row(FeedOp::kManifest, "", 0, "2"), op_row(FeedOp::kManifest, "", 0, "3")});
  CHECK(lines_of(*hub) == std::vector<std::optional<std::string>>{{}, "other", {}, "3"});
}

TEST_CASE("every byte of a line and every id comes back") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  std::string all(256, '\0');
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<char>(i);
  }
  const std::vector<std::string> lines = {
      R"({"text":"\u0000 \ud800 \\u0000"})",
      "\xff\xfe\xc3(",
      all,
      "",
      R"('; drop table bmad.entry; -- {"a",NULL,"\"}\')",
      std::string(1U << 20U, '\xe4'),
  };
  const std::string id = R"(a"b\{},')" + std::string(120, 'x');
  std::vector<FeedRow> rows;
  for (const std::string& line : lines) {
    rows.push_back(line_row(id, line, "s\xc3\xa4"));
  }
  push_next(*hub, rows);
  const std::vector<FeedRow> found = all_rows(*hub);
  REQUIRE(found.size() == lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK((found[i].line == lines[i]));
    CHECK(found[i].entry_id == id);
    CHECK(found[i].session_id == "s\xc3\xa4");
  }
  for (const std::string& bad : {std::string("\xff"), std::string("a\0b", 3)}) {
    CHECK(hub->push({.pushed = 6, .rows = {line_row(bad, "{}")}}).error().code ==
          ErrorCode::E_INVALID_FORMAT);
  }
}

TEST_CASE("a push has a bound") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto hub = house.hub("writer", 1);
  const auto code = [&](std::vector<FeedRow> rows) {
    return hub->push({.pushed = 0, .rows = std::move(rows)}).error().code;
  };
  CHECK(code(std::vector<FeedRow>(kPushRowsMax + 1, line_row("a", "{}"))) ==
        ErrorCode::E_SIZE_LIMIT);
  const std::string half(kPushBytesMax / 2 + 1, 'x');
  CHECK(code({line_row("a", half), line_row("b", half)}) == ErrorCode::E_SIZE_LIMIT);
  CHECK(push_next(*hub, {line_row("a", half + half)}).is_stored);
}

TEST_CASE("replicas join, say how far they are, and leave") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto writer = house.hub("writer", 1);
  const auto reader = house.hub("reader", 2);
  CHECK(reader->add_replica(replica_id(2), "elsewhere").has_value());  // It is there.
  push_next(*writer, {line_row("a", "{}")});
  CHECK(reader->confirm(1).has_value());
  const auto replicas = must(writer->replicas());
  REQUIRE(replicas.size() == 2);
  CHECK(replicas[0].replica == replica_id(1));
  CHECK(replicas[0].who == "writer");
  CHECK(replicas[0].host == "host");
  CHECK(replicas[0].pushed == 1);
  CHECK(replicas[0].cursor == 0);
  CHECK(replicas[1].who == "reader");
  CHECK(replicas[1].cursor == 1);
  CHECK(writer->add_replica(replica_id(2), "x").error().code == ErrorCode::E_ACCESS_DENIED);
  CHECK(writer->drop_replica(replica_id(2)).error().code == ErrorCode::E_ACCESS_DENIED);
  CHECK(writer->drop_replica(replica_id(3)).has_value());  // It is not there.
  CHECK(house.hub("admin", 0)->drop_replica(replica_id(2)).has_value());
  CHECK(must(writer->replicas()).size() == 1);
  CHECK(reader->confirm(2).error().code == ErrorCode::E_ACCESS_DENIED);
  CHECK(writer->add_replica("no uuid", "x").error().code == ErrorCode::E_INVALID_FORMAT);
  CHECK(writer->add_replica("", "x").error().code == ErrorCode::E_INVALID_FORMAT);
}

TEST_CASE("of many who set up a hub at once each gets the same one") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  house.sql("owner", "drop schema bmad cascade");
  std::vector<std::string> ids(4);
  {
    std::vector<std::jthread> admins;
    for (std::string& id : ids) {
      admins.emplace_back([&] {
        const auto hub = PostgresHub::connect({.conninfo = house.conninfo("owner")});
        id = hub ? (*hub)->init("house").value_or("") : "";
      });
    }
  }
  CHECK(!ids[0].empty());
  CHECK(ids == std::vector<std::string>(4, ids[0]));
}

TEST_CASE("an admin sets up a hub, and does nothing twice") {
  NEEDS_POSTGRES();
  const HubDatabase house;
  const auto owner = must(PostgresHub::connect({.conninfo = house.conninfo("owner")}));
  CHECK(owner->init("house").value() == house.project());
  CHECK(owner->upgrade().value() == kHubVersion);
  const std::vector<HubMember> members = {{"admin", "admin"},
                                          {"forgetter", "forget"},
                                          {"owner", "admin"},
                                          {"reader", "read"},
                                          {"writer", "write"}};
  CHECK(owner->members().value() == members);
  CHECK(owner->add_member("writer", "read").has_value());
  CHECK(must(house.hub("writer", 0)->head()).rights == "read");
  CHECK(owner->add_member("nobody \" there", "read").error().field == "who");
  CHECK(owner->add_member("public", "read").error().field == "who");
  for (const std::string_view role : {"pg_read_all_data", "pg_monitor", "postgres", "chief"}) {
    CAPTURE(role);
    house.sql("postgres", "create role chief; grant pg_read_all_data to chief");
    CHECK(owner->add_member(role, "read").error().message.contains("role of its own"));
    house.sql("postgres", "drop role chief");
  }
  CHECK(owner->add_member("writer", "all").error().field == "rights");
  // Two projects of a hub know nothing of each other.
  CHECK(owner->init("garden").value() != house.project());
  CHECK(must(owner->members()).size() == 1);
  CHECK(!owner->is_tls());
}

}  // namespace bmad_mem::test::postgres_hub_test
