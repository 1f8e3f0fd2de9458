#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "knowledge/summary_file.hpp"
#include "knowledge/summary_prompt.hpp"

namespace bmad_mem::test::summary_answer_test {
namespace {

constexpr std::string_view kBody = "# S\n\n## Task\nBuild it.\n\n## State\nBuilt half.\n";
constexpr std::string_view kNew = "# S\n\n## Task\nBuild it all.\n\n## State\nBuilt.\n";

std::string revised(std::string_view answer) {
  const Result<std::string> result = revised_summary(kBody, answer);
  return result ? *result : "refused: " + result.error().message;
}

}  // namespace

TEST_CASE("a whole summary takes the place of the old one, however it is wrapped") {
  const std::string whole(kNew);
  CHECK(revised(whole) == whole);
  CHECK(revised("\n\n" + whole + "\n\n") == whole);
  CHECK(revised("```markdown\n" + whole + "```\n") == whole);
  CHECK(revised("```\n" + whole + "```") == whole);
  CHECK(revised("---\nlast_summarized_id: m99\n---\n" + whole) == whole);
  CHECK(revised("# S\r\n\r\n## Task\r\nBuild it all.\r\n\r\n## State\r\nBuilt.\r\n") == whole);
  const std::string with_code = "# S\n## Task\n```sh\n# make\nmake\n```\n## State\n```\nx\n```\n";
  CHECK(revised(with_code) == with_code);
  CHECK(revised("```markdown\n" + with_code + "```\n") == with_code);
}

TEST_CASE("further headings are welcome between those that are there") {
  const std::string more = "# S\n## Why\nBecause.\n## Task\nBuild.\n## State\nNone.\n## More\n";
  CHECK(revised(more) == more);
}

TEST_CASE("edits change what they name") {
  CHECK(revised(R"([{"file":"summary.md","old":"Built half.","new":"Built."}])") ==
        "# S\n\n## Task\nBuild it.\n\n## State\nBuilt.\n");
  CHECK(revised("```json\n"
                R"([{"file":"summary.md","old":"Build it.","new":"Build it all."},)"
                R"({"file":"summary.md","old":"all.","new":"all, soon."}])"
                "\n```") == "# S\n\n## Task\nBuild it all, soon.\n\n## State\nBuilt half.\n");
  CHECK(revised(R"({"file":"summary.md","old":"half","new":""})") ==
        "# S\n\n## Task\nBuild it.\n\n## State\nBuilt .\n");
  CHECK(revised("[]") == kBody);
}

TEST_CASE("whatever else an answer asks for is denied, and the file that may be edited is named") {
  struct Row {
    const char* name;
    std::string_view answer;
    std::string_view says;
  };
  static constexpr Row kRows[] = {
      {"another file", R"([{"file":"config.json","old":"a","new":"b"}])",
       "a change of \"config.json\"; only summary.md may be edited"},
      {"a path to it", R"([{"file":"../summary.md","old":"Built","new":"b"}])",
       "only summary.md may be edited"},
      {"another one behind a good one",
       R"([{"file":"summary.md","old":"half","new":"all"},{"file":"x","old":"a","new":"b"}])",
       "a change of \"x\"; only summary.md may be edited"},
      {"a tool", R"({"tool":"Bash","command":"rm -rf /"})",
       "a member \"tool\"; only summary.md may be edited"},
      {"an action in an edit", R"([{"file":"summary.md","old":"half","new":"all","mode":"0777"}])",
       "a member \"mode\"; only summary.md may be edited"},
      {"text for an edit", R"(["delete it"])", "a string in the place of an edit"},
      {"no file", R"([{"old":"half","new":"all"}])", "an edit has"},
      {"a number", R"([{"file":"summary.md","old":"half","new":1}])", "must be a string"},
      {"nothing to find", R"([{"file":"summary.md","old":"","new":"x"}])", "is empty"},
      {"not there", R"([{"file":"summary.md","old":"night boat","new":"x"}])",
       "\"night boat\" does not occur in summary.md"},
      {"twice there", R"([{"file":"summary.md","old":"Buil","new":"x"}])", "occurs more than once"},
      {"half of JSON", R"([{"file":"summary.md")", "begins like JSON and is none"},
      {"empty", " \n", "it is empty"},
      {"chatter", "Here is the summary:\n# S\n", "begins with \"Here is the summary"},
      {"rubbish", "\x01\x02\xFF\xFE", "it should be the new summary.md"},
      {"a heading less", "# S\n## Task\nBuilt.\n", "the heading \"## State\""},
      {"other order", "# S\n## State\nBuilt.\n## Task\nDone.\n", "\"## State\""},
      {"a heading in a fence only", "# S\n## Task\nx\n```\n## State\n```\n", "\"## State\""},
      {"a heading edited away", R"([{"file":"summary.md","old":"## State","new":"x"}])",
       "\"## State\""},
      {"nothing said", "# S\n## Task\n## State\n", "summary.md would say nothing"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    const Result<std::string> result = revised_summary(kBody, row.answer);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::E_INVALID_FORMAT);
    CAPTURE(result.error().message);
    CHECK(result.error().message.find(row.says) != std::string::npos);
    CHECK(result.error().message.find('\x01') == std::string::npos);
  }
}

TEST_CASE("what is said is cleaned of what steers") {
  CHECK(revised("# S\n## Task\n\x1B[31mred\xE2\x80\xAE\n## State\nx\n") ==
        "# S\n## Task\n[31mred\n## State\nx\n");
  CHECK(revised(R"([{"file":"summary.md","old":"half","new":"a\u001bb"}])").find("ab") !=
        std::string::npos);
}

TEST_CASE("a summary has a size that it may not exceed") {
  const std::string head = "# S\n## Task\n";
  const std::string tail = "\n## State\nx\n";
  for (const std::string& middle : {std::string(kSummarySizeMax, 'x'), [] {
                                      std::string words;
                                      while (words.size() < 60'000) {
                                        words += "a b c d ";
                                      }
                                      return words;
                                    }()}) {
    const Result<std::string> result = revised_summary(kBody, head + middle + tail);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::E_SIZE_LIMIT);
  }
}

TEST_CASE("the usage is read where a writer leaves it") {
  const WriterAnswer wrapped = read_writer_answer(
      R"({"type":"result","result":"# S\nx","usage":{"input_tokens":10,"output_tokens":20,)"
      R"("cache_read_input_tokens":30,"cache_creation_input_tokens":40}})");
  CHECK(wrapped.text == "# S\nx");
  CHECK(wrapped.usage.input_tokens == 10);
  CHECK(wrapped.usage.output_tokens == 20);
  CHECK(wrapped.usage.cache_read_tokens == 30);
  CHECK(wrapped.usage.cache_written_tokens == 40);
  const WriterAnswer plain =
      read_writer_answer("# S\n", "warming up\n{\"usage\":{\"output_tokens\":7}}\n");
  CHECK(plain.text == "# S\n");
  CHECK(plain.usage.output_tokens == 7);
  CHECK_FALSE(plain.usage.input_tokens);
  for (const char* err : {"", "no JSON", "{\"usage\":7}", "{\"usage\":{\"output_tokens\":-1}}"}) {
    CAPTURE(err);
    CHECK_FALSE(read_writer_answer("# S\n", err).usage.output_tokens);
  }
}

}  // namespace bmad_mem::test::summary_answer_test
