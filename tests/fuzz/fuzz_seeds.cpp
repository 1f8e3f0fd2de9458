#include "fuzz/fuzz_seeds.hpp"

#include <cstddef>

namespace bmad_mem::test {
namespace {

const std::string kFact =
    R"({"id":"f1","timestamp":"2026-01-11T10:00:00Z","content":"caf\u00e9 \"x\"","tags":["a"],)"
    R"("decay_factor":1.0})";

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

const std::vector<std::string>& json_seeds() {
  static const std::vector<std::string> seeds = {
      "",
      "{}",
      "null",
      "  7 ",
      kFact,
      nested(64),
      nested(65),
      "18446744073709551615",
      "18446744073709551616",
      "-9223372036854775808",
      "-9223372036854775809",
      "1e308",
      "1e400",
      "-0.0",
      "1E-400",
      R"("\ud83d\ude00")",
      R"("\ud83d")",
      R"("\u0000")",
      "\"\xED\xA0\x80\"",
      R"({"a":1,"a":2})",
      R"({"a":{"b":[1,2.5,"x",true,null,{}]},"c":"\\\/\b\f\n\r\t"})",
      "\xEF\xBB\xBF{}",
      std::string("{\"a\":\"\0\"}", 9),
  };
  return seeds;
}

const std::vector<std::string>& entry_seeds() {
  static const std::vector<std::string> seeds = [] {
    const std::string texts[] = {
        kFact,
        R"({"role":"user","content":"x","context":{"topic":"t"}})",
        R"({"decision":"x","alternatives_considered":[{"option":"y"}],"references":{"a":["b"]}})",
        R"({"description":"x","severity":"high","type":"finding"})",
        R"({"key":"k","value":{"a":[1,true]},"confidence":0.5})",
        R"({"kind":"k","metadata":{},"pinned":true,"source":{"kind":"user","trust":1}})",
        R"({"agent_id":"a","state":7,"unknown":1.00})",
        R"({"path":"p","title":"t"})",
    };
    std::vector<std::string> all;
    for (char type = 0; type < 8; ++type) {  // See fuzz_entry(): the first byte is the type.
      for (const std::string& text : texts) {
        all.push_back(type + text);
      }
    }
    return all;
  }();
  return seeds;
}

const std::vector<std::string>& rfc3339_seeds() {
  static const std::vector<std::string> seeds = {
      "2026-01-11T10:00:00Z",   "2026-01-11t10:00:00.123456789z",
      "2024-02-29T23:59:60Z",   "0000-01-01T00:00:00+23:59",
      "1969-12-31T23:59:59.5Z", "9999-12-31T23:59:59.999-23:59",
      "2026-1-11T10:00:00Z",    "2026-01-11 10:00:00Z",
  };
  return seeds;
}

const std::vector<std::string>& lines_seeds() {
  static const std::vector<std::string> seeds = {
      std::string("\x01\0a\nbb\n\nccc", 11),
      std::string("\xFF\x01one\ntwo\nthree", 15),
      std::string("\x02\x03\n\n\n\n\n", 7),
      "zz" + std::string(300'000, 'x') + "\n" + std::string(300'000, 'y'),
  };
  return seeds;
}

const std::vector<std::string>& log_seeds() {
  static const std::vector<std::string> seeds = {
      "",
      kFact + "\n",
      kFact,
      kFact + "\n" + kFact + "\r\n\n",
      "\xEF\xBB\xBF" + kFact + "\n",
      "<<<<<<< HEAD\n" + kFact + "\n=======\n" + kFact + "\n>>>>>>> b\n",
      "{}\n{}",
      std::string("\0\0\0\n\0", 5),
      "\xFF\xFE\n" + kFact + "\n{\"id\":\"f2\"",
  };
  return seeds;
}

const std::vector<std::string>& query_seeds() {
  static const std::vector<std::string> seeds = {
      "",
      "why postgres -mysql +ledger conn* serch~ \"connection pool\" -\"x y\"",
      "type:decision agent:\"a b\" tag:x topic:t session:s1 since:7d until:2026-01-11 is:pinned",
      "-type:fact -tag:\"a\\\"b\" a AND NOT b OR c",
      "on 7 May 2023, last week, in June, 3 days ago, Q3 2023, summer of 2022, past 24 hours",
      "2026-02-30 2023-05 31 April May 2023 7-May-2023 last Friday",
      "\\-x \\\"y C:\\Users --force -> += std::string http://x",
      "status:open -severity:low metadata.a:1 stauts:x note:y *.tmp - -O2 \"open why is it?",
      "caf\xC3\xA9* \xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E~ \xFF",
      R"({"text":"why","types":["decisions"],"time_range":{"start":"7d","end":"2026-01-11"},)"
      R"("tags":["a"],"agents":["b"],"sessions":["s1"],"min_relevance":0.5,"limit":0,)"
      R"("sort":"time_asc","weights":{"text":1,"time":0}})",
      R"({"text":7,"limit":-1})",
      std::string(4097, 'x'),
  };
  return seeds;
}

const std::vector<std::string>& analyzer_seeds() {
  static const std::vector<std::string> seeds = [] {
    const std::string texts[] = {
        "Don't use getUserById() in src/auth.ts, Caroline's PR #42",
        "HTTPServer2XX user_id v1.2.3 C++ C# a-b-c x--y E_LOCK_TIMEOUT \\server\\share",
        "https://example.org/a?b=c&d=%20 ann@example.org 10:30 2026-01-11T10:00:00Z",
        "l'arbre d'\xC3\xA9t\xC3\xA9 \xC3\x81RBOL Stra\xC3\x9F"
        "e \xC4\xB0stanbul",
        "\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xA7\xE3\x81\x99 \xE0\xB8\xA0\xE0\xB8\xB2",
        "\xF0\x9F\x98\x80 e\xCC\x81 \xEF\xAC\x81 \xEF\xBC\xA1 \xE2\x80\x99s "
        "\xD0\x9F\xD1\x80\xD0\xB8",
        std::string("a\0b \x7F \xED\xA0\x80 \xC3", 12),
        std::string(200, 'a') + "_" + std::string(70, 'b'),
    };
    std::vector<std::string> all;
    for (char language = 0; language < 6; ++language) {  // See fuzz_analyzer().
      for (const std::string& text : texts) {
        all.push_back(language + text);
      }
    }
    return all;
  }();
  return seeds;
}

const std::vector<std::string>& vectors_seeds() {
  static const std::vector<std::string> seeds = {
      "",
      "0{\"vector\":[1,2.5,-3e2]}\n",
      "1{\"vector\":[0,0]}\n\n{\"vector\":[1e38,1e38],\"x\":{}}\r\n",
      "0{\"vector\":[1e-45,3.5e38]}",
      R"(0{"data":[{"index":0,"embedding":[1,2]}]})",
      R"(1{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[0.5,-0.5]}]})",
      R"(1{"data":[{"embedding":[1]},{"embedding":[9223372036854775807,18446744073709551615]}]})",
      R"(0{"data":[{"index":-1,"embedding":[1]}]})",
      R"(0{"encoder":"0000000000000001","dimension":64,"failures":2,"failed_at":-1,"problem":"x"})",
      R"(0{"encoder":"0000000000000001","dimension":-5,"failures":99,"failed_at":9e18})",
      "0http://127.0.0.1:11434/v1/embeddings?a=b",
      "0http://[::1]:80/",
      "0http://localhost",
      "0http://192.168.1.1@127.0.0.1:1",
  };
  return seeds;
}

const std::vector<std::string>& encoder_seeds() {
  static const std::vector<std::string> seeds = {
      "\x02the dog is doing well",
      "\x02 \t\n  \xE2\x96\x81",
      "\x02\xEF\xAC\x81 \xE2\x91\xA4 e\xCC\x81\xCC\x81 \xE1\x84\x80\xE1\x85\xA1",
      "\x02\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 \xE7\x94\xA8 \xFF\xC3\x28",
      "\x02" + std::string(700, 'b'),
      std::string("\0\1\0\1\1", 5),                // A bit, and not the hash.
      std::string("\1\0\x0C\0\7", 5),              // Another number of pieces.
      std::string("\1\1\0\4\0", 5),                // Cut.
      std::string("\1\0\x90\2\x40", 5),            // Parts that begin elsewhere.
      std::string("\1\1\x40\0\x7F\1\x80\0\1", 9),  // Pieces out of order.
  };
  return seeds;
}

const std::vector<std::string>& root_index_seeds() {
  static const std::vector<std::string> seeds = [] {
    std::vector<std::string> all = {"", std::string("\0", 1), "\1"};
    for (unsigned where = 0; where < 2400; where += 37) {  // See changed_bytes().
      const char high = static_cast<char>(where / 256);
      const char low = static_cast<char>(where % 256);
      for (const char mode : {'\0', '\1'}) {
        all.push_back(
            {mode, high, low, static_cast<char>(where % 5), static_cast<char>(where % 251)});
      }
    }
    return all;
  }();
  return seeds;
}

}  // namespace bmad_mem::test
