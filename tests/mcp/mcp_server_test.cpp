// The protocol with a service that has no memory behind it: what goes in, what comes out.
#include "mcp/mcp_server.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "bmad_mem/json.hpp"

namespace bmad_mem::test::mcp_server_test {
using namespace bmad_mem;       // NOLINT(google-build-using-namespace)
using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace)

namespace {

class Sent : public McpSink {
 public:
  void send(std::string_view message) override {
    const std::scoped_lock lock(mutex_);
    CHECK(message.find('\n') == std::string_view::npos);
    messages_.emplace_back(message);
  }
  std::vector<std::string> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(messages_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> messages_;
};

class Watching {
 public:
  Watching(std::vector<std::pair<std::string, McpOnChange>>& all, std::string uri)
      : all_(&all), uri_(std::move(uri)) {}
  ~Watching() {
    std::erase_if(*all_, [&](const auto& each) { return each.first == uri_; });
  }

 private:
  std::vector<std::pair<std::string, McpOnChange>>* all_;
  std::string uri_;
};

/// Two tools, three pages of resources, one prompt.
class FakeService : public McpService {
 public:
  FakeService()
      : McpService({.name = "fake", .title = "Fake", .version = "9", .instructions = "Hi"},
                   {.tools = true,
                    .resources = true,
                    .resources_list_changed = true,
                    .resources_subscribe = true,
                    .prompts = true,
                    .completions = true,
                    .logging = true}) {}

  std::function<void(McpCall&)> during_call;  ///< What the tool "work" does.
  std::vector<std::pair<std::string, McpOnChange>> watched;

