#include <algorithm>
#include <random>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"
#include "search/query/plan.hpp"

namespace bmad_mem::query_parser_test {
namespace {

std::string shown_kind(ClauseKind kind) {
  switch (kind) {
    case ClauseKind::kPhrase:
      return "phrase ";
    case ClauseKind::kPrefix:
      return "prefix ";
    case ClauseKind::kFuzzy:
      return "fuzzy ";
    case ClauseKind::kWord:
      break;
  }
  return "";
}

/// The clauses, then the filters: "+phrase [a b] [c] -prefix [d] | type=decision". Or the error:
/// "column: message".
std::string parsed(std::string_view text) {
  const Result<Plan> query = parse_query_text(text);
  if (!query) {
    CHECK(query.error().code == ErrorCode::E_INVALID_QUERY);
    CHECK(query.error().field == "text");
    return fmt::format("{}: {}", query.error().column, query.error().message);
  }
  std::string shown;
  for (const QueryClause& clause : query->clauses) {
    CHECK_FALSE((clause.required && clause.excluded));
    shown += fmt::format("{}{}{}[{}]", shown.empty() ? "" : " ",
                         clause.required   ? "+"
                         : clause.excluded ? "-"
                                           : "",
                         shown_kind(clause.kind), clause.text);
  }
  for (const QueryFilter& filter : query->filters) {
    shown += fmt::format(" | {}{}={}", filter.excluded ? "-" : "", filter.name, filter.value);
  }
  return shown;
}

struct Row {
  std::string_view text;
  std::string_view shown;
};

template <std::size_t kCount>
void check_rows(const Row (&rows)[kCount]) {
  for (const Row& row : rows) {
    CAPTURE(std::string(row.text));
    CHECK(parsed(row.text) == std::string(row.shown));
  }
}

}  // namespace

TEST_CASE("words are alternatives unless something says more") {
  static constexpr Row kRows[] = {
      {"", ""},
      {" \t\n ", ""},
      {"postgres", "[postgres]"},
      {"Why did we drop MongoDB?", "[Why] [did] [we] [drop] [MongoDB?]"},
      {"+postgres mysql", "+[postgres] [mysql]"},
      {"postgres -mysql", "[postgres] -[mysql]"},
      {"\"connection pool\" -hikari", "phrase [connection pool] -[hikari]"},
      {"pool -\"connection pool\"", "[pool] -phrase [connection pool]"},
      {"+\"a b\" c", "+phrase [a b] [c]"},
      {"conn*", "prefix [conn]"},
      {"+conn* -hika*", "+prefix [conn] -prefix [hika]"},
      {"x -größe -été -日本", "[x] -[größe] -[été] -[日本]"},
      {"serch~", "fuzzy [serch]"},
      {"+serch~ x", "+fuzzy [serch] [x]"},
      {"a\xC2\xA0"
       "b\xE3\x80\x80"
       "c\xE2\x80\xA8"
       "d\xC2\x85"
       "e",
       "[a] [b] [c] [d] [e]"},
      {"\"a\"\"b\"c", "phrase [a] phrase [b] [c]"},
  };
  check_rows(kRows);
}

TEST_CASE("what looks like code stays whole") {
  static constexpr Row kRows[] = {
      {"std::string", "[std::string]"},
      {"http://x.example/a?b=c", "[http://x.example/a?b=c]"},
      {"src/auth.ts:42", "[src/auth.ts:42]"},
      {"Type:decision", "[Type:decision]"},
      {"note:x y", "[note:x] [y]"},
      {"localhost:8080", "[localhost:8080]"},
      {"localhost:8080/path", "[localhost:8080/path]"},
      {"node:fs/promises import", "[node:fs/promises] [import]"},
      {"docker.io:library", "[docker.io:library]"},
      {"fix: typo", "[fix:] [typo]"},
      {"well-known C++", "[well-known] [C++]"},
      {"git commit --amend", "[git] [commit] [--amend]"},
      {"a -> b", "[a] [->] [b]"},
      {"i += 1 -= 2 ++i", "[i] [+=] [1] [-=] [2] [++i]"},
      {"a*b 2*3", "[a*b] [2*3]"},
      {"~/.bashrc ~", "[~/.bashrc] [~]"},
      {"{\"type\":\"decision\"}", "[{\"type\":\"decision\"}]"},
      {"12\" disk", "[12\"] [disk]"},
      {"C:\\Users\\ann", "[C:\\Users\\ann]"},
      {"\\d+\\.\\w*", "[\\d+\\.\\w*]"},
      {"src/au* foo-b*", "prefix [src/au] [foo-b*]"},
      {"foo(bar) && x", "[foo(bar)] [&&] [x]"},
      {"x -.env -#42", "[x] [-.env] [-#42]"},
  };
  check_rows(kRows);
}

TEST_CASE("a backslash or quotes take the meaning from a character") {
  static constexpr Row kRows[] = {
      {"\\-word", "[-word]"},
      {"\\+word", "[+word]"},
      {"\\\"word", "[\"word]"},
      {"conn\\*", "[conn*]"},
      {"\\*", "[*]"},
      {"word\\~", "[word~]"},
      {"type\\:decision", "[type:decision]"},
      {"a\\ b", "[a b]"},
      {"a\\\\", "[a\\]"},
      {"a\\", "[a\\]"},
      {"\"a \\\"b\\\" c\"", "phrase [a \"b\" c]"},
      {"\"a\\\\\"", "phrase [a\\]"},
      {"\"-a type:b c* \\d\"", "phrase [-a type:b c* \\d]"},
      {"-\\-x y", "[-\\-x] [y]"},
      {"\"AND\"", "phrase [AND]"},
  };
  check_rows(kRows);
}

TEST_CASE("filters are known names with a value behind the colon") {
  static constexpr Row kRows[] = {
      {"pool type:decision", "[pool] | type=decision"},
      {"type:decisions type:agent-states", " | type=decisions | type=agent-states"},
      {"agent:architect tag:db topic:schema", " | agent=architect | tag=db | topic=schema"},
      {"session:sess-2026-01-11-4q7m2s", " | session=sess-2026-01-11-4q7m2s"},
      {"since:2026-01-01 until:2026-02-01T10:00:00Z",
       " | since=2026-01-01 | until=2026-02-01T10:00:00Z"},
      {"since:7d until:yesterday", " | since=7d | until=yesterday"},
      {"since:\"2026-01-01 10:05\"", " | since=2026-01-01 10:05"},
      {"is:pinned", " | is=pinned"},
      {"tag:\"my tag\"", " | tag=my tag"},
      {"tag:a\\ b", " | tag=a b"},
      {"tag:a\" b\"c", " | tag=a bc"},
      {"tag:a:b", " | tag=a:b"},
      {"+tag:a x", "[x] | tag=a"},
      {"-tag:a x -is:pinned", "[x] | -tag=a | -is=pinned"},
      {"status:open severity:Critical", " | status=open | severity=Critical"},
      {"x -status:resolved category:constraint approved_by:me made_by:\"ann b\"",
       "[x] | -status=resolved | category=constraint | approved_by=me | made_by=ann b"},
      {"metadata.Ticket-No:PAY-1 context.a.b:7 kind:tool_use tool:Bash key:money role:user",
       " | metadata.Ticket-No=PAY-1 | context.a.b=7 | kind=tool_use | tool=Bash | key=money | "
       "role=user"},
      {"-type:event", " | -type=event"},
      {"why was it? type:decision", "[why] [was] [it?] | type=decision"},
      {"type:event -tag:a -word", "-[word] | type=event | -tag=a"},
  };
  check_rows(kRows);
}

TEST_CASE("a filter carries what its value means") {
  const Plan query = parse_query_text("type:decisions since:2026-01-01 until:2026-01-01").value();
  REQUIRE(query.filters.size() == 3);
  CHECK(query.filters[0].type == EntryType::kDecision);
  CHECK(format_rfc3339(query.filters[1].time->at({})) == "2026-01-01T00:00:00Z");
  CHECK(format_rfc3339(query.filters[2].time->at({})) == "2026-01-01T23:59:59.999Z");
  CHECK_FALSE(query.filters[1].type.has_value());
  CHECK_FALSE(query.filters[0].time.has_value());
}

TEST_CASE("AND requires its neighbours, OR is passed over, NOT excludes behind one of them") {
  static constexpr Row kRows[] = {
      {"a AND b", "+[a] +[b]"},
      {"a AND b AND c d", "+[a] +[b] +[c] [d]"},
      {"a OR b", "[a] [b]"},
      {"a OR b AND c", "[a] +[b] +[c]"},
      {"a AND -beta", "+[a] -[beta]"},
      {"-alpha AND b", "-[alpha] +[b]"},
      {"x AND \"a b\"", "+[x] +phrase [a b]"},
      {"a AND NOT b", "+[a] -[b]"},
      {"a OR NOT b*", "[a] -prefix [b]"},
      {"a AND NOT \"b c\"", "+[a] -phrase [b c]"},
      {"a AND NOT type:event", "+[a] | -type=event"},
      {"a AND type:event", "+[a] | type=event"},
      {"type:event AND a", "+[a] | type=event"},
      {"a AND OR b", "+[a] +[b]"},
      {"a AND AND b", "+[a] +[b]"},
      {"a and b or c", "[a] [and] [b] [or] [c]"},
      {"do NOT use it", "[do] [NOT] [use] [it]"},
      {"NOT a", "[NOT] [a]"},
      {"AND", "[AND]"},
      {"AND a", "[AND] [a]"},
      {"a AND", "[a] [AND]"},
      {"a AND NOT", "[a] [AND] [NOT]"},
      {"a +AND b", "[a] +[AND] [b]"},
      {"ANDROID OR ORM", "[ANDROID] [ORM]"},
  };
  check_rows(kRows);
}

TEST_CASE("what looks like more than words, but is not, is words, and that is said") {
  struct ProseRow {
    std::string_view text;
    std::string_view shown;
    std::string_view note;
  };
  static constexpr ProseRow kRows[] = {
      {"npm test - it fails", "[npm] [test] [-] [it] [fails]",
       "read \"-\" as a word: it stands alone"},
      {"a + b", "[a] [+] [b]", "read \"+\" as a word: it stands alone"},
      {"*", "[*]", "read \"*\" as a word: it looks like a pattern of names"},
      {"~", "[~]", ""},
      {"delete *.tmp", "[delete] [*.tmp]",
       "read \"*.tmp\" as a word: it looks like a pattern of names"},
      {"foo*bar src/*.c", "[foo*bar] [src/*.c]",
       "read \"foo*bar\" as a word: it looks like a pattern of names"},
      {"src/*", "[src/*]", "read \"src/*\" as a word: it looks like a pattern of names"},
      {"a -*", "[a] [-*]", "read \"-*\" as a word: it looks like a pattern of names"},
      {"(x)~", "[(x)~]", "read \"(x)~\" as a word: no word stands in front of '~'"},
      {"gcc -O2 -rf -j4 -Xmx -la", "[gcc] [-O2] [-rf] [-j4] [-Xmx] [-la]",
       "read \"-O2\" as a word: it looks like an option"},
      {"find -name *.c -exec grep", "[find] [-name] [*.c] [-exec] [grep]",
       "read \"-name\" as a word: it looks like an option"},
      {"tar --list -verbose", "[tar] [--list] [-verbose]",
       "read \"-verbose\" as a word: it looks like an option"},
      {"chmod +x run.sh", "[chmod] [+x] [run.sh]",
       "read \"+x\" as a word: it looks like an option"},
      {"a \"b c", "[a] [\"b] [c]", "read \"\"b\" as a word: the quote is not closed"},
      {"a -\"b\\\"", "[a] [-\"b\\\"]", "read \"-\"b\\\"\" as a word: the quote is not closed"},
      {"tag:\"b c", "[tag:\"b] [c]", "read \"tag:\"b\" as a word: the quote is not closed"},
      {"a \"\"", "[a] [\"\"]", "read \"\"\"\" as a word: the quotes are empty"},
      {"a \" \t\"", "[a] [\" \t\"]", "read \"\"  \"\" as words: the quotes are empty"},
      {"a tag:", "[a] [tag:]", "read \"tag:\" as a word: it has no value"},
      {"topic: x", "[topic:] [x]", "read \"topic:\" as a word: it has no value"},
      {"tag:\"\"", "[tag:\"\"]", "read \"tag:\"\"\" as a word: it has no value"},
      {"-since:", "[-since:]", "read \"-since:\" as a word: it has no value"},
      {"-mysql", "[-mysql]", "read \"-mysql\" as a word: nothing else is looked for"},
      {" -mysql -\"b c\" -tag:x", "[-mysql] [-\"b c\"] | -tag=x",
       "read \"-mysql\" as a word: nothing else is looked for"},
      {"What game is \"Starfield\" that Mara plays?",
       "[What] [game] [is] phrase [Starfield] [that] [Mara] [plays?]", ""},
      {"why does it -break", "[why] [does] [it] [-break]",
       "read \"-break\" as a word: the text reads like a sentence"},
      {"does +this -\"and that\" help?", "[does] [+this] [and that] [help?]",
       "read \"+this\" as a word: the text reads like a sentence"},
      {"why is type:foo wrong?", "[why] [is] [type:foo] [wrong?]",
       "read \"type:foo\" as a word: the text reads like a sentence"},
      {"is:restart needed since:2026-02-30?", "[is:restart] [needed] [since:2026-02-30?]",
       "read \"is:restart\" as a word: the text reads like a sentence"},
      {"was it since:2026-02-01 until:2026-01-01 then?",
       "[was] [it] [since:2026-02-01] [until:2026-01-01] [then?]",
       "read \"since:2026-02-01\" as a word: the text reads like a sentence"},
      {"why does status:500 happen?", "[why] [does] [status:500] [happen?]",
       "read \"status:500\" as a word: the text reads like a sentence"},
      {"why does foo:bar fail?", "[why] [does] [foo:bar] [fail?]",
       "read \"foo:bar\" as a word: it names no field there is"},
      {"foo:bar baz", "[foo:bar] [baz]", "read \"foo:bar\" as a word: it names no field there is"},
      {std::string_view("a\0b", 3), "[a] [b]", "read a byte that is no text as a blank"},
      {"caf\xE9 x\xED\xA0\x80", "[caf] [x]", "read 4 bytes that are no text as blanks"},
  };
  for (const ProseRow& row : kRows) {
    CAPTURE(std::string(row.text));
    CHECK(parsed(row.text) == std::string(row.shown));
    const Plan query = parse_query_text(row.text).value();
    CHECK((query.notes.empty() ? std::string() : query.notes.front()) == row.note);
    for (const ProseReading& reading : query.as_prose) {
      CHECK(row.text.substr(reading.offset, reading.size) == reading.text);
    }
  }
}

TEST_CASE("a filter that cannot be meant is refused where it goes wrong, with a remedy") {
  static constexpr Row kRows[] = {
      {"a type:desicion", "8: \"desicion\" is not a type of entry; the types are conversation, "},
      {"type:desicion", "did you mean decision?"},
      {"a since:soon", "9: \"soon\" is not a time; write 2026-01-11, 2026-01-11T10:05:23Z, 24h, "},
      {"until:2026-02-30", "7: \"2026-02-30\" is not a time;"},
      {"is:open", "4: is:open is not known; there is is:pinned"},
      {"session:../x", "9: \"../x\" is not the id of a session; `bmad-mem session list` shows"},
      {"a -since:7d", "3: a time cannot be excluded; turn since: into until:, or the other way"},
      {"a AND NOT until:7d", "11: a time cannot be excluded;"},
      {"since:2026-02-01 until:2026-01-01",
       "18: no time is after 2026-02-01 and before 2026-01-01; swap the times"},
      {"x status:opne", "10: status is never \"opne\"; it is open, acknowledged, in_progress, "},
      {"x stauts:open", "3: stauts is not a field; known are type, agent, tag, topic, session, "},
      {"x stauts:open", "did you mean status?"},
      {"x tags:db", "did you mean tag?"},
      {"x metdata.ticket:PAY-1", "did you mean metadata.ticket?"},
      {"note:x", "1: note is not a field; "},
      {"type:event note:x", "12: note is not a field; "},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.text));
    const std::string error = parsed(row.text);
    CAPTURE(error);
    CHECK(error.find(row.shown) != std::string::npos);
    CHECK((error.starts_with(row.shown) || row.shown.starts_with("did you mean")));
  }
}

