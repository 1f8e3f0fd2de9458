// judged_values_test.cpp - what is named a secret once goes wherever it stands, in every form, and
// a common word only where it is named.
#include "privacy/judged_values.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/core.h>

#include "base/base64.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "privacy/innocent.hpp"
#include "privacy/redactor.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::judged_values_test {
namespace {

const Redactor& redactor() {
  static const Redactor kRedactor = std::move(Redactor::make({}).value());
  return kRedactor;
}

std::string redacted(std::string_view text) {
  RedactionTally tally;
  return redactor().redact(text, {}, tally).value_or(std::string(text));
}

std::string redacted_json(const std::string& json) {
  RedactionTally tally;
  JsonParser parser;
  return redactor().redact_json(*parser.parse(json), json, {}, tally).value_or(json);
}

/// Values as machines draw them.
class Drawn {
 public:
  std::string next(std::size_t size, bool with_signs) {
    constexpr std::string_view kLetters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    constexpr std::string_view kSigns = "!#$&*+-/=?@^_~";
    std::string value;
    do {
      value.clear();
      for (std::size_t i = 0; i < size; ++i) {
        const bool is_sign = with_signs && i % 4 == 2;
        const std::string_view from = is_sign ? kSigns : kLetters;
        value += from[random_() % from.size()];
      }
    } while (!why_common(value).empty());
    return value;
  }

 private:
  std::mt19937 random_{7};
};

std::string in_json(std::string_view value) {
  const std::string quoted = json_quoted(value);
  return quoted.substr(1, quoted.size() - 2);
}

std::string in_address(std::string_view value) {
  std::string out;
  for (const char c : value) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out +=
        is_alnum(c) ? std::string(1, c) : std::string{'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return out;
}

std::string in_shell(std::string_view value) {
  std::string out;
  for (const char c : value) {
    out += is_alnum(c) ? "" : "\\";
    out += c;
  }
  return out;
}

/// The forms in which a value stands elsewhere, with what may be around it.
std::vector<std::string> forms_of(const std::string& value) {
  return {"run it with " + value + " now",
          "x" + value + "y",
          R"(body {"a":")" + in_json(value) + R"("})",
          "curl 'https://h/?q=" + in_address(value) + "'",
          "printf %s " + in_shell(value),
          "blob " + base64_encoded("ann:" + value, Base64::kPadded),
          "blob " + base64_encoded(value, Base64::kUrl)};
}

/// Whether `text` shows `value`, in whatever form.
bool shows(std::string_view text, const std::string& value) {
  if (text.contains(value) || text.contains(in_json(value)) || text.contains(in_address(value)) ||
      text.contains(in_json(in_shell(value)))) {
    return true;
  }
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::size_t end = at;
    while (end < text.size() && is_base64_digit(text[end])) {
      ++end;
    }
    if (end > at && base64_decoded(text.substr(at, end - at)).value_or("").contains(value)) {
      return true;
    }
    at = end;
  }
  return false;
}

}  // namespace

TEST_CASE("a value that is named once stays nowhere in its text: 0 of 1,000 repeats") {
  Drawn drawn;
  int repeats = 0;
  for (int i = 0; repeats < 1000; ++i) {
    const std::string value = drawn.next(8 + static_cast<std::size_t>(i) % 25, i % 2 == 1);
    for (const std::string& form : forms_of(value)) {
      const std::string text = i % 3 == 0 ? fmt::format("{}\nDB_PASSWORD='{}'\n", form, value)
                                          : fmt::format("DB_PASSWORD='{}'\n{}\n", value, form);
      CAPTURE(text);
      CHECK_FALSE(shows(redacted(text), value));
      ++repeats;
    }
  }
}

