// summary_store.hpp - a session whose summary tests write: by hand, and by programs that behave and
// misbehave.
#pragma once

#include <chrono>
#include <string>

#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/summary.hpp"
#include "knowledge/summary_file.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test {

/// What a writer answers that has understood: says `text` in its first part.
inline std::string answer(const std::string& text) {
  std::string summary(summary_template());
  summary.insert(summary.find("## Task"), text + "\n\n");
  return summary;
}

/// A session "s1" and its summary; thresholds of 100 tokens and 3 tool calls.
class SummaryStore {
 public:
  SummaryStore() {
    memory.session();
    configure("");
  }

  /// Opens the root anew with `settings` of the summarizer, such as R"("enabled":false)".
  void configure(const std::string& settings) {
    memory.folder.write("memory/config.json", fmt::format(R"({{"memory_config":{{"summarizer":{{
        "minimum_message_tokens_to_init":100,"minimum_tokens_between_update":100,
        "tool_calls_between_updates":3{}{}}}}}}})",
                                                          settings.empty() ? "" : ",", settings));
    memory.reopen();
  }
  /// A program of /bin/sh is the writer.
  void write_by(const std::string& script, const std::string& settings = "") {
    configure(fmt::format(R"("command":["sh","-c",{}]{}{})", json_quoted(script),
                          settings.empty() ? "" : ",", settings));
  }

  /// A message of `tokens` tokens; ids are m1, m2 …
  std::string say(int tokens, const std::string& role = "assistant",
                  const std::string& content = "something was said") {
    memory.clock.advance(std::chrono::milliseconds(1000));
    const std::string id = fmt::format("m{}", ++said);
    return memory.add(
        EntryType::kConversation,
        fmt::format(R"({{"id":"{}","role":"{}","content":{},"metadata":{{"tokens":{}}}}})", id,
                    role, json_quoted(content), tokens));
  }
  void use_tool() {
    memory.clock.advance(std::chrono::milliseconds(1000));
    memory.add(EntryType::kEvent, R"({"kind":"tool_use","tool":"sh"})");
  }

  Summaries summaries() { return Summaries(*memory); }
  SummaryStatus status() { return summaries().status("s1").value(); }
  std::string due() { return std::string(summary_due_name(status().due)); }
  std::string text() { return memory.read("summary.md"); }
  SummaryStats stats() { return summaries().stats("s1").value(); }

  /// An update by hand.
  SummaryUpdate summarize(const std::string& what) {
    const SummaryPrompt prompt = summaries().prompt("s1").value();
    return summaries().apply("s1", answer(what), prompt.ticket).value();
  }

  MemoryFixture memory;
  int said = 0;
};

/// The ids of the messages that come behind the summary.
inline std::string ids_of(const CompactedConversation& result) {
  std::string ids;
  for (const ConversationMessage& message : result.messages) {
    ids += (ids.empty() ? "" : " ") + message.id;
  }
  return ids;
}

}  // namespace bmad_mem::test