TEST_CASE("with filters from elsewhere, what is not wanted needs nothing besides") {
  CHECK(parse_query_text("-mysql", true)->clauses.front().excluded);
  CHECK_FALSE(parse_query_text("-mysql")->clauses.front().excluded);
}

TEST_CASE("a text of more than 4096 bytes is prose, one of more than 64 words is words") {
  CHECK(parsed(std::string(kQueryLanguageSizeMax, 'x')).size() == kQueryLanguageSizeMax + 2);
  const std::string long_text =
      "-word type:event \"open " + std::string(kQueryLanguageSizeMax, 'x');
  const Plan prose = parse_query_text(long_text).value();
  REQUIRE(prose.clauses.size() == 1);
  CHECK(prose.clauses.front().text == long_text);
  CHECK(prose.filters.empty());
  CHECK(prose.prose == long_text);
  CHECK(prose.notes.front().ends_with("as words: it has more than 4096 bytes"));
  CHECK(parse_query_text(std::string(kQuerySizeMax, 'x')).has_value());
  CHECK(parsed(std::string(kQuerySizeMax + 1, 'x')) ==
        "1048577: the query has 1048577 bytes, and the maximum is 1048576; shorten it");

  std::string words;
  for (std::size_t i = 0; i < kQueryClausesMax; ++i) {
    words += "+word ";
  }
  CHECK(parse_query_text(words)->clauses.back().required);
  const Plan many = parse_query_text(words + "type:event -other").value();
  CHECK(many.clauses.size() == kQueryClausesMax + 1);
  CHECK(many.clauses.front() == QueryClause{.text = "+word", .offset = 0, .size = 5});
  CHECK(many.filters.size() == 1);
  CHECK(many.notes.size() == 1);
  CHECK(many.notes.front().ends_with("as words: it has more than 64 words"));
}

