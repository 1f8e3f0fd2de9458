// Whose words a text is, and how far it is trusted.
#include <string_view>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "model/statement.hpp"

namespace bmad_mem::test::voice_test {

TEST_CASE("what a tool printed is quoted, whatever it claims and whoever accepted it") {
  struct Row {
    EntryType type;
    std::string_view entry;
    bool quoted;
    std::string_view kind;
  };
  static constexpr Row kRows[] = {
      {EntryType::kEvent, R"({"kind":"tool_result","source":{"kind":"user","trust":1}})", true,
       "tool"},
      {EntryType::kEvent, R"({"kind":"note","tool":"x","source":{"kind":"assistant","trust":1}})",
       true, "tool"},
      {EntryType::kEvent, R"({"kind":"note","source":{"kind":"user","trust":1}})", false, "user"},
      {EntryType::kConversation, R"({"role":"tool","source":{"kind":"user","trust":1}})", true,
       "tool"},
      {EntryType::kConversation, R"({"role":"tool","source":{"kind":"web"}})", true, "web"},
      {EntryType::kConversation, R"({"role":"user","source":{"kind":"user","trust":1}})", false,
       "user"},
      {EntryType::kFact, R"({"source":{"kind":"import"}})", true, "import"},
      {EntryType::kFact, R"({"source":{"kind":"a friend","trust":7}})", false, ""},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.entry.data()) {
      JsonParser parser;
      const Result<JsonValue> entry = parser.parse(row.entry);
      REQUIRE(entry.has_value());
      for (const Origin origin : {Origin::kPerson, Origin::kAccepted}) {
        const SourceReliability trust = source_reliability(row.type, *entry, origin);
        CHECK(must_be_quoted(trust, 0.5) == row.quoted);
        CHECK(trust.source_kind == row.kind);
        CHECK(trust.trust == 1);
      }
    }
  }
}

TEST_CASE("only a person is taken at their word") {
  const auto told = [](Origin origin) {
    return source_text(checked_reliability({.source_kind = "user", .trust = 1, .origin = origin}));
  };
  CHECK(told(Origin::kPerson) == "from user, trust 1.00");
  CHECK(told(Origin::kAccepted) == "from user, trust 1.00");
  CHECK(told(Origin::kAgent) == "from agent, trust 0.60");
  CHECK(told(Origin::kElsewhere) == "from elsewhere, trust 0.40");
}

}  // namespace bmad_mem::test::voice_test
