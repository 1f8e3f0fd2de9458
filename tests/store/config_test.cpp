#include "store/config.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "store/config/config_table.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"

namespace bmad_mem::test::config_test {
namespace {

using Strings = std::vector<std::string>;

LoadedConfig parsed(std::string_view text) { return parse_config(text, "config.json").value(); }

Error refused(std::string_view text) { return parse_config(text, "config.json").error(); }

/// {"memory_config":{"storage":{"format":<value>}}} of "storage.format".
std::string with(std::string_view key, std::string_view value) {
  std::string text = R"({"memory_config":)";
  std::string end = "}";
  for (std::size_t dot = key.find('.');; dot = key.find('.')) {
    text += "{\"";
    text += key.substr(0, dot);
    text += "\":";
    end += '}';
    if (dot == std::string_view::npos) {
      text += value;
      text += end;
      return text;
    }
    key.remove_prefix(dot + 1);
  }
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The JSON text of a value that is no array and no object.
std::string json_text(JsonValue value) {
  if (value.is_string()) {
    return fmt::format("\"{}\"", value.string());
  }
  return value.is_number() ? fmt::format("{}", value.number()) : fmt::format("{}", value.boolean());
}

/// What a schema says about the setting `key`, behind "properties" on each level.
JsonValue rules_of(JsonValue schema, std::string_view key) {
  JsonValue rules = schema["properties"][kConfigRoot];
  while (!key.empty()) {
    const std::size_t dot = std::min(key.find('.'), key.size());
    rules = rules["properties"][key.substr(0, dot)];
    key.remove_prefix(std::min(dot + 1, key.size()));
  }
  return rules;
}

// The example of the specification, section 9.1, with decay.model and the settings that are ours,
// and without what has no effect here.
constexpr std::string_view kSpecification = R"({
  "memory_config": {
    "version": "1.0",
    "defaults_version": 2,
    "set_on_purpose": [],
    "worktrees": "share",
    "storage": {
      "format": "jsonl",
      "encoding": "utf-8",
      "max_session_size_mb": 10
    },
    "concurrency": {
      "lock_timeout_ms": 5000
    },
    "indexing": {
      "enabled": true,
      "update_strategy": "incremental",
      "rebuild_threshold_writes": 1000,
      "language": "english",
      "cache_size_mb": 5
    },
    "relevance": {
      "combine": "factors",
      "text": 0.4,
      "time": 0.3,
      "importance": 0.2,
      "access": 0.1
    },
    "decay": {
      "enabled": true,
      "model": "exponential",
      "update_interval_hours": 24,
      "minimum_factor": 0.1,
      "rates": {
        "conversation": 0.1,
        "decision": 0.02,
        "finding": 0.05,
        "preference": 0.01
      }
    },
    "compaction": {
      "enabled": true,
      "trigger_threshold_mb": 9,
      "warn_threshold": 0.8,
      "force_threshold": 0.95,
      "keep_percentage": 0.8,
      "strategy": "relevance_based"
    },
    "lifecycle": {
      "idle_after_hours": 24,
      "archive_after_idle_days": 30,
      "archive": "untracked"
    },
    "privacy": {
      "auto_redaction": true,
      "index_outside_paths": false,
      "redaction": {
        "replacement": "[REDACTED:{rule}]",
        "aggressive": false,
        "linkable": false,
        "personal": {
          "email": "redact",
          "phone": "redact",
          "iban": "redact",
          "card": "redact",
          "ip": "keep",
          "national_id": "redact"
        },
        "patterns": []
      },
      "rules_files": [],
      "allow": [],
      "retention_days": {
        "conversation": 90,
        "decision": 365,
        "finding": 180,
        "preference": 730,
        "fact": 0,
        "event": 90,
        "agent_state": 90,
        "artifact": 0
      },
      "project_retention_days": {},
      "deleted_retention_days": 30,
      "auto_purge": true,
      "purge_schedule_cron": "0 2 * * 0",
      "audit_deletions": true
    },
    "performance": {
      "record_access": true
    },
    "knowledge": {
      "detect_preferences": true,
      "learn_at_session_end": true,
      "apply_stated_rules": true,
      "learn_rules": []
    },
    "context": {
      "inject": true,
      "user_memory": true,
      "gate": 0.5,
      "max_tokens": 800,
      "facts_max": 5,
      "snippets_max": 6,
      "recency_days": 0,
      "quote_below_trust": 0.7
    },
    "recording": {
      "enabled": true,
      "skip_clients": [],
      "skip_tools": [],
      "skip_paths": []
    },
    "learning": {
      "ask_agent": false,
      "ask_every_turns": 20
    },
    "events": {
      "keep": 2000,
      "track": false
    },
    "summarizer": {
      "enabled": true,
      "command": [],
      "timeout_ms": 60000,
      "minimum_message_tokens_to_init": 5000,
      "minimum_tokens_between_update": 5000,
      "tool_calls_between_updates": 10,
      "stale_update_ms": 60000,
      "wait_timeout_ms": 15000
    },
    "extractor": {
      "command": [],
      "timeout_ms": 60000
    },
    "encoder": {
      "enabled": true,
      "path": "",
      "command": [],
      "url": "",
      "model": "",
      "timeout_ms": 10000,
      "sensitive": false,
      "remote": false
    },
    "hub": {
      "service": "",
      "project": "",
      "auto": "off",
      "push_sensitive": false,
      "stale_days": 90
    }
  }
}
)";

}  // namespace

