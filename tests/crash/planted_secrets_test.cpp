// planted_secrets_test.cpp - a hundred secrets go in by every door, and no system call writes one.
//
//   100 secrets ─► add, import, session new, compact, redact, killed half-way ─► every write, every
//   name of a file, stderr, every file that is left: none of them
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "crash_table.hpp"
#include "privacy/rule_examples.hpp"
#include "privacy/secret_rule.hpp"
#include "syscall_tracer.hpp"

namespace bmad_mem::planted_secrets_test {
namespace {

constexpr std::size_t kSecretCount = 100;

/// A secret, and a text in which it stands as people write it.
struct Planted {
  std::string secret;
  std::string text;
};

std::vector<Planted> make_secrets() {
  std::vector<Planted> all;
  for (int i = 0; i < 10; ++i) {  // Passwords, which only their names give away.
    const std::string secret = "vR7#kk2pQz" + std::to_string(i);
    all.push_back({secret, "DB_PASSWORD=" + secret});
  }
  const auto examples = test::read_rule_examples();
  for (const SecretRule& rule : secret_rules()) {
    const std::string& text = examples.find(rule.id)->second.finds.front();
    const bool is_one_word = text.find_first_of(" \"'<>=&;,") == std::string::npos;
    if (all.size() < kSecretCount && rule.kind == RuleKind::kToken && is_one_word) {
      all.push_back({text, text});
    }
  }
  return all;
}

/// An entry that holds `text` in one of its places.
std::string entry_with(std::size_t number, const std::string& text) {
  const std::string quoted = json_quoted(text);
  const std::string places[] = {
      R"("content":)" + json_quoted("see " + text + " there"),
      R"("content":"x","tags":["a",)" + quoted + "]",
      R"("content":"x","metadata":{"tool":{"arguments":["-k",)" + quoted + "]}}",
      R"("content":"x","metadata":{)" + quoted + ":1}",
      R"("content":"x","topic":)" + quoted,
      R"("content":)" + json_quoted("{\"nested\":" + quoted + "}"),
      R"("content":"x","agent_id":)" + quoted,
      R"("content":"x","references":{"decisions":["d-1",)" + quoted + "]}",
  };
  return R"({"role":"user",)" + places[number % std::size(places)] + "}\n";
}

std::string entries_with(const std::vector<Planted>& secrets) {
  std::string lines;
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    lines += entry_with(i, secrets[i].text);
  }
  return lines;
}

class Search {
 public:
  explicit Search(const std::vector<Planted>& secrets) : secrets_(secrets) {}

  void look(std::string_view what, std::string_view bytes) const {
    for (const Planted& each : secrets_) {
      CHECK_MESSAGE(!bytes.contains(each.secret), each.secret.substr(0, 8)
                                                      << "… was found in " << what);
    }
  }

  void look(const TraceOutcome& outcome) const {
    for (const TracePoint& point : outcome.points) {
      look("the name of a file", point.path);
      look("the new name of a file", point.path_to);
      look(point.call + " to " + point.path, point.bytes);
    }
    look("stdout", outcome.process.out);
    look("stderr", outcome.process.err);
  }

  void look(const CrashStore& store) const {
    for (const auto& [path, bytes] : store.tree()) {
      look("the name of a file", path);
      look(path, bytes);
    }
  }

 private:
  const std::vector<Planted>& secrets_;
};

}  // namespace

TEST_CASE("no system call writes one of a hundred secrets") {
  const std::vector<Planted> secrets = make_secrets();
  REQUIRE(secrets.size() == kSecretCount);
  const Search search(secrets);
  CrashStore store(binary_under_test());
  prepare_two_sessions(store);
  const SyscallTracer tracer(store.folder());
  const std::string lines = entries_with(secrets);
  write_file(store.folder() / "conversation.jsonl", lines);

  struct Door {
    std::vector<std::string> arguments;
    std::string input;
    bool is_open = true;
  };
  const Door doors[] = {
      {{"add", "conversation", "--session", "$S", "-"}, lines},
      {{"import", "--session", "$T", "$D/conversation.jsonl"}, ""},
      {{"session", "new", "--user", secrets[20].text, "--tag", secrets[21].text, "--project",
        secrets[22].text},
       ""},
      {{"add", "decision", "--session", "$S", "--agent-id", secrets[23].text, "--decision",
        secrets[24].text, "--rationale", secrets[3].text},
       ""},
      {{"get", "--session", "$S", secrets[25].text}, "", false},
      {{"add", "conversation", "--session", "$S", "-"},
       R"({"role":)" + json_quoted(secrets[26].text) + "}\n",
       false},
      {{"compact", "--session", "$S", "--keep", "30"}, ""},
      {{"redact", "--session", "$S"}, ""},
      {{"session", "archive", "$S"}, ""},
      {{"session", "restore", "$S"}, ""},
  };
  for (const Door& door : doors) {
    CAPTURE(door.arguments[0]);
    const TraceOutcome outcome = tracer.run(store.command(door.arguments, door.input), {});
    CHECK_MESSAGE(outcome.process.succeeded() == door.is_open, outcome.process.err);
    search.look(outcome);
    search.look(store);
  }
  CHECK(store.must({"list", "--json", "--limit", "0"}).contains("[REDACTED:"));
}

TEST_CASE("nor does a process that is killed, or the one that mends what it left") {
  const std::vector<Planted> secrets = make_secrets();
  const Search search(secrets);
  CrashStore store(binary_under_test());
  prepare_two_sessions(store);
  store.keep_as_template();
  const SyscallTracer tracer(store.folder());
  const ChildCommand add =
      store.command({"add", "conversation", "--session", "$S", "-"}, entries_with(secrets));
  const std::size_t points = count_points(tracer.run(add, {}).points, kChanges);
  REQUIRE(points > 0);
  for (std::size_t point = 1; point <= points; ++point) {
    for (const FaultAction action : {FaultAction::kKillBefore, FaultAction::kTear}) {
      store.reset();
      search.look(tracer.run(add, {.action = action, .point = point}));
      search.look(store);
      search.look(tracer.run(store.command({"repair"}), {}));
      search.look(tracer.run(store.command({"add", "fact", "--session", "$S", "It rains"}), {}));
      search.look(store);
    }
  }
}

}  // namespace bmad_mem::planted_secrets_test
