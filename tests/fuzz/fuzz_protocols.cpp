// fuzz_protocols.cpp - what clients and other programs say: requests, messages, payloads of hooks,
// and files to import.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/text.hpp"
#include "clients/client_facts.hpp"
#include "exchange/import/import_files.hpp"
#include "exchange/import/import_sink.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"
#include "hooks/hook_event.hpp"
#include "http/endpoint.hpp"
#include "http/request_reader.hpp"
#include "mcp/mcp_server.hpp"
#include "mcp/memory_service.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test {
namespace {

using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace): a test speaks its language.

constexpr std::size_t kBodyMax = 1U << 20U;

/// A memory that all inputs share, and what the tool keeps for its user.
struct Place {
  Place() {
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    ::setenv("XDG_STATE_HOME", folder.path("state").c_str(), 1);
    must(MemoryManager::init(folder.path("m")).has_value(), "a memory is made");
    memory = MemoryManager::open({.root = folder.path("m"), .note_accesses = false}).value();
    must(memory->create_session({.session_id = "s1"}).has_value(), "a session is made");
    folder.make_folder("in");
  }

  TemporaryDirectory folder;
  std::optional<MemoryManager> memory = {};
};

Place& place() {
  static Place the_place;
  return the_place;
}

bool is_json(std::string_view text) {
  JsonParser parser;
  return parser.parse(text).has_value();
}

/// What came of a request: itself, or the status that refuses it.
struct Heard {
  std::optional<HttpRequest> request = {};
  int status = 0;
  std::string text = {};
};

Heard hear(std::string_view bytes, std::size_t step) {
  RequestReader reader(RequestLimits(), 4321);
  using State = RequestReader::State;
  std::string waiting;
  while (reader.state() != State::kDone && reader.state() != State::kRefused) {
    if (reader.state() == State::kHeadDone) {
      reader.take_body(kBodyMax);
      continue;
    }
    const std::size_t used = reader.take(waiting);
    must(used <= waiting.size(), "no more is used than there is");
    waiting.erase(0, used);
    if (used == 0 && reader.state() != State::kHeadDone && reader.state() != State::kRefused) {
      if (bytes.empty()) {
        return {.text = "unfinished"};
      }
      waiting += bytes.substr(0, step);
      bytes.remove_prefix(std::min(bytes.size(), step));
    }
  }
  if (reader.state() == State::kRefused) {
    const HttpResponse refusal = reader.take_refusal();
    must(refusal.status >= 400 && refusal.status < 600, "a refusal has its status");
    return {.status = refusal.status, .text = std::to_string(refusal.status)};
  }
  HttpRequest request = reader.take_request();
  std::string text = request.method + " " + request.path + " " + request.body;
  return {.request = std::move(request), .text = std::move(text)};
}

class Answers final : public McpSink {
 public:
  void send(std::string_view message) override {
    must(message.find('\n') == std::string_view::npos && is_json(message), "a line of JSON",
         message);
  }
};

}  // namespace

void fuzz_http(std::string_view bytes) {
  const std::size_t step = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes[0]) % 64;
  const std::string_view rest = bytes.substr(bytes.empty() ? 0 : 1);
  const Heard whole = hear(rest, std::string_view::npos);
  const Heard parts = hear(rest, step);  // What is no request may be refused before it has ended.
  must(parts.text == whole.text || (!parts.request && !whole.request), "it is the same in pieces",
       parts.text);
  if (!whole.request || !is_api_path(whole.request->path)) {
    return;
  }
  ApiContext context{.memory = *place().memory};
  const HttpResponse response = answer_api(context, *whole.request);
  must(response.status >= 200 && response.status < 600, "an answer has a status");
  must(response.status != 500, "nothing breaks", response.body);
  must(response.content_type != "application/json" || is_json(response.body), "it is JSON");
}

void fuzz_mcp(std::string_view bytes) {
  MemoryService service({.explicit_root = place().folder.path("m")}, {});
  const auto sink = std::make_shared<Answers>();
  McpServer server(service, sink);
  while (!bytes.empty()) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    if (const McpServer::Task task = server.accept(line, sink)) {
      task();
    }
  }
  server.close();
}

void fuzz_hook(std::string_view bytes) {
  JsonParser parser;
  const Result<JsonValue> payload = parser.parse(bytes.substr(bytes.empty() ? 0 : 1));
  if (!payload || !payload->is_object()) {
    return;
  }
  const std::vector<std::string_view> names = client_names(/*with_hooks=*/true);
  const std::string_view client = names[static_cast<unsigned char>(bytes[0]) % names.size()];
  const HookEvent event = read_hook_event(*find_client(client), *payload);
  for (const std::string* text :
       {&event.session_id, &event.text, &event.tool.name, &event.tool.path, &event.tool.command,
        &event.tool.input, &event.tool.output, &event.agent, &event.turn}) {
    must(utf8_valid_size(*text) == text->size(), "texts are UTF-8");
  }
  must(event.tool.input.size() < 4096 && event.tool.output.size() < 4096, "snippets are short");
  const std::string answer = hook_answer(event, "what is known", "and shown");
  must(answer.empty() || event.answer == HookAnswer::kText || is_json(answer), "it is answered");
}

void fuzz_import(std::string_view bytes) {
  if (bytes.size() < 2) {
    return;
  }
  const std::span<const ImportRow> rows = import_rows();
  const ImportFormat format = &rows[static_cast<unsigned char>(bytes[0]) % rows.size()];
  const bool is_dry = static_cast<unsigned char>(bytes[1]) % 4 != 0;
  place().folder.write("in/given.jsonl", bytes.substr(2));
  MemoryManager& memory = *place().memory;
  ImportSink sink(
      is_dry ? nullptr : &memory,
      [](const Error& error) { must(!error.message.empty(), "a refusal has a reason"); }, &memory);
  const Status status =
      import_file({.path = place().folder.path("in/given.jsonl"), .size = bytes.size() - 2},
                  {.format = format}, sink, [](std::uint64_t) {});
  must(status || !status.error().message.empty(), "an error has a reason");
  const Status finished = sink.finish();
  must(finished || !finished.error().message.empty(), "so has that at the end");
}

}  // namespace bmad_mem::test