TEST_CASE("a message quotes little and nothing that steers a terminal") {
  const std::string error = parsed("type:\x1b[31m\xE2\x80\xAE" + std::string(2000, 'x'));
  CHECK(error.size() < 300);
  CHECK(error.find('\x1b') == std::string::npos);
  CHECK(error.find("\xE2\x80\xAE") == std::string::npos);
  const std::string time = parsed("since:\x1b[31m\xC2\x9B\xE2\x80\xAE" + std::string(2000, 'x'));
  CHECK(time.starts_with("7: \" [31m  xxx"));
  CHECK(time.find("…\" is not a time") != std::string::npos);
  CHECK(time.size() < 200);
}

TEST_CASE("clauses and filters know where they came from") {
  constexpr std::string_view kText = "why +\"a b\"  -conn* x\\ y -tag:\"q r\" z";
  const Plan query = parse_query_text(kText).value();
  std::string parts;
  for (const QueryClause& clause : query.clauses) {
    parts += fmt::format("<{}>", kText.substr(clause.offset, clause.size));
  }
  for (const QueryFilter& filter : query.filters) {
    parts += fmt::format("<{}>", kText.substr(filter.offset, filter.size));
  }
  CHECK(parts == "<why><+\"a b\"><-conn*><x\\ y><z><-tag:\"q r\">");
}

