// server_file.cpp - writes and reads the file that names the running server of a memory.
#include "http/server_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/results.hpp"
#include "cli/tool.hpp"
#include "exchange/files.hpp"
#include "exchange/ids.hpp"

namespace bmad_mem::cli {
namespace {

/// How long a server may take to answer.
constexpr std::chrono::seconds kPatience{5};
/// Of a file of ours, and of an answer.
constexpr std::size_t kFileSizeMax = std::size_t{64} << 10U;

/// The folder's place; empty when there is none.
std::string folder_path() {
  static constexpr FolderPlace kPlaces[] = {{"XDG_RUNTIME_DIR", "/bmad-mem"},
                                            {"XDG_STATE_HOME", "/bmad-mem"},
                                            {"HOME", "/.local/state/bmad-mem"}};
  return folder_of_environment(kPlaces);
}

/// Makes the folder and those above it.
void make_folders(const std::string& path) {
  for (std::size_t end = 0; end != std::string::npos;) {
    end = path.find('/', end + 1);
    ::mkdir(path.substr(0, end).c_str(), 0700);
  }
}

Result<std::string> open_folder() {
  std::string path = folder_path();
  if (path.empty()) {
    return Error{.code = ErrorCode::E_STORAGE_IO,
                 .message = "neither XDG_RUNTIME_DIR nor HOME names a folder for the token"};
  }
  make_folders(path);
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0) {
    return file_error("make the folder for the token", path, errno);
  }
  if (!S_ISDIR(about.st_mode) || about.st_uid != ::geteuid() || (about.st_mode & 077U) != 0) {
    return path_error(ErrorCode::E_ACCESS_DENIED, std::move(path),
                      "the folder for the token must be a folder of yours that no other user "
                      "can read (chmod 700)");
  }
  return path;
}

Result<std::string> base_of(const std::string& root) {
  BMAD_TRY_ASSIGN(const std::string folder, open_folder());
  const std::string real = real_path_of(root);
  return fmt::format("{}/serve-{}", folder, sha256_hex(real.empty() ? root : real).substr(0, 16));
}

/// The text of a small file of ours; empty when there is none.
std::string read_whole(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string out;
  return file.is_open() && read_bytes(file, kFileSizeMax, out) ? out : std::string();
}

std::optional<RunningServer> read_server(const std::string& base) {
  const ParsedJson value(read_whole(base + ".json"));
  if (!value) {
    return std::nullopt;
  }
  RunningServer out{.pid = (*value)["pid"].integer(),
                    .port = static_cast<std::uint16_t>((*value)["port"].integer()),
                    .token_file = base + ".token",
                    .token = std::string(trimmed(read_whole(base + ".token"))),
                    .is_read_only = (*value)["read_only"].boolean()};
  if (out.port == 0 || out.token.empty()) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

Result<ServerFile> ServerFile::claim(const std::string& root) {
  BMAD_TRY_ASSIGN(std::string base, base_of(root));
  const std::string path = base + ".lock";
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.is_open()) {
    return file_error("open", path, errno);
  }
  if (::flock(lock.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return file_error("lock", path, errno);
    }
    return path_error(ErrorCode::E_LOCK_TIMEOUT, path,
                      "a server of this memory is running already");
  }
  ServerFile file(std::move(base), std::move(lock));
  file.remove();  // What one that was killed has left.
  return file;
}

Result<RunningServer> ServerFile::running(const std::string& root) {
  BMAD_TRY_ASSIGN(const std::string base, base_of(root));
  if (std::optional<RunningServer> server = read_server(base)) {
    return *std::move(server);
  }
  return path_error(
      ErrorCode::E_LOCK_TIMEOUT, base + ".json",
      "a server of this memory seems to run, but does not say where; end it and start it again");
}

Status ServerFile::write(const std::string& root, std::uint16_t port, std::string_view token,
                         bool is_read_only) {
  BMAD_TRY(replace_file(token_file(), fmt::format("{}\n", token)));
  return replace_file(
      base_ + ".json",
      json_object("pid", ::getpid(), "port", port, "url", fmt::format("http://127.0.0.1:{}", port),
                  "root", root, "token_file", token_file(), "read_only", is_read_only, "started_at",
                  system_clock().now()) +
          "\n");
}

Result<std::string> ServerFile::write_redirect(const std::string& root, const std::string& link) {
  BMAD_TRY_ASSIGN(const std::string base, base_of(root));
  std::string path = base + "-open.html";
  BMAD_TRY(replace_file(path,
                        fmt::format("<!doctype html><meta charset=\"utf-8\"><title>bmad-mem</title>"
                                    "<meta http-equiv=\"refresh\" content=\"0; url={0}\">"
                                    "<a href=\"{0}\">bmad-mem</a>\n",
                                    link)));
  return path;
}

void ServerFile::remove() const {
  for (const char* end : {".json", ".token", "-open.html"}) {
    ::unlink((base_ + end).c_str());
  }
}

Result<std::string> ask_for_link(const RunningServer& server) {
  using boost::asio::ip::tcp;
  tcp::iostream talk;
  talk.expires_after(kPatience);
  talk.connect(tcp::endpoint(boost::asio::ip::address_v4::loopback(), server.port));
  talk << fmt::format(
              "POST /auth/link HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n"
              "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}",
              server.port, server.token)
       << std::flush;
  std::string answer(kFileSizeMax, '\0');
  talk.read(answer.data(), static_cast<std::streamsize>(answer.size()));
  answer.resize(static_cast<std::size_t>(talk.gcount()));
  const std::size_t body = answer.find("\r\n\r\n");
  if (answer.starts_with("HTTP/1.1 200 ") && body != std::string::npos) {
    const ParsedJson value(std::string_view(answer).substr(body + 4));
    if (value["url"].is_string()) {
      return std::string(value["url"].string());
    }
  }
  return Error{.code = ErrorCode::E_STORAGE_IO,
               .message = fmt::format("the server that runs for this memory (process {}) gives no "
                                      "link; end it and start it again",
                                      server.pid)};
}

}  // namespace bmad_mem::cli