  std::vector<std::string> list(std::string_view name) const override {
    if (name == "tools") {
      return {R"({"name":"echo","inputSchema":{"type":"object"}})"};
    }
    return name == "prompts" ? std::vector<std::string>{R"({"name":"p"})"}
                             : std::vector<std::string>();
  }
  McpAnswer<McpToolResult> call_tool(std::string_view name, JsonValue arguments,
                                     McpCall& call) override {
    if (name == "echo") {
      return McpToolResult{.text = std::string(arguments["text"].string())};
    }
    if (name == "fail") {
      return McpToolResult{.text = "mend it", .is_error = true};
    }
    if (name == "both") {
      return McpToolResult{.text = "t", .structured = R"({"n":1})"};
    }
    if (name == "work") {
      during_call(call);
      return McpToolResult{.text = "done"};
    }
    return McpService::call_tool(name, arguments, call);
  }
  McpAnswer<McpPage> resources(std::string_view cursor) override {
    if (cursor.empty()) {
      return McpPage{.items = {R"({"uri":"t://1","name":"1"})"}, .next_cursor = "p2"};
    }
    if (cursor == "p2") {
      return McpPage{.items = {R"({"uri":"t://2","name":"2"})"}};
    }
    return std::unexpected(McpError{McpError::Kind::kInvalidParams, "unknown cursor", {}});
  }
  McpAnswer<std::vector<McpResourceText>> read_resource(std::string_view uri,
                                                        McpCall& call) override {
    if (uri == "t://1") {
      return std::vector<McpResourceText>{{"t://1", "text/plain", "one"}};
    }
    return McpService::read_resource(uri, call);
  }
  McpAnswer<McpSubscription> subscribe(const std::string& uri, McpOnChange on_change) override {
    if (uri == "t://none") {
      return std::unexpected(McpError{McpError::Kind::kUnknownResource, "not there", {}});
    }
    watched.emplace_back(uri, std::move(on_change));
    return std::make_shared<Watching>(watched, uri);
  }
  McpSubscription subscribe_to_list(McpOnChange on_change) override {
    watched.emplace_back("list", std::move(on_change));
    return std::make_shared<Watching>(watched, "list");
  }
  McpAnswer<McpPromptResult> get_prompt(std::string_view name, JsonValue arguments,
                                        McpCall& call) override {
    if (name == "p") {
      return McpPromptResult{.messages = {std::string(arguments["a"].string())}};
    }
    return McpService::get_prompt(name, arguments, call);
  }
  McpAnswer<std::vector<std::string>> complete(const McpCompletionQuery& query) override {
    return std::vector<std::string>(150, std::string(query.value));
  }

  void change(const std::string& uri) {
    for (const auto& [each, on_change] : std::vector(watched)) {
      if (each == uri) {
        on_change();
      }
    }
  }
};

/// A connection: what is said to it, and what it has said since.
struct Connection {
  FakeService service;
  std::shared_ptr<Sent> sent = std::make_shared<Sent>();
  McpServer server{service, sent};

  std::vector<std::string> say(std::string_view message) {
    if (const McpServer::Task task = server.accept(message, sent)) {
      task();
    }
    return sent->take();
  }
  std::string ask(std::string_view message) {
    const std::vector<std::string> answers = say(message);
    REQUIRE(answers.size() == 1);
    return answers[0];
  }
};

/// A request of the modern era: `rest` are further members of params.
std::string modern(std::string_view id, std::string_view method, std::string_view rest = "",
                   std::string_view meta = "") {
  return std::string(R"({"jsonrpc":"2.0","id":)") + std::string(id) + R"(,"method":")" +
         std::string(method) + R"(","params":{"_meta":{)" +
         R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)" +
         R"("io.modelcontextprotocol/clientCapabilities":{})" + std::string(meta) + "}" +
         std::string(rest) + "}}";
}

constexpr std::string_view kInfo =
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fake","title":"Fake","version":"9"}})";

std::string modern_answer(std::string_view id, std::string_view members) {
  return std::string(R"({"jsonrpc":"2.0","id":)") + std::string(id) +
         R"(,"result":{"resultType":"complete",)" + std::string(members) +
         (members.empty() ? "" : ",") + std::string(kInfo) + "}}";
}

}  // namespace

TEST_CASE("requests of the legacy era and their answers") {
  struct Row {
    const char* name;
    std::string_view request;
    std::string_view answer;
  };
  static constexpr Row kRows[] = {
      {"handshake, known version",
       R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}})",
       R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{"listChanged":true,"subscribe":true},"prompts":{},"completions":{},"logging":{}},"serverInfo":{"name":"fake","title":"Fake","version":"9"},"instructions":"Hi"}})"},
      {"handshake without a version",
       R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{}})",
       R"({"jsonrpc":"2.0","id":0,"error":{"code":-32602,"message":"Invalid params: \"protocolVersion\" must be a string"}})"},
      {"ping, id a string", R"({"jsonrpc":"2.0","id":"a\"b","method":"ping"})",
       R"({"jsonrpc":"2.0","id":"a\"b","result":{}})"},
      {"tools", R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})",
       R"({"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}})"},
      {"a cursor where there is one page",
       R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})",
       R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: unknown cursor; this list has one page"}})"},
      {"tool",
       R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x\ny"}}})",
       R"({"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x\ny"}]}})"},
      {"tool that fails",
       R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fail"}})",
       R"({"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"mend it"}],"isError":true}})"},
      {"tool with structure",
       R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"both"}})",
       R"({"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"t"}],"structuredContent":{"n":1}}})"},
      {"unknown tool", R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"nope"}})",
       R"({"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Unknown tool: nope"}})"},
      {"tool without a name", R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}})",
       R"({"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params: \"name\" must be a string"}})"},
      {"arguments that are no object",
       R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":[]}})",
       R"({"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Invalid params: \"arguments\" must be an object"}})"},
      {"first page", R"({"jsonrpc":"2.0","id":3,"method":"resources/list","params":{}})",
       R"({"jsonrpc":"2.0","id":3,"result":{"resources":[{"uri":"t://1","name":"1"}],"nextCursor":"p2"}})"},
      {"last page",
       R"({"jsonrpc":"2.0","id":3,"method":"resources/list","params":{"cursor":"p2"}})",
       R"({"jsonrpc":"2.0","id":3,"result":{"resources":[{"uri":"t://2","name":"2"}]}})"},
      {"no such page",
       R"({"jsonrpc":"2.0","id":3,"method":"resources/list","params":{"cursor":"p9"}})",
       R"({"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"unknown cursor"}})"},
      {"resource", R"({"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"t://1"}})",
       R"({"jsonrpc":"2.0","id":4,"result":{"contents":[{"uri":"t://1","mimeType":"text/plain","text":"one"}]}})"},
      {"unknown resource",
       R"({"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"t://9"}})",
       R"({"jsonrpc":"2.0","id":4,"error":{"code":-32002,"message":"Resource not found: t://9","data":{"uri":"t://9"}}})"},
      {"prompt",
       R"({"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"p","arguments":{"a":"v"}}})",
       R"({"jsonrpc":"2.0","id":5,"result":{"messages":[{"role":"user","content":{"type":"text","text":"v"}}]}})"},
      {"prompt argument that is no string",
       R"({"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"p","arguments":{"a":1}}})",
       R"({"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Invalid params: argument \"a\" must be a string"}})"},
      {"unknown prompt", R"({"jsonrpc":"2.0","id":5,"method":"prompts/get","params":{"name":"q"}})",
       R"({"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Unknown prompt: q"}})"},
      {"bad level",
       R"({"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"loud"}})",
       R"({"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"Invalid params: \"level\" must be debug, info, notice, warning, error, critical, alert or emergency"}})"},
      {"unknown method", R"({"jsonrpc":"2.0","id":7,"method":"tools/delete"})",
       R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found: tools/delete"}})"},
      {"a modern method without its _meta",
       R"({"jsonrpc":"2.0","id":7,"method":"server/discover"})",
       R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Invalid params: _meta[\"io.modelcontextprotocol/protocolVersion\"] must be a string"}})"},
      {"broken", R"({"jsonrpc":)",
       R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error)"},
      {"batch", R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])",
       R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: batches are not supported; send one message a line"}})"},
      {"no object", "17",
       R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: a message is an object"}})"},
      {"id null", R"({"jsonrpc":"2.0","id":null,"method":"ping"})",
       R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: the id must be a string or an integer"}})"},
      {"id a fraction", R"({"jsonrpc":"2.0","id":1.5,"method":"ping"})",
       R"({"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: the id must be a string or an integer"}})"},
      {"other version of JSON-RPC", R"({"jsonrpc":"1.0","id":8,"method":"ping"})",
       R"({"jsonrpc":"2.0","id":8,"error":{"code":-32600,"message":"Invalid request: \"jsonrpc\" must be \"2.0\""}})"},
      {"no method", R"({"jsonrpc":"2.0","id":8})",
       R"({"jsonrpc":"2.0","id":8,"error":{"code":-32600,"message":"Invalid request: \"method\" must be a string"}})"},
      {"params that are no object", R"({"jsonrpc":"2.0","id":8,"method":"ping","params":[1]})",
       R"({"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"Invalid params: \"params\" and its \"_meta\" must be objects"}})"},
      {"what our parser refuses is answered by its id",
       R"({"jsonrpc":"2.0","id":"n","method":"ping","params":{"a":"\u0000"}})",
       R"({"jsonrpc":"2.0","id":"n","error":{"code":-32600,"message":"Invalid request: )"},
  };
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      Connection connection;
      const std::string answer = connection.ask(row.request);
      CHECK(answer.substr(0, row.answer.ends_with("}") ? answer.size() : row.answer.size()) ==
            row.answer);
    }
  }
}

