// fuzz_stranger_seeds.cpp - seeds of the readers of files and messages. What clients really write
// comes from the fixtures.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "clients/client_facts.hpp"
#include "exchange/import/import_files.hpp"
#include "fuzz/fuzz_seeds.hpp"

namespace bmad_mem::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kFixtureMax = 24U << 10U;

struct Fixture {
  std::string folder;  ///< The first below that of all.
  std::string bytes;
};

/// The files below tests/cli/fixtures/NAME that are not too large, by path.
std::vector<Fixture> fixtures(const std::string& name) {
  const fs::path root = fs::path(BMAD_SOURCE_DIR) / "tests/cli/fixtures" / name;
  std::vector<fs::path> paths;
  for (const auto& file : fs::recursive_directory_iterator(root)) {
    if (file.is_regular_file() && file.file_size() < kFixtureMax &&
        !file.path().string().ends_with(".golden.json")) {
      paths.push_back(file.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<Fixture> found;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    found.push_back({.folder = fs::relative(path, root).begin()->string(),
                     .bytes = {std::istreambuf_iterator<char>(file), {}}});
  }
  return found;
}

/// Random bytes of this size, behind `first`.
std::string random_bytes(std::mt19937& random, std::string first, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    first += static_cast<char>(random() & 0xFFU);
  }
  return first;
}

}  // namespace

