#include "knowledge/knowledge_item.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "model/statement.hpp"

namespace bmad_mem::test::knowledge_item_test {
namespace {

/// Lines of logs, gathered and read back as items.
class Lines {
 public:
  /// A fact of `session`, stated on the `day` of January. `more` are further members.
  Lines& fact(const std::string& session, const std::string& id, int day,
              const std::string& content, const std::string& more = "") {
    return add(
        session, EntryType::kFact,
        head(id, day) + R"("content":")" + content + '"' + (more.empty() ? "" : "," + more) + '}');
  }
  Lines& preference(const std::string& session, const std::string& id, int day,
                    const std::string& value_json, const std::string& more = "") {
    return add(session, EntryType::kPreference,
               head(id, day) + R"("key":"k","value":)" + value_json +
                   (more.empty() ? "" : "," + more) + '}');
  }
  Lines& add(const std::string& session, EntryType type, const std::string& text) {
    sessions_.push_back(session);
    types_.push_back(type);
    texts_.push_back(text);
    return *this;
  }

  [[nodiscard]] std::vector<KnowledgeItem> items(std::optional<Timestamp> as_of = {}) const {
    std::vector<KnowledgeLine> lines;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      lines.push_back({.session_id = sessions_[i], .type = types_[i], .text = texts_[i]});
    }
    return collect_knowledge(lines, as_of);
  }
  [[nodiscard]] KnowledgeItem item(std::optional<Timestamp> as_of = {}) const {
    const std::vector<KnowledgeItem> all = items(as_of);
    REQUIRE(all.size() == 1);
    return all.front();
  }

 private:
  static std::string head(const std::string& id, int day) {
    const std::string two = (day < 10 ? "0" : "") + std::to_string(day);
    return R"({"id":")" + id + R"(","timestamp":"2026-01-)" + two + R"(T10:00:00Z",)";
  }

  std::vector<std::string> sessions_;
  std::vector<EntryType> types_;
  std::vector<std::string> texts_;
};

Timestamp day(int number) {
  const std::string two = (number < 10 ? "0" : "") + std::to_string(number);
  return parse_rfc3339("2026-01-" + two + "T12:00:00Z").value();
}

constexpr const char* kKey = R"("category":"constraint","key":"k")";

}  // namespace

TEST_CASE("the newest statement of a key holds, whatever session it is from") {
  const KnowledgeItem item = Lines()
                                 .fact("s2", "b", 3, "new", kKey)
                                 .fact("s1", "a", 1, "old", kKey)
                                 .fact("s3", "c", 2, "middle", kKey)
                                 .item();
  CHECK(item.value == "new");
  CHECK(item.id == "b");
  CHECK(item.session_id == "s2");
  CHECK(item.category == Category::kConstraint);
  CHECK(item.contradicted);
  REQUIRE(item.chain.size() == 3);
  CHECK(item.chain[0].value == "old");
  CHECK(item.chain[2].value == "new");
  CHECK(item.chain[2].holds);
  CHECK_FALSE(item.chain[0].holds);
}

TEST_CASE("the same key of another category is something else") {
  const Lines lines = Lines()
                          .fact("s1", "a", 1, "x", kKey)
                          .fact("s1", "b", 2, "y", R"("category":"pattern","key":"k")");
  CHECK(lines.items().size() == 2);
}

TEST_CASE("what has no key is an item of its own, with its versions") {
  const Lines lines =
      Lines().fact("s1", "a", 1, "one").fact("s1", "b", 1, "two").fact("s1", "a", 2, "one, mended");
  const std::vector<KnowledgeItem> items = lines.items();
  REQUIRE(items.size() == 2);
  CHECK(items[0].value == "one, mended");
  CHECK(items[0].chain.size() == 2);
  CHECK(items[1].value == "two");
}

TEST_CASE("confidence only rises, and repeating is no contradiction") {
  const KnowledgeItem item =
      Lines()
          .fact("s1", "a", 1, "x", std::string(kKey) + R"(,"confidence":0.9)")
          .fact("s1", "a", 2, "x", std::string(kKey) + R"(,"confidence":0.4)")
          .item();
  CHECK(item.confidence == 0.9);
  CHECK_FALSE(item.contradicted);
}

TEST_CASE("who is not trusted does not displace what others stated, nor raise its confidence") {
  const std::string web =
      std::string(kKey) + R"(,"confidence":1.0,"source":{"kind":"web","trust":0.2})";
  const KnowledgeItem item =
      Lines()
          .fact("s1", "a", 1, "ours", std::string(kKey) + R"(,"confidence":0.7)")
          .fact("s2", "b", 5, "theirs", web)
          .item();
  CHECK(item.value == "ours");
  CHECK(item.confidence == 0.7);
  CHECK(item.contradicted);
  CHECK(Lines().fact("s2", "b", 5, "theirs", web).item().value == "theirs");
}