TEST_CASE("requests of the modern era and their answers") {
  Connection connection;
  CHECK(
      connection.ask(modern("\"d1\"", "server/discover")) ==
      modern_answer(
          "\"d1\"",
          R"("supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{},"resources":{"listChanged":true,"subscribe":true},"prompts":{},"completions":{},"logging":{}},"instructions":"Hi","ttlMs":3600000,"cacheScope":"private")"));
  CHECK(connection.ask(modern("1", "tools/call", R"(,"name":"echo","arguments":{"text":"x"})")) ==
        modern_answer("1", R"("content":[{"type":"text","text":"x"}])"));
  CHECK(
      connection.ask(modern("2", "resources/read", R"(,"uri":"t://1")")) ==
      modern_answer(
          "2",
          R"("contents":[{"uri":"t://1","mimeType":"text/plain","text":"one"}],"ttlMs":0,"cacheScope":"private")"));
  CHECK(
      connection.ask(modern("3", "resources/read", R"(,"uri":"t://9")")) ==
      R"({"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Resource not found: t://9","data":{"uri":"t://9"}}})");
  SUBCASE("what was removed is unknown") {
    for (const char* method :
         {"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}) {
      CAPTURE(method);
      CHECK(connection.ask(modern("4", method)).find("-32601") != std::string::npos);
    }
  }
  SUBCASE("another version is refused, naming ours") {
    CHECK(
        connection.ask(
            R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01","io.modelcontextprotocol/clientCapabilities":{}}}})") ==
        R"({"jsonrpc":"2.0","id":5,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28","2025-11-25"],"requested":"1900-01-01"}}})");
  }
  SUBCASE("the client's capabilities are required") {
    const std::string answer = connection.ask(
        R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}})");
    CHECK(answer.find("-32602") != std::string::npos);
  }
  SUBCASE("initialize asks for the legacy era, whatever its _meta says") {
    const std::string answer =
        connection.ask(modern("6", "initialize", R"(,"protocolVersion":"2026-07-28")"));
    CHECK(answer.find(R"("protocolVersion":"2025-11-25")") != std::string::npos);
    CHECK(answer.find("resultType") == std::string::npos);
  }
}

TEST_CASE("what a service doesn't offer is an unknown method") {
  Connection connection;
  connection.service.capabilities = {.tools = true};
  for (const char* method : {"prompts/list", "resources/list", "logging/setLevel",
                             "completion/complete", "resources/subscribe"}) {
    CAPTURE(method);
    const std::string request =
        std::string(R"({"jsonrpc":"2.0","id":1,"method":")") + method + "\"}";
    CHECK(connection.ask(request).find("-32601") != std::string::npos);
  }
}

TEST_CASE("notifications and responses are never answered") {
  Connection connection;
  for (const char* message :
       {R"({"jsonrpc":"2.0","method":"notifications/initialized"})",
        R"({"jsonrpc":"2.0","method":"notifications/unheard-of","params":{"x":1}})",
        R"({"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}})",
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":7})",
        R"({"jsonrpc":"2.0","id":1,"result":{}})",
        R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}})"}) {
    CAPTURE(message);
    CHECK(connection.say(message).empty());
  }
}

