#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "exchange/graph/graph.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::cli::graph_store_test {
namespace {

MemoryManager open_memory(const std::string& root) {
  REQUIRE(MemoryManager::init(root));
  return MemoryManager::open({.root = root}).value();
}

const std::vector<GraphEntity> kPeople = {
    {.name = "Ann", .entity_type = "person", .observations = {"likes tea", "lives in Kiel"}},
    {.name = "Ben", .entity_type = "person"}};
const std::vector<GraphRelation> kKnows = {{.from = "Ann", .to = "Ben", .relation_type = "knows"}};

std::string text(GraphStore& store) { return graph_file_text(*store.graph().value()); }

constexpr const char* kAnnAndBen =
    R"({"type":"entity","name":"Ann","entityType":"person","observations":["likes tea","lives in Kiel"]})"
    "\n"
    R"({"type":"entity","name":"Ben","entityType":"person","observations":[]})"
    "\n"
    R"({"type":"relation","from":"Ann","to":"Ben","relationType":"knows"})";

}  // namespace

TEST_CASE("what was created is there, once, for every store that is open") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  MemoryManager other_memory = MemoryManager::open({.root = folder.path("m")}).value();
  GraphStore store = GraphStore::open(memory).value();
  GraphStore other = GraphStore::open(other_memory).value();
  CHECK(text(other).empty());
  CHECK(store.create_entities(kPeople).value().size() == 2);
  CHECK(store.create_entities(kPeople).value().empty());
  CHECK(other.create_relations(kKnows).value().size() == 1);
  CHECK(other.create_relations(kKnows).value().empty());
  CHECK(text(store) == kAnnAndBen);
  CHECK(text(other) == kAnnAndBen);
  GraphStore third = GraphStore::open(memory).value();
  CHECK(text(third) == kAnnAndBen);
}

TEST_CASE("observations are added to what is there, and none of them when one can't be") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  GraphStore store = GraphStore::open(memory).value();
  REQUIRE(store.create_entities(kPeople));
  const std::vector<AddedObservations> some = {{"Ann", {"likes tea", "has a dog", "has a dog"}},
                                               {"Ben", {}}};
  const std::vector<AddedObservations> added = store.add_observations(some).value();
  REQUIRE(added.size() == 2);
  CHECK(added[0].contents == std::vector<std::string>{"has a dog"});
  CHECK(added[1].contents.empty());
  const std::vector<AddedObservations> bad = {{"Ben", {"x"}}, {"Eve", {"y"}}};
  const auto refused = store.add_observations(bad);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message == "Entity with name Eve not found");
  CHECK(store.graph().value()->entities[1].observations.empty());
}

TEST_CASE("what is deleted goes with all that hangs on it, for every store") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  GraphStore store = GraphStore::open(memory).value();
  GraphStore other = GraphStore::open(memory).value();
  REQUIRE(store.create_entities(kPeople));
  REQUIRE(store.create_relations(kKnows));
  CHECK(text(other) == kAnnAndBen);
  SUBCASE("an entity") {
    const std::vector<std::string> names = {"Ann", "Eve"};
    REQUIRE(store.delete_entities(names));
    CHECK(text(other) ==
          R"({"type":"entity","name":"Ben","entityType":"person","observations":[]})");
    CHECK(memory.list({}).value().size() == 1);
    REQUIRE(store.create_entities(std::vector<GraphEntity>{{.name = "Ann", .entity_type = "p"}}));
    CHECK(other.graph().value()->entities.back().observations.empty());
  }
  SUBCASE("an observation") {
    const std::vector<AddedObservations> gone = {{"Ann", {"likes tea", "never said"}}};
    REQUIRE(store.delete_observations(gone));
    CHECK(other.graph().value()->entities[0].observations ==
          std::vector<std::string>{"lives in Kiel"});
  }
  SUBCASE("a relation") {
    REQUIRE(store.delete_relations(kKnows));
    CHECK(other.graph().value()->relations.empty());
    CHECK(store.create_relations(kKnows).value().size() == 1);
    CHECK(other.graph().value()->relations.size() == 1);
  }
}

TEST_CASE("an item is found by the texts that it was given, and by those that the graph shows") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  GraphStore store = GraphStore::open(memory).value();
  const std::string secret = "token gh" + std::string("p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
  const std::vector<GraphEntity> ann = {
      {.name = "Ann", .entity_type = "person", .observations = {secret}}};
  REQUIRE(store.create_entities(ann));
  const std::string shown = store.graph().value()->entities[0].observations[0];
  CHECK(shown == "token [REDACTED:github-pat]");
  const std::vector<AddedObservations> again = {{"Ann", {secret}}};
  CHECK(store.add_observations(again).value()[0].contents.empty());
  SUBCASE("given") { REQUIRE(store.delete_observations(again)); }
  SUBCASE("shown") {
    const std::vector<AddedObservations> as_shown = {{"Ann", {shown}}};
    REQUIRE(store.delete_observations(as_shown));
  }
  SUBCASE("with the entity") {
    const std::vector<std::string> names = {"Ann"};
    REQUIRE(store.delete_entities(names));
    CHECK(memory.list({}).value().empty());
    return;
  }
  CHECK(store.graph().value()->entities[0].observations.empty());
}