const std::vector<std::string>& config_seeds() {
  static const std::vector<std::string> seeds = {
      "",
      "{}",
      R"({"memory_config":{}})",
      R"({"memory_config":{"decay":{"model":"exponential","half_life_days":-1}}})",
      R"({"memory_config":{"storage":{"max_session_size_mb":1e308}}})",
      R"({"memory_config":{"privacy":{"allow":["rule=x"],"redaction":{"enabled":false,"patterns":[{"type":"x","regex":"("}],)"
      R"("replacement":"{rule}","personal":{"email":"keep"}}}}})",
      R"({"memory_config":{"knowledge":{"learn_rules":[{"match":".","category":"c","key":"k","value":"v","confidence":1}]}}})",
      R"({"memory_config":{"hub":{"service":"team","project":"p","auto":"off","stale_days":90}},"other":[1,2]})",
  };
  return seeds;
}

const std::vector<std::string>& manifest_seeds() {
  static const std::vector<std::string> seeds = {
      "{}",
      R"({"session_id":"s1","created_at":"2026-01-11T10:00:00Z","metadata":{"title":"two","tags":["a","b"],"x":{"y":[1]}}})",
      R"({"session_id":"s1","created_at":"2026-01-11T10:00:00Z","closed_at":"2026-01-12T10:00:00Z","statistics":{"total_facts":-1}})",
      R"({"session_id":"../x","created_at":"never","agents_involved":["a",1]})",
  };
  return seeds;
}

const std::vector<std::string>& encrypted_line_seeds() {
  static const std::vector<std::string> seeds = {
      "",
      std::string("\0\x40\0\x41", 4),
      std::string("\0\x05\x01\x01\0\x20\x02\x03", 8),
      R"({"id":"f1","sealed":"1.AAAA.BBBB"})",
      "bmad-mem-key-1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n# more\n",
  };
  return seeds;
}

const std::vector<std::string>& root_file_seeds() {
  static const std::vector<std::string> seeds = [] {
    std::vector<std::string> all;
    std::mt19937 random(7);
    for (int file = 0; file < 40; ++file) {
      const std::string pick(1, static_cast<char>(file));
      all.push_back(pick + '\0' + "{\"version\":1,\"id\":\"s1\"}");
      all.push_back(random_bytes(random, pick + '\1', 12));
      all.push_back(random_bytes(random, pick + '\2', 4));
    }
    return all;
  }();
  return seeds;
}

const std::vector<std::string>& feed_seeds() {
  static const std::vector<std::string> seeds = [] {
    std::vector<std::string> all = {""};
    std::mt19937 random(11);
    for (int i = 0; i < 30; ++i) {
      all.push_back(random_bytes(random, "", 6U * (1U + random() % 30U)));
    }
    return all;
  }();
  return seeds;
}

const std::vector<std::string>& http_seeds() {
  static const std::vector<std::string> seeds = {
      "\1GET /memory/search?q=a%20b&k=5 HTTP/1.1\r\nHost: localhost:4321\r\n\r\n",
      "\7GET /memory/export?format=jsonl HTTP/1.1\r\nHost: localhost:4321\r\nRange: "
      "bytes=0-\r\n\r\n",
      "\2POST /memory/record HTTP/1.1\r\nHost: localhost:4321\r\nContent-Type: application/json\r\n"
      "Content-Length: "
      "62\r\n\r\n{\"session\":\"s1\",\"type\":\"fact\",\"entry\":{\"content\":\"one fact\"}}",
      "\3POST /memory/sessions HTTP/1.1\r\nHost: localhost:4321\r\nTransfer-Encoding: "
      "chunked\r\n\r\n"
      "2\r\n{}\r\n0\r\n\r\n",
      "\4DELETE /memory/record/f1?purge=true HTTP/1.0\r\nHost: localhost:4321\r\n\r\n",
      "\5GET /memory/record/..%2f..%2fetc%00 HTTP/1.1\r\nHost: localhost:4321\r\n\r\n",
      "\6OPTIONS * HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 1\r\nContent-Length: "
      "2\r\n\r\n",
      "\1GET /memory/timeline?since=never&unit=day HTTP/1.1\r\nHost: localhost:4321\r\n\r\n",
      "\1GET /openapi.json HTTP/1.1\r\nHost: localhost:4321\r\n\r\n",
  };
  return seeds;
}

const std::vector<std::string>& mcp_seeds() {
  static const std::vector<std::string> seeds = {
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}})"
      "\n"
      R"({"jsonrpc":"2.0","method":"notifications/initialized"})"
      "\n"
      R"({"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"cursor":"1"}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"pool","limit":3}}})",
      R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_add","arguments":{"type":"fact","content":"x","tags":["a"]}}})",
      R"({"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"memory_remember","arguments":{"category":"constraint","key":"k","value":"v"}}})",
      R"({"jsonrpc":"2.0","id":5,"method":"resources/read","params":{"uri":"memory://sessions/s1"}})",
      R"({"jsonrpc":"2.0","id":6,"method":"resources/subscribe","params":{"uri":"memory://entries/f1"}})",
      R"({"jsonrpc":"2.0","id":7,"method":"prompts/get","params":{"name":"review","arguments":{}}})",
      R"({"jsonrpc":"2.0","id":8,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"session","value":"s"}}})",
      R"([{"jsonrpc":"2.0","id":9,"method":"ping"}])",
      R"({"jsonrpc":"2.0","id":10,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})",
  };
  return seeds;
}

const std::vector<std::string>& hook_seeds() {
  static const std::vector<std::string> seeds = [] {
    std::vector<std::string> all;
    for (const Fixture& fixture : fixtures("hooks")) {
      const auto names = cli::client_names(/*with_hooks=*/true);
      const auto client = std::ranges::find(names, fixture.folder);
      all.push_back(static_cast<char>(client == names.end() ? 0 : client - names.begin()) +
                    fixture.bytes);
    }
    return all;
  }();
  return seeds;
}

const std::vector<std::string>& import_seeds() {
  static const std::vector<std::string> seeds = [] {
    std::vector<std::string> all;
    const std::vector<Fixture> files = fixtures("import");
    for (std::size_t row = 0; row < cli::import_rows().size(); ++row) {
      const std::string format(1, static_cast<char>(row));
      const std::string_view name = cli::import_rows()[row].name;
      all.push_back(format + "\1" + "{\"id\":\"a\",\"role\":\"user\",\"content\":\"x\"}\n[{}]");
      for (const Fixture& file : files) {
        if (name == "auto" || file.folder == name) {
          all.push_back(format + (all.size() % 3 == 0 ? std::string(1, '\0') : "\1") + file.bytes);
        }
      }
    }
    return all;
  }();
  return seeds;
}

}  // namespace bmad_mem::test
