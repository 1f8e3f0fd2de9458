// What holds of a config.json that strangers may have written.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "store/config/config_table.hpp"

namespace bmad_mem::test::settled_config_test {
namespace {

Config parsed(std::string_view sections) {
  return parse_config(fmt::format(R"({{"memory_config":{}}})", sections), "config.json")
      .value()
      .config;
}

struct Settled {
  Config config;
  std::vector<std::string> waiting;
  std::vector<std::string> stricter;
};

Settled settled(std::string_view trusted, std::string_view written) {
  std::vector<WaitingSetting> waiting;
  Settled result;
  result.config = settled_config(parsed(trusted), parsed(written), waiting, result.stricter);
  for (const WaitingSetting& each : waiting) {
    result.waiting.push_back(each.key + " " + each.value);
  }
  return result;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("what a row does not allow waits") {
  const Settled both = settled(R"({"context":{"max_tokens":700},"decay":{"model":"priority"}})",
                               R"({"context":{"max_tokens":60},"learning":{"ask_agent":true}})");
  CHECK(both.config.context.max_tokens == 700);
  CHECK(both.config.decay.model == "priority");
  CHECK_FALSE(both.config.learning.ask_agent);
  CHECK(both.waiting ==
        Strings{"decay.model \"exponential\"", "context.max_tokens 60", "learning.ask_agent true"});
}

TEST_CASE("a flag and a choice become stricter, and never less strict") {
  const std::string strict =
      R"({"privacy":{"redaction":{"personal":{"ip":"redact","email":"mark"}}},"recording":{"enabled":false}})";
  const Settled taken = settled(R"({"privacy":{"auto_redaction":false}})", strict);
  CHECK(taken.config.privacy.auto_redaction);
  CHECK_FALSE(taken.config.recording.enabled);
  CHECK(taken.config.privacy.redaction.personal.ip == "redact");
  CHECK(taken.config.privacy.redaction.personal.email == "redact");
  CHECK(taken.waiting == Strings{"privacy.redaction.personal.email \"mark\""});
  CHECK(taken.stricter ==
        Strings{"privacy.auto_redaction", "privacy.redaction.personal.ip", "recording.enabled"});
  const Settled kept = settled(strict, R"({"privacy":{"auto_redaction":false}})");
  CHECK(kept.config.privacy.auto_redaction);
  CHECK_FALSE(kept.config.recording.enabled);
  CHECK(kept.config.privacy.redaction.personal.ip == "redact");
  CHECK(kept.waiting.size() == 3);
}

TEST_CASE("a list grows, and loses nothing") {
  const Settled both = settled(R"({"recording":{"skip_tools":["Read","Bash"]}})",
                               R"({"recording":{"skip_tools":["Edit","Bash"]}})");
  CHECK(both.config.recording.skip_tools == Strings{"Read", "Bash", "Edit"});
  CHECK(both.waiting.size() == 1);
}

TEST_CASE("only flags, choices and lists of texts have an order") {
  for (const Setting& setting : config_settings()) {
    CAPTURE(setting.key);
    if (setting.strangers == FromStrangers::kStricter) {
      const bool is_choice = std::holds_alternative<ConfigMember<std::string>>(setting.member) &&
                             !setting.choices[0].empty();
      CHECK((is_choice || std::holds_alternative<ConfigMember<bool>>(setting.member) ||
             std::holds_alternative<ConfigMember<Strings>>(setting.member)));
    }
  }
}

}  // namespace bmad_mem::test::settled_config_test
