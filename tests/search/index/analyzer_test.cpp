// analyzer_test.cpp - which tokens and terms a text has.
#include "search/analyzer.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <libstemmer.h>

namespace bmad_mem::test::analyzer_test {
namespace {

struct Row {
  const char* name;
  std::string_view text;
  std::string_view expected;  ///< Separated by blanks.
};

Analyzer analyzer_for(std::string_view language) { return Analyzer::create(language).value(); }

/// The tokens of `text`; wholes stand in brackets.
std::string tokens_of(std::string_view text, std::string_view language = "english") {
  Analyzer analyzer = analyzer_for(language);
  std::string all;
  for (const Token& token : analyzer.tokenize(text)) {
    all += all.empty() ? "" : " ";
    all += token.whole ? "[" + std::string(token.text) + "]" : std::string(token.text);
  }
  return all;
}

std::vector<std::string> term_list(std::string_view text, std::string_view language = "english") {
  Analyzer analyzer = analyzer_for(language);
  std::vector<std::string> terms;
  for (const Token& token : analyzer.tokenize(text)) {
    const std::string_view term = analyzer.term(token.text, token.whole);
    if (!term.empty()) {
      terms.emplace_back(term);
    }
  }
  return terms;
}

std::string terms_of(std::string_view text, std::string_view language = "english") {
  std::string all;
  for (const std::string& term : term_list(text, language)) {
    all += all.empty() ? term : " " + term;
  }
  return all;
}

/// Whether a query would find a text: they share a term.
bool meet(std::string_view query, std::string_view text) {
  const std::vector<std::string> terms = term_list(text);
  return std::ranges::any_of(term_list(query), [&](const std::string& term) {
    return std::ranges::find(terms, term) != terms.end();
  });
}

/// The bytes of `text` that its tokens came from.
std::vector<std::string> sources_of(std::string_view text) {
  Analyzer analyzer = analyzer_for("english");
  std::vector<std::string> sources;
  for (const Token& token : analyzer.tokenize(text)) {
    sources.emplace_back(text.substr(token.offset, token.size));
  }
  return sources;
}

template <std::size_t kCount>
void check_tokens(const Row (&rows)[kCount]) {
  for (const Row& row : rows) {
    SUBCASE(row.name) { CHECK(tokens_of(row.text) == row.expected); }
  }
}

}  // namespace

TEST_CASE("words end at what is neither letter nor digit") {
  static constexpr Row kRows[] = {
      {"nothing", "", ""},
      {"no words", " .,;- \t\n", ""},
      {"punctuation is not part of a word", "\"end.\" \"a,\" (x)! *b* `c`", "end a x b c"},
      {"a full stop after a number", "Page 12. Done", "page 12 done"},
      {"an ellipsis and a dash part words", "wait...what good--really", "wait what good really"},
      {"typographic punctuation parts words", "wait…what “good”—really", "wait what good really"},
      {"longer than a register", "internationalization CONGRATULATIONS",
       "internationalization congratulations"},
      {"a blank of no width parts words", "one\u200Btwo", "one two"},
      {"emoji and signs are no words", "🎉 done ❤️ 5€ 1️⃣ 👩‍💻", "done 5 1"},
      {"a number with commas", "1,000,000", "1 000 000"},
      {"NUL is a gap", std::string_view("a\0b", 3), "a b"},
      {"bytes that are no UTF-8 are gaps",
       "ab\xFF"
       "cd \xC3 e\xE2\x82",
       "ab cd e"},
      {"a surrogate is a gap",
       "ab\xED\xA0\x80"
       "cd",
       "ab cd"},
  };
  check_tokens(kRows);
}

TEST_CASE("an apostrophe inside a word belongs to it, and the possessive goes") {
  static constexpr Row kRows[] = {
      {"contraction", "Don't", "don't"},
      {"typographic apostrophe", "don’t", "don't"},
      {"modifier letter apostrophe", "donʼt", "don't"},
      {"name", "O’Brien O'Brien", "o'brien o'brien"},
      {"possessive", "Caroline's", "caroline"},
      {"typographic possessive", "Caroline’s Zoë’s", "caroline zoë"},
      {"possessive in capitals", "CAROLINE'S", "caroline"},
      {"plural possessive", "the users' files", "the users files"},
      {"quoted", "'a','b' 'quoted' ''c''", "a b quoted c"},
      {"two in a word", "rock'n'roll", "rock'n'roll"},
      {"two in a row part words", "a''b", "a b"},
      {"a short s", "'s s' it's", "s s it"},
  };
  check_tokens(kRows);
}

TEST_CASE("identifiers are kept whole and split") {
  static constexpr Row kRows[] = {
      {"camel case", "getUserById()", "[getuserbyid] get user by id"},
      {"acronym in front", "HTTPServer2", "[httpserver2] http server2"},
      {"acronym at the end", "parseURL", "[parseurl] parse url"},
      {"plural acronym", "APIs userIDs getURLsFor",
       "apis [userids] user ids [geturlsfor] get urls for"},
      {"digits inside", "base64Encode utf8JSON",
       "[base64encode] base64 encode [utf8json] utf8 json"},
      {"letters and digits without a change of case", "SHA256SUM 3D E2E x86",
       "sha256sum 3d e2e x86"},
      {"snake case", "user_id foo__bar __init__", "[user_id] user id [foo__bar] foo bar init"},
      {"constant", "E_LOCK_TIMEOUT", "[e_lock_timeout] e lock timeout"},
      {"error code", "ERR-1042 GPT-4", "[err-1042] err 1042 [gpt-4] gpt 4"},
      {"hyphens make words, not names", "kebab-case well-known-fact", "kebab case well known fact"},
      {"camel case between hyphens", "Foo-BarBaz", "foo [barbaz] bar baz"},
      {"member", "user.getName", "[user.getname] user [getname] get name"},
      {"scope", "std::vector<int>", "[std::vector] std vector int"},
      {"languages", "C++, C# (F#) C++17 g++.", "[c++] c [c#] c [f#] f [c++17] c 17 [g++] g"},
      {"issues", "PR #42 issue#7", "pr 42 [issue#7] issue 7"},
      {"beyond ASCII", "getÄnderung ÜBERFlow", "[getänderung] get änderung [überflow] über flow"},
      {"joints at the ends are left", "_x_ --flag a/ ./b", "x flag a b"},
  };
  check_tokens(kRows);
}

TEST_CASE("paths, versions, addresses and times are kept whole and split") {
  static constexpr Row kRows[] = {
      {"path", "src/auth.ts", "[src/auth.ts] src auth ts"},
      {"camel case in a path", "src/getUser.ts", "[src/getuser.ts] src [getuser] get user ts"},
      {"hidden folder", "~/x/.git/config", "[x/.git/config] x git config"},
      {"Windows path", "C:\\Users\\x", "[c:/users/x] c users x"},
      {"version", "2.0.0-rc.1", "[2.0.0-rc.1] 2 0 0 rc 1"},
      {"version with v", "v1.2.3 V10.0", "[1.2.3] 1 2 3 [10.0] 10 0"},
      {"v without a version", "v2 v8.js", "v2 [8.js] 8 js"},
      {"file name", "node.js .NET v.txt", "[node.js] node js net [v.txt] v txt"},
      {"URL", "https://example.com/a?x=1", "[https://example.com/a] https example com a x 1"},
      {"port", "http://localhost:8080/", "[http://localhost:8080] http localhost 8080"},
      {"mail address", "jo.do@example.com", "[jo.do@example.com] jo do example com"},
      {"date and time", "2026-01-11 10:05", "[2026-01-11] 2026 01 11 [10:05] 10 05"},
      {"hash", "9f86d081884c7d65", "9f86d081884c7d65"},
      {"decimal", "3.14", "[3.14] 3 14"},
  };
  check_tokens(kRows);
}

TEST_CASE("each spelling of a letter is one letter") {
  static constexpr Row kRows[] = {
      {"German sharp s", "Straße STRASSE", "strasse strasse"},
      {"Latin-1 capitals", "ÀÉÖØÞ àéöøþ", "àéöøþ àéöøþ"},
      {"composed and decomposed", "caf\u00E9 cafe\u0301 CAFE\u0301", "café café café"},
      {"Turkish dotted capital", "İstanbul Istanbul", "istanbul istanbul"},
      {"Greek final sigma", "Σίσυφος ΣΊΣΥΦΟΣ", "σίσυφοσ σίσυφοσ"},
      {"Cyrillic", "Привет ПРИВЕТ Ёж", "привет привет ёж"},
      {"full width", "ＡＢＣ１２", "abc12"},
      {"ligature", "ﬁle", "file"},
      {"superscript", "x²", "x2"},
      {"numbers in parentheses", "⑴ ⒈", "1 1"},
      {"mathematical letters", "𝐀𝐛", "ab"},
      {"soft hyphen", "co\u00ADoperate", "cooperate"},
      {"byte order mark", "\uFEFFtext", "text"},
      {"nothing visible", "\u3164", ""},
  };
  check_tokens(kRows);
}

TEST_CASE("combining signs stay with their letters") {
  static constexpr Row kRows[] = {
      {"Hindi", "हिन्दी में", "हिन्दी में"},
      {"Arabic with vowels", "العَرَبِيَّة", "العَرَبِيَّة"},
      {"Persian with a joiner", "می\u200Cخواهم", "میخواهم"},
      {"Korean", "한국어를 배우다", "한국어를 배우다"},
      {"decomposed Korean", "\u1112\u1161\u11AB", "한"},
      {"a mark upon nothing", " \u0301 a", "a"},
  };
  check_tokens(kRows);
}

TEST_CASE("scripts without blanks become pairs of characters") {
  static constexpr Row kRows[] = {
      {"Chinese", "东京都", "东京 京都"},
      {"a character alone", "猫", "猫"},
      {"beside ASCII", "iPhone手机2020年", "[iphone] i phone 手机 2020 年"},
      {"no joint leads to it", "a-手机", "a 手机"},
      {"Japanese", "データを", "デー ータ タを"},
      {"a middle dot parts", "スター・ウォ", "スタ ター ウォ"},
      {"half width", "ｶﾞｲﾄﾞ", "ガイ イド"},
      {"decomposed kana", "\u304B\u3099\u304D", "がき"},
      {"Thai vowels stay with their consonants", "ดีมาก", "ดีม มา าก"},
  };
  check_tokens(kRows);
}

TEST_CASE("terms are stems of words that are no stop words") {
  static constexpr Row kRows[] = {
      {"stems", "connections connected running", "connect connect run"},
      {"stop words", "Why did we drop the database, don't they", "drop databas"},
      {"typographic stop word", "don’t it's", ""},
      {"digits and joints: no stems", "servers2 user_names", "servers2 user_names user name"},
      {"a whole of letters: a stem", "WebSockets", "websocket web socket"},
      {"a whole is no stop word", "doIng", "do ing"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) { CHECK(terms_of(row.text) == row.expected); }
  }
}

TEST_CASE("a query finds a text that spells the same thing in another way") {
  static constexpr struct {
    const char* query;
    const char* text;
  } kRows[] = {
      {"getuserbyid", "getUserById"},
      {"getUserById", "call src/getUserById.ts"},
      {"auth.ts", "src/auth.ts"},
      {"user id", "userId"},
      {"websockets", "WebSocket"},
      {"1.2.3", "release v1.2.3"},
      {"API", "our APIs"},
      {"C++", "written in C++17"},
      {"O’Brien", "o'brien"},
      {"STRASSE", "straße"},
      {"2026-01-11", "on 2026-01-11"},
      {"github", "GitHub's"},
      {"users", "C:\\Users\\x"},
      {"東京", "東京都"},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.query);
    CHECK(meet(row.query, row.text));
  }
}