TEST_CASE("init writes the settings of the specification") {
  CHECK(default_config_text() == kSpecification);
}

TEST_CASE("what init writes reads back as the defaults, without a warning") {
  LoadedConfig loaded = parsed(default_config_text());
  CHECK(loaded.warnings.empty());
  Config defaults;
  for (const Setting& setting : config_settings()) {
    CAPTURE(setting.key);
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), NoEffect>) {
            CHECK((member(loaded.config) == member(defaults)));
          }
        },
        setting.member);
  }
}

TEST_CASE("every default lies in its own range") {
  // As above, but proves it key by key: each default alone is accepted.
  const std::string text = default_config_text();
  CHECK(parse_config(text, "config.json").has_value());
  for (const Setting& setting : config_settings()) {
    CAPTURE(setting.key);
    Config defaults;
    if (const auto* member = std::get_if<ConfigMember<std::int64_t>>(&setting.member)) {
      CHECK(static_cast<double>((*member)(defaults)) >= setting.min);
      CHECK(static_cast<double>((*member)(defaults)) <= setting.max);
    } else if (const auto* real = std::get_if<ConfigMember<double>>(&setting.member)) {
      CHECK((*real)(defaults) >= setting.min);
      CHECK((*real)(defaults) <= setting.max);
    }
  }
}

TEST_CASE("the schema for editors allows what is allowed here") {
  const std::string text = text_of(BMAD_SOURCE_DIR "/schemas/config.schema.json");
  JsonParser parser;
  const JsonValue schema = parser.parse(text).value();
  Config defaults;
  for (const Setting& setting : config_settings()) {
    CAPTURE(setting.key);
    const JsonValue rules = rules_of(schema, setting.key);
    REQUIRE(rules.is_object());
    if (const auto* without = std::get_if<NoEffect>(&setting.member)) {
      CHECK(rules["deprecated"].boolean());
      CHECK(rules["description"].string() == fmt::format("No effect: {}.", without->reason));
      CHECK(parsed(with(setting.key, json_text(rules["const"]))).warnings.empty());
      continue;
    }
    const auto check_number = [&](const char* type, auto value) {
      CHECK(rules["type"].string() == type);
      CHECK(rules["default"].number() == static_cast<double>(value));
      CHECK(rules["minimum"].number(-1) == setting.min);
      CHECK(rules["maximum"].number(-1) == setting.max);
    };
    if (const auto* flag = std::get_if<ConfigMember<bool>>(&setting.member)) {
      CHECK(rules["type"].string() == "boolean");
      CHECK(rules["default"].boolean(!(*flag)(defaults)) == (*flag)(defaults));
    } else if (const auto* whole = std::get_if<ConfigMember<std::int64_t>>(&setting.member)) {
      check_number("integer", (*whole)(defaults));
    } else if (const auto* real = std::get_if<ConfigMember<double>>(&setting.member)) {
      check_number("number", (*real)(defaults));
    } else if (std::holds_alternative<ConfigMember<std::vector<std::string>>>(setting.member)) {
      CHECK(rules["type"].string() == "array");
      CHECK(rules["items"]["type"].string() == "string");
    } else if (std::holds_alternative<ConfigMember<ProjectRetention>>(setting.member)) {
      const JsonValue types = rules["additionalProperties"]["properties"];
      for (const EntryType type : kEntryTypes) {
        CHECK(types[entry_type_name(type)]["maximum"].number() == setting.max);
      }
    } else if (!std::holds_alternative<ConfigMember<std::string>>(setting.member)) {
      CHECK(rules["type"].string() == "array");
      CHECK(rules["items"]["required"].is_array());
    } else {
      const auto* string = std::get_if<ConfigMember<std::string>>(&setting.member);
      CHECK(rules["default"].string() == (*string)(defaults));
      std::array<std::string_view, 3> choices;
      std::size_t count = 0;
      for (const JsonValue choice : rules["enum"].elements()) {
        REQUIRE(count < choices.size());
        choices[count++] = choice.string();
      }
      CHECK(choices == setting.choices);
    }
  }
}

