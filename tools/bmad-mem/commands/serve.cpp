// serve - the memory in a browser, and as an HTTP API for programs of this machine.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "bmad_mem/text.hpp"
#include "cli/output.hpp"
#include "cli/program.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"
#include "http/app.hpp"
#include "http/guard.hpp"
#include "http/http_server.hpp"
#include "http/pages.hpp"
#include "http/server_file.hpp"
#include "mcp/memory_service.hpp"

namespace bmad_mem::cli {
namespace {

/// How long another server may take to start or to end.
constexpr std::chrono::seconds kPatience{3};
constexpr std::chrono::milliseconds kLookAgain{50};

/// Makes the sample memory in `folder`, and returns its root.
Result<std::string> made_sample(const std::string& folder) {
  std::string root = folder + "/.bmad/memory";
  for (const PageFile& file : sample_files()) {
    const std::string path = root + std::string(file.path);
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
    if (folder.empty() || !write_copy(path, file.content)) {
      return file_error("write the sample memory", path, errno);
    }
  }
  return root;
}

/// How people look at the memory. `scratch` takes the sample memory.
Result<OpenOptions> read_options(const Tool& tool, std::optional<ScratchFolder>& scratch) {
  const Arguments& args = tool.args();
  const bool is_sample = args.has("sample");
  BMAD_TRY_ASSIGN(std::string root,
                  is_sample ? made_sample(scratch.emplace().path()) : tool.find_root());
  // People look at what agents remember; that must not change how it is ranked.
  OpenOptions options{.root = std::move(root),
                      .user_root = is_sample ? std::string() : tool.user_root(),
                      .working_directory = is_sample ? std::string() : working_directory(),
                      .agent_id = std::string(tool.agent_id()),
                      .state_folder = trusting_folder(),
                      .writes_as = Origin::kAgent,
                      .encryption_key = encryption_key_here(),
                      .note_accesses = false,
                      .watch_folders = true};
  BMAD_TRY_ASSIGN(options.access, tool.access());
  if (args.has("read-only")) {
    if (!options.access) {
      options.access.emplace().read.fill(true);
    }
    options.access->write.fill(false);
    options.access->given_by = "--read-only";
  }
  return options;
}

/// Whether the link may be printed: whoever opens it speaks as the user. In an agent's shell only
/// when somebody says so at the terminal.
bool may_print_link(Tool& tool) {
  return tool.agent_sign().empty() ||
         (!tool.args().has("open") &&
          check_is_person(tool, "print the link that opens the memory as you?").has_value());
}

/// Shows the link in a browser.
void open_browser(Tool& tool, const std::string& root, const std::string& link) {
  const Result<std::string> page = ServerFile::write_redirect(root, link);
  std::string program(environment("BROWSER"));
  program = program.empty() ? "xdg-open" : program;
  if (!page || !start_program({program, "file://" + *page})) {
    describe(tool, "no_browser", "program", program, "problem",
             page ? std::string() : page.error().to_string());
  }
}

void print_served(Tool& tool, const std::string& root, const std::string& link,
                  const RunningServer& server) {
  const std::string url = fmt::format("http://127.0.0.1:{}", server.port);
  const bool with_link = may_print_link(tool);
  show(tool, "served",
       object_of("url", url, "link", only_if(with_link, link), "port", server.port, "token_file",
                 if_some(server.token_file), "root", root, "pid", server.pid, "token",
                 only_if(tool.args().has("print-token"), server.token)),
       "agent", with_link || tool.args().has("open") ? "" : tool.agent_sign());
  static_cast<void>(tool.out().flush());
  if (tool.args().has("open")) {
    open_browser(tool, root, link);
  }
}

/// Refuses when the server that is there is another one than was asked for.
Status check_running(const Tool& tool, const RunningServer& server, std::uint16_t port) {
  std::string_view wrong;
  if (port != 0 && port != server.port) {
    wrong = "--port";
  } else if (tool.args().has("read-only") && !server.is_read_only) {
    wrong = "--read-only";
  } else {
    wrong = tool.args().has("workflow") ? "--workflow" : tool.args().has("tools") ? "--tools" : "";
  }
  if (wrong.empty()) {
    return {};
  }
  return Error{.code = ErrorCode::E_LOCK_TIMEOUT,
               .message = fmt::format("process {0} serves this memory already, at port {1}{2}; end "
                                      "it first (kill {0}), or leave {3} out",
                                      server.pid, server.port,
                                      server.is_read_only ? " and to look only" : "", wrong)};
}

/// What leaves descriptors for the logs where the process may have few.
HttpServerOptions server_options(std::uint16_t port) {
  HttpServerOptions options{.port = port};
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const auto share = static_cast<std::size_t>(limit.rlim_cur / 4);
    options.connections_max = std::clamp(share, std::size_t{8}, options.connections_max);
    options.streams_max = std::clamp(share, std::size_t{8}, options.streams_max);
  }
  return options;
}

Result<ExitStatus> serve(Tool& tool, MemoryManager& memory, MemoryService& agents,
                         std::uint16_t port, std::optional<ServerFile> file) {
  Access access;
  const std::unique_ptr<HttpHandler> app = make_app(memory, agents.users(), agents, access);
  BMAD_TRY_ASSIGN(const std::unique_ptr<HttpServer> server,
                  HttpServer::open(*app, server_options(port)));
  RunningServer served{.pid = ::getpid(),
                       .port = server->port,
                       .token_file = {},
                       .token = std::string(access.token())};
  if (file) {
    BMAD_TRY(
        file->write(memory.root(), server->port, access.token(), tool.args().has("read-only")));
    served.token_file = file->token_file();
  }
  print_served(tool, memory.root(),
               one_time_link(access, server->port, std::chrono::steady_clock::now()), served);
  const bool has_ended = server->run();
  if (file) {
    file->remove();
  }
  if (!has_ended) {
    // Something takes long, such as a compaction. What is acknowledged is durable, and what is not
    // may be lost.
    static_cast<void>(tool.finish(ExitStatus::kDone));
    ::_exit(0);
  }
  return ExitStatus::kDone;
}

}  // namespace