TEST_CASE("a cancelled request is never answered, and its work hears of it") {
  Connection connection;
  constexpr std::string_view kWork =
      R"({"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"work","_meta":{"progressToken":1}}})";
  constexpr std::string_view kCancel =
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}})";
  SUBCASE("while it runs") {
    connection.service.during_call = [&](McpCall& call) {
      CHECK_FALSE(call.cancelled());
      connection.server.accept(kCancel, connection.sent);
      CHECK(call.cancelled());
      call.progress(1, 2, "late");
      call.log(McpLogLevel::kEmergency, "late");
    };
    CHECK(connection.say(kWork).empty());
  }
  SUBCASE("while it waits") {
    connection.service.during_call = [](McpCall& /*call*/) { FAIL("it ran"); };
    const McpServer::Task task = connection.server.accept(kWork, connection.sent);
    connection.server.accept(kCancel, connection.sent);
    task();
    CHECK(connection.sent->take().empty());
  }
  SUBCASE("its id may be used again") {
    const McpServer::Task task = connection.server.accept(kWork, connection.sent);
    connection.server.accept(kCancel, connection.sent);
    connection.service.during_call = [](McpCall& /*call*/) {};
    CHECK(connection.say(kWork).size() == 1);
    task();
    CHECK(connection.sent->take().empty());
  }
}

TEST_CASE("an id is refused while a request with it is worked on") {
  Connection connection;
  constexpr std::string_view kEcho =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}})";
  const McpServer::Task task = connection.server.accept(kEcho, connection.sent);
  CHECK(connection.ask(kEcho).find("-32600") != std::string::npos);
  task();
  CHECK(connection.sent->take().size() == 1);
  CHECK(connection.ask(kEcho).find("result") != std::string::npos);
}

TEST_CASE("progress is sent where it was asked for, and only while it grows") {
  Connection connection;
  connection.service.during_call = [](McpCall& call) {
    call.progress(1, 3, "one");
    call.progress(1, 3, "again");
    call.progress(2, std::nullopt, "");
  };
  const std::vector<std::string> sent = connection.say(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":"t"}}})");
  REQUIRE(sent.size() == 3);
  CHECK(
      sent[0] ==
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1.0,"total":3.0,"message":"one"}})");
  CHECK(
      sent[1] ==
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":2.0}})");
  CHECK(connection.say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work"}})")
            .size() == 1);
}

TEST_CASE("log messages come from the level that was asked for") {
  Connection connection;
  connection.service.during_call = [](McpCall& call) {
    call.log(McpLogLevel::kInfo, "i");
    call.log(McpLogLevel::kError, "e");
  };
  constexpr std::string_view kWork =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work"}})";
  SUBCASE("legacy: warnings, unless the connection says otherwise") {
    CHECK(connection.say(kWork).size() == 2);
    connection.ask(
        R"({"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}})");
    const std::vector<std::string> sent = connection.say(kWork);
    REQUIRE(sent.size() == 3);
    CHECK(
        sent[0] ==
        R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"bmad-mem","data":"i"}})");
  }
  SUBCASE("modern: as the request says, else none") {
    CHECK(connection.say(modern("1", "tools/call", R"(,"name":"work")")).size() == 1);
    CHECK(connection
              .say(modern("1", "tools/call", R"(,"name":"work")",
                          R"(,"io.modelcontextprotocol/logLevel":"error")"))
              .size() == 2);
    CHECK(connection
              .ask(modern("1", "tools/call", R"(,"name":"work")",
                          R"(,"io.modelcontextprotocol/logLevel":"loud")"))
              .find("-32602") != std::string::npos);
  }
}