TEST_CASE("absent keys take their defaults, on every level") {
  for (const char* text :
       {"{}", R"({"memory_config":{}})", R"({"memory_config":{"storage":{}}})"}) {
    const LoadedConfig loaded = parsed(text);
    CHECK(loaded.warnings.empty());
    CHECK(loaded.config.storage.max_session_size_mb == 10);
    CHECK(loaded.config.compaction.trigger_threshold_mb == 9);
    CHECK(loaded.config.decay.model == "exponential");
    CHECK(loaded.config.max_session_size_bytes() == 10 * 1024 * 1024);
    CHECK(loaded.config.compaction_trigger_bytes() == 9 * 1024 * 1024);
    CHECK(loaded.config.index_cache_size_bytes() == 5 * 1024 * 1024);
  }
}

TEST_CASE("values that are given are taken") {
  CHECK(parsed(with("decay.model", "\"priority\"")).config.decay.model == "priority");
  CHECK(parsed(with("concurrency.lock_timeout_ms", "0")).config.concurrency.lock_timeout_ms == 0);
  CHECK(parsed(with("concurrency.lock_timeout_ms", "250.0")).config.concurrency.lock_timeout_ms ==
        250);
  CHECK(parsed(with("decay.rates.finding", "0.5e-1")).config.decay.rates.finding == 0.05);
  CHECK(parsed(with("decay.minimum_factor", "1")).config.decay.minimum_factor == 1.0);
  CHECK(parsed(with("privacy.retention_days.preference", "1"))
            .config.privacy.retention_days.preference == 1);
  CHECK(parsed(with("privacy.retention_days.conversation", "0"))
            .config.privacy.retention_days.conversation == 0);
  CHECK(parsed(with("compaction.strategy", "\"tiered\"")).config.compaction.strategy == "tiered");
  CHECK_FALSE(parsed(with("performance.record_access", "false")).config.performance.record_access);
  CHECK(parsed(with("context.gate", "0")).config.context.gate == 0);
  CHECK(parsed(with("context.gate", "1")).config.context.gate == 1);
  CHECK_FALSE(
      parsed(with("knowledge.apply_stated_rules", "false")).config.knowledge.apply_stated_rules);
}

TEST_CASE("rules to learn by are a list of what to look for and what to remember") {
  const LoadedConfig loaded = parsed(with(
      "knowledge.learn_rules",
      R"([{"match":"ctest","category":"pattern","key":"tests","value":"run ctest","confidence":0.9},
          {"agent":"MARS","match":"x","category":"style","key":"k","value":"v"}])"));
  REQUIRE(loaded.config.knowledge.learn_rules.size() == 2);
  CHECK(loaded.config.knowledge.learn_rules[0] == LearnRule{.agent = {},
                                                            .match = "ctest",
                                                            .category = "pattern",
                                                            .key = "tests",
                                                            .value = "run ctest",
                                                            .confidence = 0.9});
  CHECK(loaded.config.knowledge.learn_rules[1].agent == "MARS");
  CHECK(loaded.config.knowledge.learn_rules[1].confidence == 0.8);
  for (const char* wrong :
       {"{}", "[1]", R"([{"match":"x","category":"style","key":"k"}])",
        R"([{"match":"x","category":"s","key":"k","value":"v","confidence":2}])",
        R"([{"match":"","category":"s","key":"k","value":"v"}])"}) {
    CAPTURE(wrong);
    CHECK(refused(with("knowledge.learn_rules", wrong)).field ==
          "memory_config.knowledge.learn_rules");
  }
}

TEST_CASE("a command is a program and its arguments") {
  const LoadedConfig loaded = parsed(with("summarizer.command", R"(["claude","-p",""])"));
  CHECK(loaded.config.summarizer.command == Strings{"claude", "-p", ""});
  CHECK(parsed(with("extractor.command", "[]")).config.extractor.command.empty());
  for (const char* wrong : {"\"claude -p\"", "[1]", R"(["","-p"])"}) {
    CAPTURE(wrong);
    CHECK(refused(with("summarizer.command", wrong)).field == "memory_config.summarizer.command");
  }
}