Result<ExitStatus> run_serve(Tool& tool) {
  const auto port = number_in<std::uint16_t>(tool.args().maybe("port").value_or("0"));
  if (!port) {
    return tool.wrong_usage(
        fmt::format("--port takes a number up to 65535, not '{}'", tool.args().value("port")));
  }
  std::optional<ScratchFolder> scratch;  // Outlives the memory.
  BMAD_TRY_ASSIGN(OpenOptions options, read_options(tool, scratch));
  const MemoryPlace place{.explicit_root = options.root,
                          .directory = options.working_directory,
                          .user_root = options.user_root,
                          .agent_id = options.agent_id,
                          .access = options.access,
                          .read_only = tool.args().has("read-only")};
  BMAD_TRY_ASSIGN(MemoryManager memory, MemoryManager::open(std::move(options)));
  MemoryService agents(place, {.project_name = project_name(memory.root())},
                       tool.args().value("tools") == "full");
  const auto warn = [&](const std::string& warning) { tool.note("warning: " + warning); };
  std::ranges::for_each(memory.config_warnings(), warn);
  std::ranges::for_each(rule_warnings(memory), warn);
  // One that is just starting doesn't say where it is, and one that is ending answers no more.
  const auto patience = std::chrono::steady_clock::now() + kPatience;
  Result<ServerFile> file = ServerFile::claim(memory.root());
  while (!file && file.error().code == ErrorCode::E_LOCK_TIMEOUT) {
    const Result<RunningServer> server = ServerFile::running(memory.root());
    const Result<std::string> link =
        server ? ask_for_link(*server) : Result<std::string>(server.error());
    if (link) {
      BMAD_TRY(check_running(tool, *server, *port));
      tool.note(fmt::format("process {} serves this memory already", server->pid));
      print_served(tool, memory.root(), *link, *server);  // All it takes is a link.
      return ExitStatus::kDone;
    }
    if (std::chrono::steady_clock::now() > patience) {
      return link.error();
    }
    std::this_thread::sleep_for(kLookAgain);
    file = ServerFile::claim(memory.root());
  }
  if (file) {
    return serve(tool, memory, agents, *port, *std::move(file));
  }
  tool.note(fmt::format("the token is kept nowhere, so programs get it with --print-token only: {}",
                        file.error().to_string()));
  return serve(tool, memory, agents, *port, std::nullopt);
}

}  // namespace bmad_mem::cli
