// result.hpp - what every call that a user or a disk can make fail returns: a value or an Error.
//
//   Result<std::uint64_t> offset = log.append(lines, timeout);
//   if (!offset) {
//     report(offset.error());   // code, sentence, path, line, field
//   }
//
// Exceptions stay inside a room; past a public function go only std::bad_alloc and, where a thread
// can't be started, std::system_error. The outermost call makes an Error of them.
#pragma once

#include <cstdint>
#include <exception>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace bmad_mem {

/// The error codes of the specification, in its spelling: one grep finds enum, output and docs.
enum class ErrorCode : std::uint8_t {
  E_STORAGE_IO,
  E_STORAGE_FULL,
  E_STORAGE_CORRUPT,
  E_LOCK_TIMEOUT,
  E_CONCURRENT_MOD,
  E_INVALID_FORMAT,
  E_SCHEMA_INVALID,
  E_SIZE_LIMIT,
  E_SESSION_NOT_FOUND,
  E_SESSION_ARCHIVED,
  E_SESSION_CORRUPT,
  E_QUERY_TIMEOUT,
  E_INVALID_QUERY,
  E_ACCESS_DENIED,    ///< Ours: a workflow gives no right to it.
  E_RESOURCE_LIMIT,   ///< Ours: the process may have no more memory or threads.
  E_NEWER_VERSION,    ///< Ours: a newer bmad-mem wrote it.
  E_HUB_AWAY,         ///< Ours: the hub can't be reached, or does not answer in time.
  E_HUB_FULL,         ///< Ours: the hub has no room left.
  E_HUB_VERSION,      ///< Ours: the tables of the hub are of another version.
  E_ENTRY_NOT_FOUND,  ///< Ours: no entry has that id.
  E_HUB_NOT_FOUND,    ///< Ours: the memory has joined no hub.
  E_KEY_NOT_FOUND,    ///< Ours: no setting has that key.
};

/// How many codes there are; codes are 0 .. kErrorCodeCount - 1.
inline constexpr std::size_t kErrorCodeCount = 22;

/// The code as it is printed, such as "E_LOCK_TIMEOUT". Never empty; static storage.
std::string_view error_code_name(ErrorCode code);

/// What went wrong, on what, and what to do next.
struct Error {
  ErrorCode code = ErrorCode::E_STORAGE_IO;
  /// What was tried, on what, and the remedy; one line, UTF-8, without the code.
  std::string message = {};
  /// The file or folder it is about; empty when it is about none.
  std::string path = {};
  /// 1-based line in `path` or in the input; 0 when unknown.
  std::uint64_t line = 0;
  /// 1-based byte column in that line; 0 when unknown.
  std::uint64_t column = 0;
  /// The field it is about, such as "context.topic"; empty when it is about none.
  std::string field = {};
  /// errno of the system call that failed; 0 when none did.
  int os_error = 0;

  /// "path:line:column: field: message", leaving out what is unknown.
  [[nodiscard]] std::string to_string() const;
};

/// A value, or the reason why there is none. Dropping one unread is a compiler warning.
template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
  // NOLINTNEXTLINE(google-explicit-constructor): `return Error{...}` is the point of the type.
  Result(Error error) : std::expected<T, Error>(std::unexpected<Error>(std::move(error))) {}
};

/// Success, or the reason why not.
using Status = Result<void>;

/// An error about one field of what was given.
Error field_error(ErrorCode code, std::string_view field, std::string message);
/// An error about the file or folder at `path`; `os_error` as in Error.
Error path_error(ErrorCode code, std::string path, std::string message, int os_error = 0);
/// E_INVALID_QUERY about `field`.
Error invalid_query(std::string_view field, std::string message);

/// What ended a whole call, as an error: E_RESOURCE_LIMIT where memory or threads ran out.
Error error_of_exception(const std::exception& failure);

}  // namespace bmad_mem

#define BMAD_CONCAT_INNER(a, b) a##b
#define BMAD_CONCAT(a, b) BMAD_CONCAT_INNER(a, b)

/// Returns the error of `expression` (a Status or Result) from the calling function, if it has one.
#define BMAD_TRY(expression) BMAD_TRY_INNER(BMAD_CONCAT(bmad_status_, __COUNTER__), expression)
#define BMAD_TRY_INNER(name, expression)   \
  do {                                     \
    if (auto name = (expression); !name) { \
      return std::move(name).error();      \
    }                                      \
  } while (false)

/// `BMAD_TRY_ASSIGN(auto x, f());` declares x from the value of f(), or returns f()'s error.
#define BMAD_TRY_ASSIGN(declaration, expression) \
  BMAD_TRY_ASSIGN_INNER(BMAD_CONCAT(bmad_result_, __COUNTER__), declaration, expression)
#define BMAD_TRY_ASSIGN_INNER(name, declaration, expression) \
  auto name = (expression);                                  \
  if (!name) {                                               \
    return std::move(name).error();                          \
  }                                                          \
  declaration = std::move(*name)