TEST_CASE("a token says which bytes it came from") {
  CHECK(
      sources_of("See src/aB.ts, Caroline's PR") ==
      std::vector<std::string>{"See", "src/aB.ts", "src", "aB", "a", "B", "ts", "Caroline", "PR"});
  CHECK(sources_of("Ça va, Zoë’s v1.2 東京都") ==
        std::vector<std::string>{"Ça", "va", "Zoë", "1.2", "1", "2", "東京", "京都"});
}

TEST_CASE("long tokens are cut between characters") {
  Analyzer analyzer = analyzer_for("english");
  const auto only = [&](const std::string& text) {
    const std::span<const Token> tokens = analyzer.tokenize(text);
    REQUIRE(tokens.size() == 1);
    CHECK(tokens[0].offset == 0);
    CHECK(tokens[0].size == text.size());
    return std::string(tokens[0].text);
  };
  CHECK(only(std::string(64, 'a')) == std::string(64, 'a'));
  CHECK(only(std::string(65, 'a')) == std::string(64, 'a'));
  CHECK(only(std::string(100'000, '7')) == std::string(64, '7'));
  std::string umlauts = "a";
  std::string jumbled;
  for (int i = 0; i < 60; ++i) {
    umlauts += "ä";
    jumbled += "aB3x";
  }
  CHECK(only(umlauts) == umlauts.substr(0, 63));
  CHECK(only(jumbled).size() == kTokenSizeMax);
}

TEST_CASE("a whole that is too long is left out, and its parts stay") {
  const std::string folder(32, 'x');
  CHECK(tokens_of(folder + "/" + folder + "/y") == folder + " " + folder + " y");
}

TEST_CASE("tokens do not need the text any more, and the next call replaces them") {
  Analyzer analyzer = analyzer_for("english");
  std::string text = "first Ünder getIt";
  const std::span<const Token> tokens = analyzer.tokenize(text);
  text.assign(text.size(), '!');
  REQUIRE(tokens.size() == 5);
  CHECK(tokens[0].text == "first");
  CHECK(tokens[1].text == "ünder");
  CHECK(tokens[2].text == "getit");
  CHECK(analyzer.tokenize("second").size() == 1);
  Analyzer moved = std::move(analyzer);
  CHECK(moved.tokenize("third one").size() == 2);
}

TEST_CASE("each language has its stems and its stop words") {
  CHECK(terms_of("the und die Häuser", "german") == "the haus");
  CHECK(terms_of("l'eau d’été qu'il", "french") == "eau ete");
  CHECK(terms_of("el índice de la página", "es") == "indic pagin");
  CHECK(tokens_of("dell'acqua", "italian") == "dell acqua");
  CHECK(terms_of("the", "en").empty());
  CHECK(terms_of("the", "porter").empty());
  CHECK(terms_of("документы", "russian") == terms_of("документ", "russian"));
}

TEST_CASE("a language without a stemmer is refused, and the message names those there are") {
  for (const std::string_view language : {"klingon", "", "English"}) {
    const auto refused = Analyzer::create(language);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::E_SCHEMA_INVALID);
    CHECK(refused.error().message.find("german") != std::string::npos);
    CHECK(refused.error().field == "language");
  }
}

TEST_CASE("a word meets itself written without accents") {
  static constexpr struct {
    const char* language;
    const char* text;
    const char* term;
  } kRows[] = {
      {"english", "vélo velo VÉLO ve\u0301lo", "velo velo velo velo"},
      {"english", "résumés resumes café Zoë", "resum resum cafe zoe"},
      {"english", "smørrebrød Łódź fête cœur İzmir ısı", "smorrebrod lodz fete coeur izmir isi"},
      {"english", "ǽ ǖ ŵ ờ", "ae u w o"},
      {"english", "src/café.ts café_1", "src/cafe.ts src cafe ts cafe_1 cafe 1"},
      {"english", "λύση λυση ᾄ", "λυση λυση αι"},
      {"english", "йод ёж 한국 हिन्दी", "йод ёж 한국 हिन्दी"},
      {"english", "がが が", "がが が"},
      {"french", "vélo velo décidée decidee réservées", "velo velo decid decid reserv"},
      {"spanish", "decisión decision canción", "decision decision cancion"},
      {"german", "Größe Lösung Loesung", "gross losung loesung"},
      {"danish", "løsninger losning", "losning losning"},
      {"russian", "йод café", "йод cafe"},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.text);
    CHECK(terms_of(row.text, row.language) == row.term);
  }
  CHECK(fold_accents("été") == "ete");
  CHECK(fold_accents("plain") == "plain");
}

TEST_CASE("whether a word is a stop word is asked before its accents go") {
  CHECK(terms_of("für fur", "german") == "fur");
  CHECK(terms_of("à côté", "french") == "cot");
}

TEST_CASE("stop words are function words, and each is a token of its own") {
  static constexpr std::string_view kSome[] = {"the", "a", "yourselves", "don't", "of", "i"};
  for (const std::string_view word : kSome) {
    CHECK(is_stop_word(word));
    CHECK(tokens_of(word) == word);
  }
  static constexpr std::string_view kOthers[] = {"",    "may",      "no", "will.",
                                                 "The", "database", "die"};
  for (const std::string_view word : kOthers) {
    CHECK_FALSE(is_stop_word(word));
  }
  CHECK(is_stop_word("die", "german"));
  CHECK(is_stop_word("der", "de"));
  CHECK_FALSE(is_stop_word("der und", "german"));
  CHECK_FALSE(is_stop_word("the", "klingon"));
}

TEST_CASE("every stop word of each language is found, and is a token of its own") {
  std::size_t count = 0;
  for (const char** name = sb_stemmer_list(); *name != nullptr; ++name) {
    const std::string language = *name;
    CAPTURE(language);
    const std::string_view own = language == "porter" ? "english" : *name;
    const WordList& words = stop_words_of(own);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string word(words[i]);
      CAPTURE(word);
      CHECK(tokens_of(word, language) == word);
      CHECK(is_stop_word(word, language));
    }
    CHECK(words.size() >= 20);
    count += words.size();
  }
  CHECK(count > 2500);
  CHECK(stop_words_of("klingon").size() == 0);
}

TEST_CASE("the language of a question is the one whose stop words it has the most of") {
  static constexpr struct {
    const char* text;
    const char* fallback;
    const char* language;
  } kRows[] = {
      {"warum haben wir uns für Postgres entschieden", "english", "german"},
      {"pourquoi avons-nous choisi la base de données", "english", "french"},
      {"por qué elegimos la base de datos para los pagos", "english", "spanish"},
      {"почему мы выбрали эту базу данных", "english", "russian"},
      {"why did we choose the database for payments", "german", "english"},
      {"why did we choose the database", "english", "english"},
      {"die Datenbank", "english", "english"},
      {"database", "german", "german"},
      {"why is the build red", "en", "en"},
      {"", "klingon", "klingon"},
  };
  for (const auto& row : kRows) {
    CAPTURE(row.text);
    Analyzer analyzer = analyzer_for("english");
    std::vector<std::string> words;
    for (const Token& token : analyzer.tokenize(row.text)) {
      words.emplace_back(token.text);
    }
    CHECK(language_of(words, row.fallback) == row.language);
  }
}

}  // namespace bmad_mem::test::analyzer_test