TEST_CASE("however a value is named, it goes where it is repeated") {
  const std::string value = "Zx9kQ2vLmT7pQ81wVb";
  for (const std::string naming : {R"({"out":"DB_PASSWORD=V\n"})",
                                   R"({"out":"DB_PASSWORD=V\r\n"})",
                                   R"(['DB_PASSWORD=V\n', 'b'])",
                                   R"({"out":"DB_PASSWORD=V\nHOST=db\n"})",
                                   R"({"out":"{\"a\":\"DB_PASSWORD=V\\n\"}"})",
                                   R"({"out":"DB_PASSWORD=V\tb"})",
                                   R"({"out":"DB_PASSWORD=V\u001b[0m"})",
                                   R"({"out":"{\"db_password\":\"V\",\"b\":1}"})",
                                   R"({"out":"curl -H \"Authorization: Bearer V\"\n"})",
                                   "<code>DB_PASSWORD=V</code>",
                                   "DB_PASSWORD=V<br>",
                                   "DB_PASSWORD=V&user=ann",
                                   "DB_PASSWORD=V&#10;",
                                   "https://h/?password=V#top",
                                   "echo DB_PASSWORD=V>>.env",
                                   "export DB_PASSWORD=V; run",
                                   "DB_PASSWORD: V,",
                                   "| DB_PASSWORD | V |",
                                   "use `DB_PASSWORD=V` here",
                                   "docker run -e DB_PASSWORD=V \\",
                                   "Password is V."}) {
    CAPTURE(naming);
    std::string text = fmt::format("{}\nlater it is {} alone\n", naming, value);
    text.replace(naming.find('V'), 1, value);
    CHECK_FALSE(redacted(text).contains(value));
  }
}

TEST_CASE("a value that one member names goes from all members of an entry") {
  Drawn drawn;
  for (int i = 0; i < 20; ++i) {
    const std::string value = drawn.next(9 + static_cast<std::size_t>(i), i % 2 == 1);
    for (const std::string& form : forms_of(value)) {
      const std::string json = R"({"content":)" + json_quoted(form) +
                               R"(,"metadata":{"tool":["-x",)" + json_quoted(form) +
                               R"(],"db_password":)" + json_quoted(value) + "}}";
      CAPTURE(json);
      CHECK_FALSE(shows(redacted_json(json), value));
    }
  }
}

TEST_CASE("a value of seven bytes goes everywhere, and so does one of 16 KB") {
  Drawn drawn;
  const std::string small = "Zx9kQ2v";
  CHECK(redacted("DB_PASSWORD='" + small + "'; psql " + small) ==
        "DB_PASSWORD='[REDACTED:password]'; psql [REDACTED:repeated-secret]");
  const std::string large = drawn.next(16384, false);
  const std::string text = R"({"api_key": ")" + large + "\"}\nand " + large + " once more";
  CHECK_FALSE(redacted(text).contains(large.substr(8000, 100)));
}

TEST_CASE("what says nothing by itself goes only where it is named") {
  for (const std::string value : {"hunter2", "letmein", "Frankfurt2024", "production", "postgres14",
                                  "123456", "4711", "admin-panel", "2024-01-15", "node_modules"}) {
    CAPTURE(value);
    CHECK_FALSE(why_common(value).empty());
    const std::string text = redacted(fmt::format("password: {0}\nmentions {0} here", value));
    CHECK(text.ends_with("mentions " + value + " here"));
  }
  for (const std::string value :
       {"Zx9kQ2v", "vR7#kk2pQz", "48151623", "correct-horse-battery-staple",
        "550e8400-e29b-41d4-a716-446655440000", "tr0ub4dor&3"}) {
    CAPTURE(value);
    CHECK(why_common(value).empty());
  }
}

TEST_CASE("a number is found as a whole one only") {
  CHECK(redacted("PIN=48151623 then 48151623 and 9481516230") ==
        redacted("PIN=48151623 then ") + "[REDACTED:repeated-secret] and 9481516230");
}

TEST_CASE("our own placeholders stay, and one that somebody wrote around a value hides nothing") {
  const std::string once = redacted("DB_PASSWORD=vR7#kk2pQz9; also vR7#kk2pQz9");
  CHECK(redacted(once) == once);
  const std::string text = redacted("DB_PASSWORD=vR7#kk2pQz9 as [REDACTED:vR7#kk2pQz9]");
  CHECK(text == "DB_PASSWORD=[REDACTED:password] as [REDACTED:[REDACTED:repeated-secret]]");
  CHECK(redacted(text) == text);
  const std::string named = redacted("password: generic-secret\nx [REDACTED:generic-secret]");
  CHECK(named.ends_with("x [REDACTED:generic-secret]"));
}

