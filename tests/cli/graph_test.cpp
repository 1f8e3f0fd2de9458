#include "exchange/graph/graph.hpp"

#include <string>
#include <string_view>
#include <variant>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"

namespace bmad_mem::cli::graph_test {
namespace {

GraphItem read_back(const std::string& json) {
  JsonParser parser;
  const Result<JsonValue> value = parser.parse(json);
  REQUIRE(value);
  const auto item = graph_item_from(*value);
  REQUIRE(item);
  return *item;
}

TEST_CASE("an item of a graph becomes a fact, and comes back") {
  CHECK(entity_json({.name = "Ann", .entity_type = "person"}) ==
        R"({"id":")" + entity_id("Ann") +
            R"(","category":"project_fact","key":"Ann","content":"person",)"
            R"("entity":{"name":"Ann","entityType":"person"}})");
  const auto entity =
      std::get<GraphEntity>(read_back(entity_json({.name = "A\"n\n", .entity_type = ""})));
  CHECK(entity.name == "A\"n\n");
  CHECK(entity.entity_type.empty());
  const GraphObservation says = {.entity_name = "Ann", .content = "Says: hello"};
  const std::string observation_text = observation_json(says, R"("source":{"kind":"import"})");
  CHECK(observation_text.ends_with(R"(,"source":{"kind":"import"}})"));
  CHECK(observation_text.find("\"key\"") == std::string::npos);
  const auto observation = std::get<GraphObservation>(read_back(observation_text));
  CHECK(observation.entity_name == "Ann");
  CHECK(observation.content == "Says: hello");
  const auto relation = std::get<GraphRelation>(
      read_back(relation_json({.from = "Ann", .to = "Ben", .relation_type = "knows"})));
  CHECK(relation.from == "Ann");
  CHECK(relation.to == "Ben");
  CHECK(relation.relation_type == "knows");
}

TEST_CASE("ids come from the texts alone, and never change") {
  CHECK(entity_id("Ann") == "entity-1akc36js9j5g4nfmhw3mg6yg76");
  CHECK(observation_id({.entity_name = "ab", .content = "c"}) !=
        observation_id({.entity_name = "a", .content = "bc"}));
  CHECK(relation_id({.from = "a", .to = "b", .relation_type = "c"}) !=
        relation_id({.from = "b", .to = "a", .relation_type = "c"}));
}

TEST_CASE("other entries are no items of a graph") {
  JsonParser parser;
  for (const char* text : {R"({"id":"x","content":"y"})", R"({"entity":"Ann"})", "{}", "[]"}) {
    const Result<JsonValue> value = parser.parse(text);
    REQUIRE(value);
    CHECK(!graph_item_from(*value));
  }
}

TEST_CASE("a graph is put together in the order of the log") {
  GraphBuilder builder;
  builder.add("o1", GraphObservation{.entity_name = "B", .content = "early"});
  builder.add("e1", GraphEntity{.name = "B", .entity_type = "x"});
  builder.add("e2", GraphEntity{.name = "A", .entity_type = "x"});
  builder.add("r1", GraphRelation{.from = "A", .to = "C", .relation_type = "r"});
  builder.add("o2", GraphObservation{.entity_name = "B", .content = "late"});
  builder.add("o3", GraphObservation{.entity_name = "gone", .content = "x"});
  builder.add("e1", GraphEntity{.name = "B", .entity_type = "newer"});
  CHECK(graph_file_text(builder.graph()) ==
        R"({"type":"entity","name":"B","entityType":"newer","observations":["early","late"]})"
        "\n"
        R"({"type":"entity","name":"A","entityType":"x","observations":[]})"
        "\n"
        R"({"type":"relation","from":"A","to":"C","relationType":"r"})");
  CHECK(graph_file_text({}).empty());
}

TEST_CASE("an id that comes again for something else changes nothing") {
  GraphBuilder builder;
  builder.add("o", GraphObservation{.entity_name = "C", .content = "early"});
  builder.add("o", GraphEntity{.name = "D", .entity_type = "x"});
  builder.add("e1", GraphEntity{.name = "A", .entity_type = "x"});
  builder.add("e2", GraphEntity{.name = "B", .entity_type = "x"});
  builder.add("e2", GraphObservation{.entity_name = "A", .content = "of the entity's id"});
  builder.add("e2", GraphRelation{.from = "A", .to = "B", .relation_type = "r"});
  builder.add("e3", GraphEntity{.name = "C", .entity_type = "x"});
  CHECK(graph_file_text(builder.graph()) ==
        R"({"type":"entity","name":"A","entityType":"x","observations":[]})"
        "\n"
        R"({"type":"entity","name":"B","entityType":"x","observations":[]})"
        "\n"
        R"({"type":"entity","name":"C","entityType":"x","observations":["early"]})");
}

TEST_CASE("texts are quoted as JavaScript quotes them") {
  CHECK(js_json(json_quoted("\b\f\n\r\t\x01\x7f\"\\/é\xE2\x80\xA8")) ==
        "\"\\b\\f\\n\\r\\t\\u0001\x7f\\\"\\\\/é\xE2\x80\xA8\"");
  CHECK(js_json(json_quoted("\\u0008")) == R"("\\u0008")");
  CHECK(js_json(json_quoted("")).size() == 2);
}

TEST_CASE("lines with other names of the members are understood") {
  JsonParser parser;
  const auto read = [&](const char* text) { return graph_line_from(*parser.parse(text)); };
  CHECK(std::get<GraphEntity>(read(R"({"type":"entity","entityName":"A","observations":["x",1]})"))
            .observations.size() == 1);
  CHECK(std::get<GraphRelation>(
            read(R"({"type":"relation","from_id":"A","to_id":"B","relation_type":"r"})"))
            .relation_type == "r");
  CHECK(std::holds_alternative<std::monostate>(read(R"({"type":"note","name":"A"})")));
  CHECK(std::holds_alternative<std::monostate>(read(R"({"type":"entity"})")));
}

}  // namespace
}  // namespace bmad_mem::cli::graph_test
