// server_file.hpp - how programs of this user find the server of a memory, and its token.
//
//   $XDG_RUNTIME_DIR/bmad-mem/       0700; else below $XDG_STATE_HOME or ~/.local/state
//     serve-1f38….json               {"pid":…,"port":…,"url":…,"root":…,"token_file":…,…}
//     serve-1f38….token              0600: the token and nothing else
//     serve-1f38….lock               locked as long as the server lives
//
// 1f38… stands for the real path of the memory's root. The lock says whether a server is there:
// files that one left behind when it was killed are replaced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {

/// A server as its file tells of it.
struct RunningServer {
  std::int64_t pid = 0;
  std::uint16_t port = 0;
  std::string token_file;
  std::string token;
  bool is_read_only = false;
};

/// A link that opens the pages of that server once. Errors: E_STORAGE_IO when it doesn't answer, or
/// refuses.
Result<std::string> ask_for_link(const RunningServer& server);

class ServerFile {
 public:
  /// Makes the folder and takes the lock. Errors: E_LOCK_TIMEOUT when a server of this memory is
  /// there: running() tells of it. E_ACCESS_DENIED when the folder is a link or somebody else's;
  /// E_STORAGE_IO.
  static Result<ServerFile> claim(const std::string& root);
  /// The server that holds the lock. Errors: E_LOCK_TIMEOUT when it doesn't say where it is, as one
  /// that is just starting, or ending.
  static Result<RunningServer> running(const std::string& root);

  ServerFile(ServerFile&&) noexcept = default;
  ServerFile& operator=(ServerFile&&) noexcept = default;

  /// Writes the files for a server at `port`.
  Status write(const std::string& root, std::uint16_t port, std::string_view token,
               bool is_read_only);
  /// A page that leads to `link` of the server of a memory, for the browser: the arguments of a
  /// program are no place for a code, since everybody can read them. Returns its path; the server
  /// takes it away.
  static Result<std::string> write_redirect(const std::string& root, const std::string& link);
  /// Takes the files away.
  void remove() const;

  [[nodiscard]] std::string token_file() const { return base_ + ".token"; }

 private:
  ServerFile(std::string base, Descriptor lock) : base_(std::move(base)), lock_(std::move(lock)) {}

  std::string base_;  // "…/serve-1f38…"
  Descriptor lock_;
};

}  // namespace bmad_mem::cli
