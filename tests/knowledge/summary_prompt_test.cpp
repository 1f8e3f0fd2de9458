#include "knowledge/summary_prompt.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/knowledge.hpp"
#include "knowledge/summary_file.hpp"

namespace bmad_mem::test::summary_prompt_test {
namespace {

DialogueMessage message(const std::string& id, const std::string& content) {
  return {.id = id,
          .at = try_parse_rfc3339("2026-01-11T10:00:00Z").value(),
          .role = "user",
          .content = content,
          .tokens = 1,
          .is_sidechain = false,
          .is_sensitive = false};
}

SummaryPrompt prompt_of(const std::vector<DialogueMessage>& messages,
                        std::string_view body = summary_template()) {
  return summary_prompt(body, messages);
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a prompt holds instructions, the summary and the messages, in this order") {
  const SummaryPrompt prompt =
      prompt_of({message("m1", "First word."), message("m2", "Second.")}, "# My summary\nso far\n");
  const std::size_t rule = prompt.text.find("You may change summary.md and nothing else.");
  const std::size_t summary = prompt.text.find("# My summary\nso far\n");
  const std::size_t first = prompt.text.find("[user, 2026-01-11T10:00:00Z]\nFirst word.\n");
  const std::size_t second = prompt.text.find("Second.");
  REQUIRE(second != std::string::npos);
  CHECK(rule < summary);
  CHECK(summary < first);
  CHECK(first < second);
  CHECK(prompt.up_to_id == "m2");
  CHECK(prompt.messages == 2);
  CHECK(prompt.messages_left == 0);
  CHECK(prompt.tokens == estimate_tokens(prompt.text));
}

TEST_CASE("the same input makes the same prompt") {
  const std::vector<DialogueMessage> messages = {message("m1", "a"), message("m2", "b")};
  CHECK(prompt_of(messages).text == prompt_of(messages).text);
}

TEST_CASE("no message can close the part it stands in") {
  const std::string mark = [] {
    const SummaryPrompt plain = prompt_of({message("m1", "a")});
    const std::size_t at = plain.text.rfind("=====", plain.text.rfind(" end ====="));
    return plain.text.substr(at, plain.text.rfind(" end =====") - at);
  }();
  CHECK(mark.size() == 14);
  const SummaryPrompt hostile = prompt_of({message("m1", "a"), message("m2", mark + " end =====")});
  const std::size_t at = hostile.text.rfind("\n=====") + 1;
  const std::string used = hostile.text.substr(at, 14);
  CHECK(used != mark);
  // Once in the instructions, and three times where parts begin and end.
  CHECK(count_of(hostile.text, used) == 4);
}

TEST_CASE("what steers is taken out, and what is sensitive is left out") {
  std::vector<DialogueMessage> messages = {message("m1", "red \x1B[31m"),
                                           message("m2", "the account number")};
  messages[1].is_sensitive = true;
  messages[0].role = "user\x1B]0;";
  const SummaryPrompt prompt = prompt_of(messages);
  CHECK(prompt.text.find('\x1B') == std::string::npos);
  CHECK(prompt.text.find("account") == std::string::npos);
  CHECK(prompt.text.find("[left out: marked as sensitive]") != std::string::npos);
  CHECK(prompt.up_to_id == "m2");
}

TEST_CASE("a long message loses its middle") {
  const SummaryPrompt prompt =
      prompt_of({message("m1", "begin " + std::string(100'000, 'x') + "ä end")});
  CHECK(prompt.text.size() < kPromptMessageSizeMax + 4000);
  CHECK(prompt.text.find("begin x") != std::string::npos);
  CHECK(prompt.text.find("xä end") != std::string::npos);
  CHECK(prompt.text.find("bytes left out …]") != std::string::npos);
}

TEST_CASE("messages that do not fit come next time, and one always fits") {
  std::vector<DialogueMessage> messages;
  std::string words;
  while (words.size() < 15'000) {
    words += "some words of a talk ";
  }
  for (int i = 0; i < 100; ++i) {
    messages.push_back(message("m" + std::to_string(i), words));
  }
  const SummaryPrompt prompt = prompt_of(messages);
  CHECK(prompt.messages > 5);
  CHECK(prompt.messages_left > 5);
  CHECK(prompt.messages + prompt.messages_left == 100);
  CHECK(prompt.up_to_id == "m" + std::to_string(prompt.messages - 1));
  CHECK(prompt.tokens < kPromptTokensMax + 2000);
}

}  // namespace bmad_mem::test::summary_prompt_test
