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

}  // namespace bmad_mem::test