TEST_CASE("what was judged is told apart by its key") {
  const JudgedValues ours({1});
  JudgedValues same({1});
  JudgedValues other({2});
  const std::vector<JudgedValues::Record> records = ours.records_of("Zx9kQ2vLmT7pQ81");
  same.add(records);
  other.add(records);
  CHECK(same.knows("Zx9kQ2vLmT7pQ81"));
  CHECK_FALSE(other.knows("Zx9kQ2vLmT7pQ81"));
  CHECK_FALSE(same.knows("Zx9kQ2vLmT7pQ8"));
}

TEST_CASE("many values that begin alike cost no more than so many") {
  JudgedValues values({1});
  for (int i = 0; i < 500; ++i) {
    values.add(values.records_of("abcdefg" + std::to_string(i) +
                                 std::string(static_cast<std::size_t>(i), 'x')));
  }
  std::string text;
  for (int i = 0; i < 20000; ++i) {
    text += "abcdefg";
  }
  Detections found;
  values.find(text, found);  // Ends soon: sixteen hashes a place at most.
  CHECK(found.empty());
}

namespace {

constexpr std::string_view kPassword = "Zx9kQ2vLmT7pQ81";

/// A memory whose state folder is a test's own, opened anew for each step as by another process.
class Judging : public MemoryFixture {
 public:
  Judging() {
    again();
    session();
  }

  void again() { REQUIRE(reopen({.state_folder = state()}).has_value()); }
  [[nodiscard]] std::string state() const { return folder.path() + "/state"; }

  /// The files of this name below the state folder.
  [[nodiscard]] std::vector<std::string> state_files(std::string_view name) const {
    std::vector<std::string> paths;
    std::error_code failed;
    for (const auto& each : std::filesystem::recursive_directory_iterator(state(), failed)) {
      if (each.path().filename() == name) {
        paths.push_back(each.path());
      }
    }
    return paths;
  }

  /// The text as the memory has it once it was added.
  std::string added(const std::string& text, const std::string& session_id = "s1") {
    add(EntryType::kFact, R"({"content":)" + json_quoted(text) + "}", session_id);
    const std::string log = read(EntryType::kFact, session_id);
    return log.substr(log.rfind('\n', log.size() - 2) + 1);
  }

  bool keeps(const std::string& session_id = "s1") {
    return added("psql with " + std::string(kPassword), session_id).contains(kPassword);
  }
};

}  // namespace

TEST_CASE("a value is known for the rest of its session, by other processes too") {
  Judging memory;
  CHECK(memory.keeps());
  CHECK(memory.state_files("judged").empty());
  memory.added("DB_PASSWORD=" + std::string(kPassword));
  CHECK_FALSE(memory.keeps());
  memory.again();
  CHECK_FALSE(memory.keeps());
  CHECK_FALSE(memory.added(base64_encoded("ann:" + std::string(kPassword), Base64::kPadded))
                  .contains(base64_encoded(kPassword, Base64::kPadded).substr(2, 14)));
  memory.session("s2");
  CHECK(memory.keeps("s2"));
}

TEST_CASE("what is kept of a value is a hash with a key, outside the project, for the user alone") {
  Judging memory;
  memory.added("DB_PASSWORD=" + std::string(kPassword));
  for (const char* name : {"judged", "judged.key"}) {
    REQUIRE(memory.state_files(name).size() == 1);
    struct stat about{};
    REQUIRE(::stat(memory.state_files(name).front().c_str(), &about) == 0);
    CHECK((about.st_mode & 077U) == 0);
    CHECK_FALSE(
        memory.folder.read(memory.state_files(name).front().substr(memory.folder.path().size() + 1))
            .contains(kPassword));
  }
  for (const auto& [name, bytes] : memory.files()) {
    CHECK_FALSE(bytes.contains(kPassword));
  }
}

TEST_CASE("when the key vanishes the session goes on, its values are forgotten, and that is said") {
  Judging memory;
  memory.added("DB_PASSWORD=" + std::string(kPassword));
  std::filesystem::remove(memory.state_files("judged.key").front());
  std::vector<Error> problems;
  const auto open = [&] {
    REQUIRE(memory
                .reopen({.state_folder = memory.state(),
                         .on_problem = [&](const Error& error) { problems.push_back(error); }})
                .has_value());
  };
  open();
  CHECK(memory.keeps());
  REQUIRE(problems.size() == 1);
  CHECK(problems.front().message.contains("forgotten"));
  memory.added("DB_PASSWORD=" + std::string(kPassword));
  open();
  CHECK_FALSE(memory.keeps());
  CHECK(problems.size() == 1);
}

