#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/document_elements.hpp"
#include "exchange/import/format_table.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/importer.hpp"

namespace bmad_mem::cli::import_parts_test {
namespace {

/// A file that goes away with the test.
class TextFile {
 public:
  explicit TextFile(std::string_view text) {
    const int descriptor = ::mkstemp(path_.data());
    REQUIRE(descriptor >= 0);
    REQUIRE(::write(descriptor, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    static_cast<void>(::close(descriptor));
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { static_cast<void>(std::remove(path_.c_str())); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_ = "/tmp/bmad-document-XXXXXX";
};

/// "key=text" for each element, and what became of the end.
std::string elements_of(std::string_view document) {
  const TextFile text(document);
  Result<FileLines> file = FileLines::open(text.path());
  REQUIRE(file);
  DocumentElements elements(*file, "items");
  DocumentElement element;
  std::string out;
  while (true) {
    const Result<bool> more = elements.next(element);
    if (!more) {
      return out + "error";
    }
    if (!*more) {
      return out + (elements.was_cut() ? "cut" : "end");
    }
    out += element.key.empty() ? "" : element.key + "=";
    out += element.too_long ? "too long" : std::string(element.text);
    out += ' ';
  }
}

TEST_CASE("a document is given element by element") {
  struct Row {
    std::string_view document;
    std::string_view elements;
  };
  static constexpr Row kRows[] = {
      {"[]", "end"},
      {"{}", "end"},
      {"", "end"},
      {"[1,\"a,]\",{\"b\":[2]},[3], null ]", "1 \"a,]\" {\"b\":[2]} [3] null end"},
      {"\xEF\xBB\xBF [ {} ]\n", "{} end"},
      {R"({"id":"x","items":[{"a":1},{"b":2}],"n":3})", R"(id="x" {"a":1} {"b":2} n=3 end)"},
      {R"({"other":[1,2],"items":"none"})", R"(other=[1,2] items="none" end)"},
      {R"(["a\"]","\\",{"k\"":"}"}])", R"("a\"]" "\\" {"k\"":"}"} end)"},
      {"[1,{\"a\":2", "1 {\"a\":2 cut"},
      {"[1,2", "1 2 cut"},
      {"[1", "1 cut"},
      {"text", "error"},
      {"[1] [2]", "1 end"},
      {"[}]", "end"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.document);
    CHECK(elements_of(row.document) == row.elements);
  }
}

TEST_CASE("an element may lie in any number of chunks, and one that is too long is left out") {
  const std::string text(std::size_t{700} * 1024, 'x');
  const std::string quoted = '"' + text + '"';
  CHECK(elements_of("[1," + quoted + ",2]") == "1 " + quoted + " 2 end");
  const std::string huge(DocumentElements::kSizeMax + 1, 'x');
  CHECK(elements_of("[1,\"" + huge + "\",2]") == "1 too long 2 end");
}

TEST_CASE("a line of a note is an observation, a relation or prose") {
  struct Row {
    std::string_view line;
    std::string_view observation;  ///< category|text|tags|context
    std::string_view relation;     ///< type|target
  };
  static constexpr Row kRows[] = {
      {"- [tech] Stores UTC #time #x-y (since May)", "tech|Stores UTC|time,x-y,|since May", ""},
      {"  * [a b] One  two", "a b|One two||", ""},
      {"- [tech] A #! is no tag (nor #1.", "tech|A #! is no tag (nor #1.||", ""},
      {"- [ ] to do", "", ""},
      {"- [x] done", "", ""},
      {"- [text](https://example.org)", "", ""},
      {"- [tech]", "", ""},
      {"- [tech] #only-a-tag", "", ""},
      {"[tech] no list", "", ""},
      {"- requires [[Harbour light]]", "", "requires|Harbour light"},
      {"- \"is part of\" [[Fleet|the fleet]] (loosely)", "", "is part of|Fleet"},
      {"- [[Crew]]", "", "links_to|Crew"},
      {"- a sentence about [[Ann]]", "", ""},
      {"- see [[Ann]] and others", "", ""},
      {"- broken [[Ann", "", ""},
      {"- empty [[ ]]", "", ""},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.line);
    std::string observation;
    if (const auto read = read_note_observation(row.line)) {
      observation = read->category + "|" + read->text + "|";
      for (const std::string& tag : read->tags) {
        observation += tag + ",";
      }
      observation += "|" + read->context;
    }
    CHECK(observation == row.observation);
    const auto relation = read_note_relation(row.line);
    CHECK((relation ? relation->type + "|" + relation->target : "") == row.relation);
  }
  CHECK(read_note_links("a [[B]] c [[D|e]] [[ ]] [[F").size() == 2);
}

TEST_CASE("front matter is read with its mappings and lists") {
  const FrontMatter note = read_front_matter(
      "---\r\ntitle: \"A: b\"\ntags:\n  - x\n  - y\nmetadata:\n  type: user\nempty:\n---\nbody\n");
  CHECK(note.text("title") == "A: b");
  CHECK(note.values.at("tags") == std::vector<std::string>{"x", "y"});
  CHECK(note.text("metadata.type") == "user");
  CHECK(note.text("missing").empty());
  CHECK(note.body == "body\n");
  CHECK(note.body_line == 10);
  for (const char* text : {"no front matter", "---\nnever closed\n", "---\na: [\n---\nbody\n",
                           "---\na: &x 1\nb: *x\n---\nbody\n", ""}) {
    CAPTURE(text);
    CHECK(read_front_matter(text).values.empty());
    CHECK(read_front_matter(text).body == text);
  }
}

TEST_CASE("SHA-256 is that of the standard") {
  CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_hex(std::string(1000, 'a')) ==
        "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

TEST_CASE("a recent map forgets what was put in first") {
  RecentMap<int> map(2);
  map.set("a", 1);
  map.set("b", 2);
  map.set("a", 3);
  map.set("c", 4);
  CHECK(map.find("a") == nullptr);
  REQUIRE(map.find("b") != nullptr);
  CHECK(*map.find("b") == 2);
  CHECK(*map.find("c") == 4);
}

/// The members of a step, and of those in it, that no step has.
std::string unknown_members(JsonValue step) {
  static constexpr std::string_view kOfSteps[] = {
      "when",  "set",   "in",     "branch", "rows",  "with",         "only",    "group",
      "drop",  "texts", "text",   "join",   "label", "skip",         "message", "prompt",
      "flush", "call",  "result", "entry",  "all",   "skip_records", "first"};
  static constexpr std::string_view kOfMade[] = {
      "id",        "own_id", "time",   "text", "tool",   "path",    "join",  "failed", "typed",
      "sidechain", "salt",   "prefix", "type", "shared", "members", "grows", "keep"};
  std::string unknown;
  for (const JsonMember& member : step.members()) {
    if (!is_among(kOfSteps, member.key)) {
      unknown += std::string(member.key) + " ";
    }
    if (member.key == "texts" || member.key == "all" || member.key == "first") {
      for (const JsonValue inner : member.value.elements()) {
        unknown += unknown_members(inner);
      }
    } else if (member.value.is_object() && member.key != "set" && member.key != "rows") {
      for (const JsonMember& made : member.value.members()) {
        unknown += is_among(kOfMade, made.key) ? "" : std::string(made.key) + " ";
      }
    }
  }
  return unknown;
}

TEST_CASE("each word of the table of formats is one that is read, and each name one of its row") {
  static constexpr std::string_view kOfRows[] = {
      "name",    "title",          "places",   "files",    "source",
      "agent",   "recognise",      "document", "commands", "copies_have_new_ids",
      "changes", "same_elsewhere", "elements", "whole",    "prefix",
      "session", "names_projects", "thread",   "parents",  "tables",
      "records", "members",        "steps",    "beside"};
  JsonParser parser;
  const Result<JsonValue> table = parser.parse(formats_json());
  REQUIRE(table);
  std::size_t rows = 0;
  for (const JsonValue row : (*table)["format"].elements()) {
    CAPTURE(row["name"].string());
    ++rows;
    for (const JsonMember& member : row.members()) {
      CAPTURE(member.key);
      CHECK(is_among(kOfRows, member.key));
    }
    std::string unknown;
    for (const JsonValue step : row["records"].elements()) {
      unknown += unknown_members(step);
    }
    for (const JsonMember& steps : row["steps"].members()) {
      for (const JsonValue step : steps.value.elements()) {
        unknown += unknown_members(step);
      }
    }
    CHECK(unknown == "");
  }
  CHECK(rows == import_rows().size());
}

}  // namespace
}  // namespace bmad_mem::cli::import_parts_test