TEST_CASE("a version that says nothing else is no statement of its own") {
  const KnowledgeItem item = Lines()
                                 .fact("s1", "a", 1, "x", kKey)
                                 .fact("s1", "a", 1, "x", std::string(kKey) + R"(,"pinned":true)")
                                 .item();
  CHECK(item.chain.size() == 1);
  CHECK(item.pinned);
}

TEST_CASE("as of a time, only what was stated until then is known") {
  const Lines lines = Lines().fact("s1", "a", 1, "old", kKey).fact("s1", "a", 5, "new", kKey);
  CHECK(lines.item(day(3)).value == "old");
  CHECK(lines.item(day(5)).value == "new");
  CHECK(lines.items(day(0 + 1) - std::chrono::hours(3)).empty());
}

TEST_CASE("an update tells its time by updated_at") {
  const Lines lines =
      Lines()
          .fact("s1", "a", 1, "old", kKey)
          .fact("s1", "a", 1, "new", std::string(kKey) + R"(,"updated_at":"2026-01-09T00:00:00Z")");
  CHECK(lines.item(day(8)).value == "old");
  CHECK(lines.item().value == "new");
  CHECK(lines.item().created_at < day(1));
}

TEST_CASE("candidates and dropped ones are no part of what is known") {
  const std::string candidate = std::string(kKey) + R"(,"review":"candidate")";
  const Lines lines =
      Lines().fact("s1", "a", 1, "known", kKey).fact("s1", "b", 2, "perhaps", candidate);
  const std::vector<KnowledgeItem> items = lines.items();
  REQUIRE(items.size() == 2);
  CHECK(items[0].value == "known");
  CHECK(items[0].review == Review::kNone);
  CHECK_FALSE(items[0].contradicted);
  CHECK(items[1].review == Review::kCandidate);
  SUBCASE("once accepted, it is a statement like others") {
    const Lines accepted =
        Lines()
            .fact("s1", "a", 1, "known", kKey)
            .fact("s1", "b", 2, "perhaps", candidate)
            .fact("s1", "b", 3, "perhaps", std::string(kKey) + R"(,"review":"accepted")");
    CHECK(accepted.item().value == "perhaps");
    CHECK(accepted.item().review == Review::kAccepted);
  }
}

TEST_CASE("preferences may be any JSON, and know their categories") {
  const KnowledgeItem item =
      Lines().preference("s1", "p", 1, R"({"tabs": 4})", R"("category":"communication")").item();
  CHECK(item.value == R"({"tabs":4})");
  CHECK(item.category == Category::kUserPreference);
  CHECK(Lines().preference("s1", "p", 1, "\"x\"", R"("category":"style")").item().category ==
        Category::kStyle);
}

TEST_CASE("the order of sessions changes nothing") {
  const auto values = [](const Lines& lines) {
    std::vector<std::string> all;
    for (const KnowledgeItem& item : lines.items()) {
      all.push_back(item.value + item.id + std::to_string(item.chain.size()));
    }
    return all;
  };
  const Lines one =
      Lines().fact("s1", "a", 1, "x", kKey).fact("s2", "b", 1, "y", kKey).fact("s2", "c", 1, "z");
  const Lines other =
      Lines().fact("s2", "b", 1, "y", kKey).fact("s2", "c", 1, "z").fact("s1", "a", 1, "x", kKey);
  CHECK(values(one) == values(other));
  CHECK(values(one)[1] == "yb2");
}

TEST_CASE("sensitive once is sensitive, pinned is what the latest version says") {
  const std::string secret = std::string(kKey) + R"(,"sensitive":true,"pinned":true)";
  const KnowledgeItem item =
      Lines().fact("s1", "a", 1, "x", secret).fact("s1", "a", 2, "y", kKey).item();
  CHECK(item.sensitive);
  CHECK_FALSE(item.pinned);
}

TEST_CASE("lines that are no entries are passed over") {
  const Lines lines = Lines()
                          .add("s1", EntryType::kFact, "{")
                          .add("s1", EntryType::kFact, R"({"id":"x"})")
                          .add("s1", EntryType::kFinding, "{}")
                          .fact("s1", "a", 1, "x");
  CHECK(lines.item().value == "x");
}

TEST_CASE("every category has a name that reads back") {
  for (std::size_t i = 0; i < kCategoryCount; ++i) {
    const auto category = static_cast<Category>(i);
    CHECK(try_parse_category(category_name(category)) == category);
  }
  CHECK_FALSE(try_parse_category("nonsense").has_value());
  CHECK(try_parse_category("preference") == Category::kUserPreference);
  CHECK(try_parse_category("rule") == Category::kConstraint);
  // A name that is stored keeps its meaning: segments have been made of it.
  CHECK(category_of(EntryType::kFact, "rule") == Category::kProjectFact);
}

}  // namespace bmad_mem::test::knowledge_item_test