TEST_CASE("a clock in the past and a damaged file change nothing for what comes") {
  Judging memory;
  memory.added("DB_PASSWORD=" + std::string(kPassword));
  const std::string file = memory.state_files("judged").front();
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::min());
  CHECK_FALSE(memory.keeps());
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 5);
  memory.again();
  memory.added("API_TOKEN=vR7kk2pQz9aB3dE5");
  CHECK_FALSE(memory.added("x vR7kk2pQz9aB3dE5").contains("vR7kk2pQz9aB3dE5"));
  std::filesystem::resize_file(file, 3);
  memory.again();
  CHECK(memory.keeps());
  memory.added("DB_PASSWORD=" + std::string(kPassword));
  CHECK_FALSE(memory.keeps());
}

TEST_CASE("thousands of values keep the file small, and the latest known") {
  Judging memory;
  Drawn drawn;
  std::string last;
  std::string lines;
  for (int i = 0; i < 3000; ++i) {
    last = drawn.next(20, false);
    lines += "DB_PASSWORD=" + last + "\n";
    if (i % 100 == 99) {
      memory.added(lines);
      lines.clear();
    }
  }
  CHECK(std::filesystem::file_size(memory.state_files("judged").front()) <= 16 * 8192);
  CHECK_FALSE(memory.added("x " + last).contains(last));
}

TEST_CASE("a later line of a batch names what an earlier one repeats") {
  Judging memory;
  const std::string first = R"({"content":"psql with )" + std::string(kPassword) + R"("})";
  const std::string second = R"({"content":"DB_PASSWORD=)" + std::string(kPassword) + R"("})";
  const std::string_view lines[] = {first, second};
  const BatchReport report = memory->add_batch("s1", EntryType::kFact, lines).value();
  CHECK(report.ids.size() == 2);
  CHECK(report.judged == 1);
  CHECK_FALSE(memory.read(EntryType::kFact).contains(kPassword));
}

TEST_CASE("a path of the project goes only where it is named") {
  Judging memory;
  memory.folder.write("deployKeys9Qx", "x");
  memory.added("DB_PASSWORD=deployKeys9Qx");
  CHECK(memory.added("see deployKeys9Qx").contains("see deployKeys9Qx"));
}

TEST_CASE("redact takes a value from what was written before it was named, in all sessions") {
  Judging memory;
  memory.session("s2");
  CHECK(memory.keeps());
  CHECK(memory.keeps("s2"));
  memory.added("DB_PASSWORD=" + std::string(kPassword), "s2");
  REQUIRE(memory->archive_session("s1").has_value());
  std::vector<TakenSecret> taken;
  const std::vector<RedactReport> would = memory->redact({}, true).value();
  for (const RedactReport& each : would) {
    taken.insert(taken.end(), each.taken.begin(), each.taken.end());
  }
  REQUIRE(taken.size() == 2);  // What was named is gone already.
  for (const TakenSecret& each : taken) {
    CHECK(each.rule == "repeated-secret");
    CHECK(each.masked == "Zx...");
    CHECK(each.bytes == kPassword.size());
  }
  CHECK(taken.back().path == "facts.jsonl");
  CHECK(taken.back().line == 1);
  CHECK(memory->redact({}, false).has_value());
  CHECK(memory->find_text(kPassword).value().empty());
}

TEST_CASE("redact names a value at the end of a memory, and takes it out at the begin") {
  Judging memory;
  memory.session("s2");
  memory.write(EntryType::kFact,
               MemoryFixture::fact("f1", "psql " + std::string(kPassword)) + "\n");
  memory.write(EntryType::kFact,
               MemoryFixture::fact("f2", "DB_PASSWORD=" + std::string(kPassword)) + "\n", "s2");
  CHECK(memory->redact({}, true).value().size() == 2);
  CHECK(memory.read(EntryType::kFact).contains(kPassword));
  CHECK(memory->redact({}, false).has_value());
  CHECK(memory->find_text(kPassword).value().empty());
  CHECK_FALSE(memory.keeps());  // Nor does it come back.
}

}  // namespace bmad_mem::test::judged_values_test