TEST_CASE("a hub is named by its service, and no address stands in the file") {
  CHECK(parsed(with("hub.service", R"("team")")).config.hub.service == "team");
  for (const std::string_view address :
       {R"("postgres://ann:pw@db/x")", R"("host=db")", R"("db/x")", R"("a b")"}) {
    const Error error = refused(with("hub.service", address));
    CHECK(error.field == "memory_config.hub.service");
    CHECK(error.message.find("pg_service.conf") != std::string::npos);
  }
}

TEST_CASE("one encoder is named, and a text of it may be empty") {
  const LoadedConfig loaded =
      parsed(R"({"memory_config":{"encoder":{"command":["enc"],"url":"","path":"","model":"m"}}})");
  CHECK(loaded.config.encoder.command == Strings{"enc"});
  CHECK(loaded.config.encoder.model == "m");
  CHECK(refused(with("encoder.url", "7")).message == "must be a string, not 7");
  const Error two =
      refused(R"({"memory_config":{"encoder":{"url":"http://127.0.0.1/e","command":["enc"]}}})");
  CHECK(two.code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(two.field == "memory_config.encoder.url");
  CHECK(two.message ==
        "names a second encoder beside memory_config.encoder.command; take one away, as `bmad-mem "
        "config set encoder.command --default` does");
  CHECK(refused(R"({"memory_config":{"encoder":{"path":"a.bmw","command":["enc"]}}})").field ==
        "memory_config.encoder.command");
}

TEST_CASE("patterns for the redactor are a list of names and expressions") {
  const LoadedConfig loaded =
      parsed(with("privacy.redaction.patterns", R"([{"type":"ticket","regex":"T-[0-9]+"}])"));
  REQUIRE(loaded.config.privacy.redaction.patterns.size() == 1);
  CHECK(loaded.config.privacy.redaction.patterns[0].type == "ticket");
  CHECK(loaded.config.privacy.redaction.patterns[0].regex == "T-[0-9]+");
  for (const char* wrong :
       {"{}", R"(["T-1"])", R"([{"type":"ticket"}])", R"([{"type":"","regex":"T"}])"}) {
    CHECK(refused(with("privacy.redaction.patterns", wrong)).field ==
          "memory_config.privacy.redaction.patterns");
  }
  CHECK(refused(with("privacy.redaction.personal.email", "\"hide\"")).message ==
        R"(must be "redact", "mark" or "keep", not "hide")");
}

TEST_CASE("compaction starts at nine tenths of the limit unless it is told when") {
  CHECK(parsed(with("storage.max_session_size_mb", "20")).config.compaction_trigger_bytes() ==
        18 * 1024 * 1024);
  CHECK(parsed(with("storage.max_session_size_mb", "0.5")).config.max_session_size_bytes() ==
        512 * 1024);
  CHECK(parsed(with("compaction.trigger_threshold_mb", "2.5")).config.compaction_trigger_bytes() ==
        2560 * 1024);
  const Error error = refused(
      "{\"memory_config\": {\n"
      "  \"storage\": {\"max_session_size_mb\": 5},\n"
      "  \"compaction\": {\"trigger_threshold_mb\": 8}}}");
  CHECK(error.code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(error.field == "memory_config.compaction.trigger_threshold_mb");
  CHECK(error.message ==
        "must be at most memory_config.storage.max_session_size_mb, which is 5, not 8; `bmad-mem "
        "config set compaction.trigger_threshold_mb --default` makes it follow that limit");
  CHECK(error.line == 3);
  CHECK(error.column == 18);
}

TEST_CASE("a wrong value is named with its key, what is allowed, and where it stands") {
  struct Row {
    const char* key;
    const char* value;
    const char* message;
  };
  constexpr Row kRows[] = {
      {"version", "\"0.9\"", "must be \"1.0\", not \"0.9\""},
      {"version", "1.0", "must be \"1.0\", not 1"},
      {"defaults_version", "\"2\"", "must be a whole number from 1 to 1000000, not \"2\""},
      {"defaults_version", "1.5", "must be a whole number from 1 to 1000000, not 1.5"},
      {"defaults_version", "0", "must be a whole number from 1 to 1000000, not 0"},
      {"set_on_purpose", "{}",
       "must be an array of strings, like [\"first\",\"second\"], not an object"},
      {"context.gate", "1.5", "must be a number from 0 to 1, not 1.5"},
      {"context.gate", "\"0\"", "must be a number from 0 to 1, not \"0\""},
      {"knowledge.apply_stated_rules", "1", "must be true or false, not 1"},
      {"storage", "[]", "must be an object, not an array"},
      {"storage.format", "\"csv\"", "must be \"jsonl\", not \"csv\""},
      {"storage.max_session_size_mb", "\"10\"", "must be a number from 0.01 to 4096, not \"10\""},
      {"storage.max_session_size_mb", "0", "must be a number from 0.01 to 4096, not 0"},
      {"storage.max_session_size_mb", "-1", "must be a number from 0.01 to 4096, not -1"},
      {"storage.max_session_size_mb", "1e300", "must be a number from 0.01 to 4096, not 1e+300"},
      {"storage.max_session_size_mb", "null", "must be a number from 0.01 to 4096, not null"},
      {"storage.compression", "true", "must be an object, not a boolean"},
      {"decay.enabled", "1", "must be true or false, not 1"},
      {"decay.enabled", "\"true\"", "must be true or false, not \"true\""},
      {"concurrency.lock_timeout_ms", "2.5", "must be a whole number from 0 to 3600000, not 2.5"},
      {"concurrency.lock_timeout_ms", "18446744073709551615",
       "must be a whole number from 0 to 3600000, not 1.8446744073709552e+19"},
      {"indexing.update_strategy", "\"never\"",
       "must be \"incremental\" or \"full\", not \"never\""},
      {"decay.model", "\"linear\"", "must be \"exponential\" or \"priority\", not \"linear\""},
      {"decay.model", "\"\"", "must be \"exponential\" or \"priority\", not \"\""},
      {"decay.rates", "0.1", "must be an object, not 0.1"},
      {"decay.minimum_factor", "1.01", "must be a number from 0 to 1, not 1.01"},
      {"compaction.keep_percentage", "80", "must be a number from 0.01 to 1, not 80"},
      {"compaction.strategy", "\"random\"",
       "must be \"relevance_based\" or \"tiered\", not \"random\""},
      {"compaction.warn_threshold", "80", "must be a number from 0.01 to 1, not 80"},
      {"privacy.deleted_retention_days", "0", "must be a whole number from 1 to 36500, not 0"},
      {"privacy.purge_schedule_cron", "0", "must be a string that isn't empty, not 0"},
      {"privacy.purge_schedule_cron", "\"bad\"",
       "is no schedule at column 1: the minute takes 0 to 59, not `bad`"},
      {"privacy.project_retention_days", "[]",
       "must be an object of projects, such as {\"payments\":{\"conversation\":30}}, with types of "
       "entries and whole numbers from 0 to 36500, not an array"},
      {"privacy.project_retention_days", "{\"shop\":{\"message\":30}}",
       "must be an object of projects, such as {\"payments\":{\"conversation\":30}}, with types of "
       "entries and whole numbers from 0 to 36500, and a part of it is not"},
      {"privacy.retention_days.finding", "{}",
       "must be a whole number from 0 to 36500, not an object"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.key);
    CAPTURE(row.value);
    const std::string text = with(row.key, row.value);
    const Error error = refused(text);
    CHECK(error.code == ErrorCode::E_SCHEMA_INVALID);
    CHECK(error.field == std::string("memory_config.") + row.key);
    CHECK(error.message == row.message);
    CHECK(error.path == "config.json");
    CHECK(error.line == 1);
    const std::string_view key = row.key;
    const std::string name = "\"" + std::string(key.substr(key.rfind('.') + 1)) + "\":";
    CHECK(error.column == text.rfind(name) + 1);
  }
}

TEST_CASE("a project's retention is that of all where it says nothing else") {
  const LoadedConfig loaded =
      parsed(R"({"memory_config":{"privacy":{"project_retention_days":{"shop":{"event":7}},)"
             R"("retention_days":{"conversation":60}}}})");
  CHECK(loaded.warnings.empty());
  const RetentionDays& shop = loaded.config.privacy.project_retention_days.at("shop");
  CHECK(shop.event == 7);
  CHECK(shop.conversation == 60);
  CHECK(shop.decision == 365);
  CHECK(parsed(config_text(loaded.config)).config.privacy.project_retention_days.at("shop") ==
        shop);
}

TEST_CASE("line and column are those of the key in the file") {
  std::string text = default_config_text();
  const std::size_t at = text.find("5000");
  text.replace(at, 4, "-1");
  const Error error = refused(text);
  CHECK(error.field == "memory_config.concurrency.lock_timeout_ms");
  CHECK(error.line == 13);
  CHECK(error.column == 7);
  CHECK(error.to_string() ==
        "config.json:13:7: memory_config.concurrency.lock_timeout_ms: must be a whole number from "
        "0 to 3600000, not -1");
}

TEST_CASE("an unknown key is a warning that names the nearest known one") {
  struct Row {
    std::string text;
    const char* warning;
  };
  const Row rows[] = {
      {with("storage.max_sesion_size_mb", "10"),
       "memory_config.storage.max_sesion_size_mb is not a known key; did you mean "
       "max_session_size_mb?"},
      {with("storage.max_session_size", "10"),
       "memory_config.storage.max_session_size is not a known key; did you mean "
       "max_session_size_mb?"},
      {with("storge.format", "{}"),
       "memory_config.storge is not a known key; did you mean storage?"},
      {with("storage.compresion", "{}"), "memory_config.storage.compresion is not a known key"},
      {with("decay.rates.conversations", "1"),
       "memory_config.decay.rates.conversations is not a known key; did you mean conversation?"},
      {with("storage.lock_timeout_ms", "1"),
       "memory_config.storage.lock_timeout_ms is not a known key; did you mean "
       "memory_config.concurrency.lock_timeout_ms?"},
      {with("colour", "1"), "memory_config.colour is not a known key"},
      {with("storage.x", "[[[{}]]]"), "memory_config.storage.x is not a known key"},
      {R"({"memory_confg":{}})", "memory_confg is not a known key; did you mean memory_config?"},
      {R"({"storage":{}})", "storage is not a known key; did you mean memory_config.storage?"},
      {R"({"record_access":true})",
       "record_access is not a known key; did you mean memory_config.performance.record_access?"},
      {R"({"lazy_load":true})", "lazy_load is not a known key"},
      {R"({"memory_config":{"storage.format":"csv"}})",
       "memory_config.storage.format is not a known key"},
      {R"({"a\u001b[31m\nb":1})", R"("a\u001b[31m\nb" is not a known key)"},
      {with("set_on_purpose", R"(["context.max_token"])"),
       "memory_config.set_on_purpose: context.max_token is not a known key; did you mean "
       "context.max_tokens?"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(parsed(row.text).warnings == Strings{row.warning});
  }
}

TEST_CASE("a key that has no effect is a warning when its value asks for one") {
  struct Row {
    const char* key;
    const char* usual;
    const char* other;
    const char* reason;
  };
  constexpr Row kRows[] = {
      {"storage.root_path", "\".bmad/memory\"", "\"memory\"", "a memory is where it was found"},
      {"storage.compression.enabled", "false", "true",
       "logs stay readable, archives are always packed"},
      {"storage.compression.algorithm", "\"gzip\"", "\"zstd\"",
       "archives are always packed with gzip"},
      {"concurrency.lock_retry_interval_ms", "100", "50",
       "the system wakes a writer that waits for a lock"},
      {"concurrency.max_concurrent_writes", "10", "0",
       "writes to one session take turns, sessions do not wait for each other"},
      {"performance.batch_write_size", "100", "[]",
       "a batch is one write and one sync, whatever its size"},
      {"performance.index_cache_ttl_seconds", "300", "null",
       "indexing.cache_size_mb bounds what indexes keep in memory"},
      {"performance.lazy_load", "true", "false", "sessions are always opened when they are needed"},
  };
  std::size_t count = 0;
  for (const Row& row : kRows) {
    CAPTURE(row.key);
    CHECK(parsed(with(row.key, row.usual)).warnings.empty());
    CHECK(parsed(with(row.key, row.other)).warnings ==
          Strings{fmt::format("memory_config.{} has no effect: {}; remove the key", row.key,
                              row.reason)});
    ++count;
  }
  CHECK(count == static_cast<std::size_t>(
                     std::ranges::count_if(config_settings(), [](const Setting& setting) {
                       return std::holds_alternative<NoEffect>(setting.member);
                     })));
}

TEST_CASE("the settings that earlier programs wrote are today's defaults, without a word") {
  for (const char* name : {"config-0.1.json", "config-defaults-1.json"}) {
    CAPTURE(name);
    const LoadedConfig loaded =
        parsed(text_of((BMAD_SOURCE_DIR "/tests/store/" + std::string(name)).c_str()));
    CHECK(loaded.warnings.empty());
    CHECK(config_text(loaded.config) == default_config_text());
    CHECK(loaded.renewals == SettingChanges{{"context.recency_days", "0"},
                                            {"context.snippets_max", "6"},
                                            {"defaults_version", "2"}});
  }
  CHECK(parsed(default_config_text()).renewals.empty());
}

/// The keys that `config` sets, and by whom.
Strings set_keys(const Config& config) {
  Strings keys;
  for (const SettingInfo& setting : list_config(config)) {
    if (setting.set_by != "program") {
      keys.push_back(fmt::format("{} {}", setting.set_by, setting.key));
    }
  }
  return keys;
}

TEST_CASE("a value is set unless it is the default of the file's version") {
  struct Row {
    const char* name;
    const char* version;  // The members of memory_config before context.
    const char* snippets;
    std::int64_t held;
    bool is_set;
  };
  constexpr Row kRows[] = {
      {"the default of 0.1", "", "3", 6, false},
      {"the same, written otherwise", "", "3.0", 6, false},
      {"another one in a file of 0.1", "", "4", 4, true},
      {"today's default in a file of 0.1", "", "6", 6, true},
      {"the default of a version 1 that is named", R"("defaults_version":1,)", "3", 6, false},
      {"today's default", R"("defaults_version":2,)", "6", 6, false},
      {"the former one", R"("defaults_version":2,)", "3", 3, true},
      {"the same, the version written otherwise", R"("defaults_version":2.0,)", "3", 3, true},
      {"today's on purpose", R"("defaults_version":2,"set_on_purpose":["context.snippets_max"],)",
       "6", 6, true},
      {"the former one on purpose", R"("set_on_purpose":["context.snippets_max"],)", "3", 3, true},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    const LoadedConfig loaded = parsed(fmt::format(
        R"({{"memory_config":{{{}"context":{{"snippets_max":{}}}}}}})", row.version, row.snippets));
    CHECK(loaded.warnings.empty());
    CHECK(loaded.config.context.snippets_max == row.held);
    CHECK(set_keys(loaded.config) ==
          (row.is_set ? Strings{"config.json context.snippets_max"} : Strings()));
    // As a program writes it next, with the same settings.
    const LoadedConfig renewed = parsed(config_text(loaded.config));
    CHECK(renewed.renewals.empty());
    CHECK(renewed.config.context.snippets_max == row.held);
    CHECK(set_keys(renewed.config) == set_keys(loaded.config));
  }
}

TEST_CASE("where the version is in the file does not matter") {
  const LoadedConfig loaded =
      parsed(R"({"memory_config":{"context":{"snippets_max":3},"defaults_version":2}})");
  CHECK(loaded.config.context.snippets_max == 3);
}

TEST_CASE("a key on purpose that the file does not have, or whose value tells, is not listed") {
  const LoadedConfig loaded = parsed(
      R"({"memory_config":{"defaults_version":2,"context":{"max_tokens":700,"facts_max":5},
          "set_on_purpose":["context.max_tokens","context.facts_max","context.gate"]}})");
  CHECK(loaded.config.set_on_purpose == Strings{"context.facts_max"});
  CHECK(loaded.renewals == SettingChanges{{"set_on_purpose", R"(["context.facts_max"])"}});
  CHECK(set_keys(loaded.config) ==
        Strings{"config.json context.max_tokens", "config.json context.facts_max"});
}

TEST_CASE("what was just changed is set, whatever the file said of it") {
  const std::string text = R"({"memory_config":{"context":{"snippets_max":3,"facts_max":5}}})";
  const LoadedConfig loaded =
      parse_config(
          text, "config.json",
          {{"context.snippets_max", "3"}, {"context.facts_max", "5"}, {"context.gate", {}}})
          .value();
  CHECK(loaded.config.context.snippets_max == 3);
  CHECK(loaded.renewals ==
        SettingChanges{{"defaults_version", "2"}, {"set_on_purpose", R"(["context.facts_max"])"}});
}

TEST_CASE("the file of a newer program holds as it is, and its version stays") {
  const std::string text =
      R"({"memory_config":{"defaults_version":3,"set_on_purpose":["context.gate","context.facts_max"],)"
      R"("context":{"recency_days":90,"facts_max":5},"compaction":{"trigger_threshold_mb":9},)"
      R"("storage":{"max_session_size_mb":20}}})";
  const LoadedConfig loaded =
      parse_config(text, "config.json", {{"context.recency_days", "90"}}).value();
  CHECK(
      loaded.warnings ==
      Strings{"memory_config.defaults_version is 3, and this bmad-mem knows the defaults up to 2: "
              "all values hold as they are; install a newer bmad-mem"});
  CHECK(loaded.config.context.recency_days == 90);
  CHECK(loaded.config.compaction.trigger_threshold_mb == 9);
  CHECK(loaded.renewals ==
        SettingChanges{
            {"set_on_purpose", R"(["context.facts_max","context.gate","context.recency_days"])"}});
}

TEST_CASE("the trigger that init wrote follows a limit that is edited beside it") {
  const auto with_trigger = [](std::string_view size, std::string_view trigger) {
    return parsed(fmt::format(R"({{"memory_config":{{"defaults_version":2,{}"storage":)"
                              R"({{"max_session_size_mb":{}}}}}}})",
                              trigger, size));
  };
  const std::string trigger = "compaction.trigger_threshold_mb";
  const std::string wrote = R"("compaction":{"trigger_threshold_mb":9},)";
  for (const auto& [size, follows] : {std::pair("5", 4.5), std::pair("20", 18.0)}) {
    const LoadedConfig loaded = with_trigger(size, wrote);
    CHECK(loaded.config.compaction.trigger_threshold_mb == follows);
    CHECK(set_keys(loaded.config) == Strings{"config.json storage.max_session_size_mb"});
    CHECK(loaded.renewals.empty());
  }
  const LoadedConfig kept = with_trigger("20", wrote + R"("set_on_purpose":[")" + trigger + "\"],");
  CHECK(kept.config.compaction.trigger_threshold_mb == 9);
  CHECK(kept.renewals.empty());
  const LoadedConfig same = with_trigger("20", R"("compaction":{"trigger_threshold_mb":18},)");
  CHECK(same.config.set_on_purpose == Strings{trigger});
}

TEST_CASE("the key by which editors find a schema is no setting and no mistake") {
  CHECK(parsed(R"({"$schema":"config.schema.json","memory_config":{}})").warnings.empty());
}

TEST_CASE("warnings keep the order of the file, and known keys beside them count") {
  const LoadedConfig loaded =
      parsed(R"({"x":1,"memory_config":{"y":2,"storage":{"z":3,"max_session_size_mb":7}}})");
  CHECK(loaded.warnings == Strings{"x is not a known key", "memory_config.y is not a known key",
                                   "memory_config.storage.z is not a known key"});
  CHECK(loaded.config.storage.max_session_size_mb == 7);
}

TEST_CASE("an unknown key of any length is cut in the warning") {
  const LoadedConfig loaded = parsed("{\"" + std::string(100'000, 'k') + "\":1}");
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(loaded.warnings.front().size() < 300);
}

TEST_CASE("broken JSON is an invalid format, with line and column") {
  struct Row {
    const char* text;
    std::uint64_t line;
    std::uint64_t column;
  };
  constexpr Row kRows[] = {
      {"", 1, 1},
      {"{\n  \"memory_config\": {\n    \"version\" \"1.0\"\n  }\n}", 3, 19},
      {"{\"memory_config\": {},\n}", 2, 1},
      {"\xEF\xBB\xBF{}", 1, 1},
      {"{}\n\n{}", 3, 1},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.text);
    const Error error = refused(row.text);
    CHECK(error.code == ErrorCode::E_INVALID_FORMAT);
    CHECK(error.path == "config.json");
    CHECK(error.line == row.line);
    CHECK(error.column == row.column);
    CHECK_FALSE(error.message.empty());
  }
}

TEST_CASE("settings that are no object are refused") {
  const Error outer = refused("[1]");
  CHECK(outer.code == ErrorCode::E_SCHEMA_INVALID);
  CHECK(outer.message == "must be an object, not an array");
  CHECK(outer.field.empty());
  const Error inner = refused(R"({"memory_config":"all"})");
  CHECK(inner.field == "memory_config");
  CHECK(inner.message == "must be an object, not \"all\"");
}

TEST_CASE("a root without settings has the defaults, and a disk error is no such root") {
  MemoryFileSystem disk;
  FaultyFileSystem files(disk);
  const LoadedConfig defaults = load_config(files).value();
  CHECK(defaults.warnings.empty());
  CHECK(defaults.config.concurrency.lock_timeout_ms == 5000);

  disk.write("config.json", with("concurrency.lock_timeout_ms", "250"));
  CHECK(load_config(files).value().config.concurrency.lock_timeout_ms == 250);
  files.fail({.operation = Operation::kReadAt, .error_number = EIO});
  CHECK(load_config(files).error().code == ErrorCode::E_STORAGE_IO);
  disk.write("config.json", with("concurrency.lock_timeout_ms", "-1"));
  CHECK(load_config(files).error().path == disk.display_path("config.json"));
  disk.write("config.json", std::string((1U << 20U) + 1, ' '));
  CHECK(load_config(files).error().code == ErrorCode::E_SIZE_LIMIT);
}

}  // namespace bmad_mem::test::config_test