TEST_CASE("the prose is the text without filters, exclusions and operators, byte for byte") {
  struct ProseRow {
    std::string_view text;
    std::string_view prose;
  };
  static constexpr ProseRow kRows[] = {
      {"in June", "in June"},
      {"in June since:2026-01-01 -summer", "in June                         "},
      {"a AND NOT b OR \"c d\"", "a              \"c d\""},
      {"a AND", "a AND"},
  };
  for (const ProseRow& row : kRows) {
    CAPTURE(std::string(row.text));
    CHECK(parse_query_text(row.text)->prose == row.prose);
  }
}

TEST_CASE("any bytes give a query or an error within the text") {
  constexpr std::uint32_t kSeed = 20261121;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  static constexpr std::string_view kPieces[] = {"a",
                                                 "bc",
                                                 " ",
                                                 "\"",
                                                 "-",
                                                 "+",
                                                 "*",
                                                 "~",
                                                 "\\",
                                                 ":",
                                                 "tag",
                                                 "tag:",
                                                 "type:",
                                                 "fact",
                                                 "is:",
                                                 "AND ",
                                                 " OR ",
                                                 "é",
                                                 "NOT ",
                                                 "since:7d ",
                                                 "\t",
                                                 "\xC2\xA0",
                                                 "pinned",
                                                 "7d",
                                                 "日本",
                                                 "\xFF",
                                                 "session:",
                                                 "x y",
                                                 "until:2026-01-01 "};
  std::size_t parsed_count = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::size_t count = random() % 12; count > 0; --count) {
      text += kPieces[random() % std::size(kPieces)];
    }
    CAPTURE(text);
    const Result<Plan> query = parse_query_text(text);
    if (!query) {
      REQUIRE(text.contains(':'));
      REQUIRE(query.error().column >= 1);
      REQUIRE(query.error().column <= text.size() + 1);
      REQUIRE(utf8_valid_size(query.error().message) == query.error().message.size());
      continue;
    }
    ++parsed_count;
    REQUIRE(query->prose.size() == text.size());
    std::size_t end = 0;
    for (const QueryClause& clause : query->clauses) {
      REQUIRE(clause.offset >= end);
      REQUIRE_FALSE(clause.text.empty());
      end = clause.offset + clause.size;
    }
    REQUIRE(end <= text.size());
  }
  CHECK(parsed_count > 2'000);
}

TEST_CASE("printable texts are never refused, but for filters that cannot be meant") {
  constexpr std::uint32_t kSeed = 20261221;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    for (std::size_t count = 1 + random() % 60; count > 0; --count) {
      text += random() % 4 == 0 ? ' ' : static_cast<char>('!' + random() % ('~' - '!' + 1));
    }
    CAPTURE(text);
    const Result<Plan> query = parse_query_text(text);
    const bool is_field_error = !query && query.error().message.contains(" is not a field; ");
    REQUIRE((query.has_value() || is_field_error));
  }
}

}  // namespace bmad_mem::query_parser_test