TEST_CASE("legacy subscriptions tell of changes until they end") {
  Connection connection;
  constexpr std::string_view kUpdated =
      R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"t://1"}})";
  const std::string subscribe =
      R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"t://1"}})";
  CHECK(connection.ask(subscribe) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  CHECK(connection.ask(subscribe) == R"({"jsonrpc":"2.0","id":1,"result":{}})");
  connection.service.change("t://1");
  CHECK(connection.sent->take() == std::vector<std::string>{std::string(kUpdated)});
  connection.service.during_call = [](McpCall& call) {
    call.resource_updated("t://1");
    call.resource_updated("t://2");
  };
  const std::vector<std::string> sent =
      connection.say(R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work"}})");
  REQUIRE(sent.size() == 2);
  CHECK(sent[0] == kUpdated);
  connection.ask(
      R"({"jsonrpc":"2.0","id":3,"method":"resources/unsubscribe","params":{"uri":"t://1"}})");
  CHECK(connection.service.watched.empty());
  CHECK(
      connection
          .ask(
              R"({"jsonrpc":"2.0","id":4,"method":"resources/subscribe","params":{"uri":"t://none"}})")
          .find("-32002") != std::string::npos);
}

TEST_CASE("a modern stream is acknowledged first, tagged, and told when it ends") {
  Connection connection;
  const std::string tag = R"("_meta":{"io.modelcontextprotocol/subscriptionId":"listen:0"})";
  const std::vector<std::string> first = connection.say(modern(
      "\"listen:0\"", "subscriptions/listen",
      R"(,"notifications":{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["t://1","t://none",7]})"));
  REQUIRE(first.size() == 1);
  CHECK(
      first[0] ==
      R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{)" + tag +
          R"(,"notifications":{"resourcesListChanged":true,"resourceSubscriptions":["t://1"]}}})");
  connection.service.change("t://1");
  connection.service.change("list");
  const std::vector<std::string> changes = connection.sent->take();
  REQUIRE(changes.size() == 2);
  CHECK(changes[0] == R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{)" +
                          tag + R"(,"uri":"t://1"}})");
  CHECK(changes[1] ==
        R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{)" + tag +
            "}}");
  SUBCASE("the client ends it") {
    CHECK(
        connection
            .say(
                R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"listen:0"}})")
            .empty());
    CHECK(connection.service.watched.empty());
  }
  SUBCASE("the server ends it") {
    connection.server.close();
    CHECK(
        connection.sent->take() ==
        std::vector<std::string>{
            R"({"jsonrpc":"2.0","id":"listen:0","result":{"resultType":"complete",)" + tag + "}}"});
    CHECK(connection.service.watched.empty());
  }
  SUBCASE("its id is taken as long as it lasts") {
    CHECK(
        connection.ask(modern("\"listen:0\"", "tools/call", R"(,"name":"echo")")).find("-32600") !=
        std::string::npos);
  }
}

TEST_CASE("completion sends a hundred values and says how many there are") {
  Connection connection;
  const std::string answer = connection.ask(
      R"({"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"}}})");
  JsonParser parser;
  const Result<JsonValue> root = parser.parse(answer);
  REQUIRE(root);
  const JsonValue completion = (*root)["result"]["completion"];
  std::size_t count = 0;
  for (const JsonValue value : completion["values"].elements()) {
    count += value.string() == "v" ? 1 : 0;
  }
  CHECK(count == kMcpCompletionMax);
  CHECK(completion["total"].integer() == 150);
  CHECK(completion["hasMore"].boolean());
  for (const char* params :
       {R"({})", R"({"ref":{"type":"ref/none","name":"p"},"argument":{"name":"a","value":"v"}})",
        R"({"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a"}})"}) {
    CAPTURE(params);
    const std::string request =
        std::string(R"({"jsonrpc":"2.0","id":1,"method":"completion/complete","params":)") +
        params + "}";
    CHECK(connection.ask(request).find("-32602") != std::string::npos);
  }
}

}  // namespace bmad_mem::test::mcp_server_test