TEST_CASE("a graph goes on in another session before the first is full") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  GraphStore store = GraphStore::open(memory).value();
  REQUIRE(store.create_entities(kPeople));
  const std::string long_text(400'000, 'x');
  for (int i = 0; i < 18; ++i) {
    const std::vector<AddedObservations> one = {{"Ann", {std::to_string(i) + long_text}}};
    REQUIRE(store.add_observations(one));
  }
  CHECK(memory.list_sessions().value().size() == 3);
  CHECK(store.graph().value()->entities[0].observations.size() == 20);
  GraphStore other = GraphStore::open(memory).value();
  CHECK(text(other) == text(store));
  const std::vector<std::string> names = {"Ann"};
  REQUIRE(store.delete_entities(names));
  CHECK(other.graph().value()->entities.size() == 1);
  CHECK(memory.list({}).value().size() == 1);
}

TEST_CASE("a search looks into names, types and observations, and takes relations along") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  GraphStore store = GraphStore::open(memory).value();
  REQUIRE(store.create_entities(kPeople));
  REQUIRE(store.create_relations(kKnows));
  struct Row {
    const char* query;
    std::size_t entities;
    std::size_t relations;
  };
  static constexpr Row kRows[] = {{"ANN", 1, 1}, {"Person", 2, 1},        {"tea", 1, 1},
                                  {"", 2, 1},    {"nothing of it", 0, 0}, {"annperson", 0, 0}};
  for (const Row& row : kRows) {
    CAPTURE(row.query);
    const Graph found = store.search(row.query).value();
    CHECK(found.entities.size() == row.entities);
    CHECK(found.relations.size() == row.relations);
  }
  const std::vector<AddedObservations> more = {{"Ben", {"ÄPFEL"}}};
  REQUIRE(store.add_observations(more));
  CHECK(store.search("äpfel").value().entities[0].name == "Ben");
  REQUIRE(store.delete_observations(more));
  REQUIRE(store.add_observations(std::vector<AddedObservations>{{"Ben", {"pears"}}}));
  CHECK(store.search("äpfel").value().entities.empty());
  const std::vector<std::string> names = {"Ben", "ann"};
  const Graph opened = store.open_nodes(names).value();
  CHECK(opened.entities.size() == 1);
  CHECK(opened.relations.size() == 1);
}

TEST_CASE("a graph whose session was deleted begins anew") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  GraphStore store = GraphStore::open(memory).value();
  REQUIRE(store.create_entities(kPeople));
  REQUIRE(memory.delete_session(kGraphSession));
  CHECK(text(store).empty());
  CHECK(store.create_entities(kPeople).value().size() == 2);
  CHECK(store.graph().value()->entities.size() == 2);
}

TEST_CASE("a graph is taken in once, in as many sessions as it needs, also after an interruption") {
  const test::TemporaryDirectory folder;
  MemoryManager memory = open_memory(folder.path("m"));
  GraphStore store = GraphStore::open(memory).value();
  Graph large{.entities = kPeople, .relations = kKnows};
  for (int i = 0; i < 20; ++i) {
    large.entities[1].observations.push_back(std::to_string(i) + std::string(400'000, 'x'));
  }
  CHECK(store.wants_graph().value());
  SUBCASE("at once") {}
  SUBCASE("when only a part had come") {
    REQUIRE(memory.create_session({.session_id = std::string(kGraphSession)}));
    REQUIRE(memory.add(kGraphSession, EntryType::kEvent,
                       R"({"id":"graph-taking-in","kind":"import","content":"x"})"));
    REQUIRE(store.create_entities(std::vector<GraphEntity>{
        {.name = "Ben Half", .entity_type = "x"}, {.name = "Ben", .entity_type = "person"}}));
    large.entities.insert(large.entities.begin(), {.name = "Ben Half", .entity_type = "x"});
  }
  CHECK(store.wants_graph().value());
  REQUIRE(store.take_in(large));
  CHECK_FALSE(store.wants_graph().value());
  CHECK(memory.list_sessions().value().size() == 3);
  const Graph now = *store.graph().value();
  CHECK(now.entities.size() == large.entities.size());
  CHECK(now.relations.size() == 1);
  const std::vector<std::string> ben = {"Ben"};
  CHECK(store.open_nodes(ben).value().entities[0].observations.size() == 20);
  REQUIRE(store.delete_entities(ben));
  CHECK_FALSE(store.wants_graph().value());
}

TEST_CASE("only numbered sessions belong to the graph") {
  for (const char* name : {"server-memory", "server-memory-2", "server-memory-13"}) {
    CHECK(is_graph_session(name));
  }
  for (const char* name : {"server-memory-", "server-memory-x", "server-memory2",
                           "server-memory-02", "server", "server-memory-12345678901"}) {
    CHECK_FALSE(is_graph_session(name));
  }
}

}  // namespace bmad_mem::cli::graph_store_test
