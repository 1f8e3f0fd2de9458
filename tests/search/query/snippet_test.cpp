#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/text.hpp"
#include "search/query/match_finder.hpp"

namespace bmad_mem::snippet_test {
namespace {

/// The snippet with its matches in brackets.
std::string marked(std::string_view text, const TermSet& wanted, std::size_t size_max = 200,
                   const char* language = "english") {
  Analyzer analyzer = Analyzer::create(language).value();
  KnownTerms known;
  MatchFinder finder(analyzer, known, wanted);
  const Snippet snippet = make_snippet(finder, text, size_max);
  std::string out;
  std::size_t done = 0;
  for (const Highlight& each : snippet.highlights) {
    REQUIRE(each.offset >= done);
    REQUIRE(each.offset + each.size <= snippet.text.size());
    out += snippet.text.substr(done, each.offset - done);
    out += "[" + snippet.text.substr(each.offset, each.size) + "]";
    done = each.offset + each.size;
  }
  return out + snippet.text.substr(done);
}

}  // namespace

TEST_CASE("a short text is its own snippet, with every match marked") {
  CHECK(marked("We decided on Postgres; postgres it is.", {"postgr", "decid"}) ==
        "We [decided] on [Postgres]; [postgres] it is.");
  CHECK(marked("nothing here", {"postgr"}) == "nothing here");
  CHECK(marked("", {"postgr"}) == "");
}

TEST_CASE("words are marked whose stems begin otherwise than they do") {
  CHECK(marked("he was dying, not lying", {"die", "lie"}) == "he was [dying], not [lying]");
  CHECK(marked("el árbol", {"arbol"}, 200, "spanish") == "el [árbol]");
  CHECK(marked("die Häuser grün", {"haus", "grun"}, 200, "german") == "die [Häuser] [grün]");
}

TEST_CASE("an identifier is marked as one piece, or by the part that matched") {
  CHECK(marked("see user_id there", {"user_id", "user", "id"}) == "see [user_id] there");
  CHECK(marked("see user_id there", {"user"}) == "see [user]_id there");
}

TEST_CASE("line breaks and control characters become blanks") {
  CHECK(marked("a\nb\tpool\x7F!", {"pool"}) == "a b [pool] !");
}

TEST_CASE("between the texts of an entry stands a mark") {
  CHECK(marked("One pool.\x1E"
               "Two \n\x1Epool",
               {"pool"}) == "One [pool]. · Two · [pool]");
  CHECK(marked(std::string(100, 'x') + "\x1Epool", {"pool"}, 20) == "…[pool]");
}

TEST_CASE("of a long text the stretch with the most different terms is shown") {
  const std::string filler(400, '.');
  const std::string text = "pool alone " + filler + " ledger and pool " + filler;
  const std::string snippet = marked(text, {"pool", "ledger"}, 60);
  CHECK(snippet.find("[ledger] and [pool]") != std::string::npos);
  CHECK(snippet.starts_with("…"));
  CHECK(snippet.ends_with("…"));
}

TEST_CASE("a snippet has about its size, and is UTF-8 wherever it is cut") {
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += "日本語é";
  }
  text += " pool " + text;
  Analyzer analyzer = Analyzer::create("english").value();
  const TermSet wanted = {"pool"};
  KnownTerms known;
  MatchFinder finder(analyzer, known, wanted);
  for (std::size_t size = 1; size < 80; ++size) {
    const Snippet snippet = make_snippet(finder, text, size);
    CHECK(utf8_valid_size(snippet.text) == snippet.text.size());
    CHECK(snippet.text.size() <= size + 2 * std::string_view("…").size());
  }
}

TEST_CASE("a phrase is held where its words stand side by side, whatever the case") {
  Analyzer analyzer = Analyzer::create("english").value();
  CHECK(holds_phrase(analyzer, {"connection", "pool"}, "The Connection  Pool."));
  CHECK_FALSE(holds_phrase(analyzer, {"connection", "pool"}, "pool connection"));
  CHECK_FALSE(holds_phrase(analyzer, {"connection", "pool"}, "connection of the pool"));
  CHECK_FALSE(holds_phrase(analyzer, {"connection", "pool"}, "connections pool"));
  CHECK_FALSE(holds_phrase(analyzer, {"pool"}, ""));
  CHECK(holds_phrase(analyzer, {"user", "id"}, "the user_id"));
  CHECK(holds_phrase(analyzer, {}, "x"));
}

}  // namespace bmad_mem::snippet_test
