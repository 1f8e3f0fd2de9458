// result.cpp - names of error codes, and errors made from fields, paths and exceptions.
#include "bmad_mem/result.hpp"

#include <array>
#include <cassert>
#include <cerrno>
#include <new>
#include <system_error>

namespace bmad_mem {
namespace {

// In the order of the enum; docs/commands.md says what each means.
constexpr std::array<std::string_view, kErrorCodeCount> kCodes = {
    "E_STORAGE_IO",        "E_STORAGE_FULL",     "E_STORAGE_CORRUPT", "E_LOCK_TIMEOUT",
    "E_CONCURRENT_MOD",    "E_INVALID_FORMAT",   "E_SCHEMA_INVALID",  "E_SIZE_LIMIT",
    "E_SESSION_NOT_FOUND", "E_SESSION_ARCHIVED", "E_SESSION_CORRUPT", "E_QUERY_TIMEOUT",
    "E_INVALID_QUERY",     "E_ACCESS_DENIED",    "E_RESOURCE_LIMIT",  "E_NEWER_VERSION",
    "E_HUB_AWAY",          "E_HUB_FULL",         "E_HUB_VERSION",     "E_ENTRY_NOT_FOUND",
    "E_HUB_NOT_FOUND",     "E_KEY_NOT_FOUND"};

}  // namespace

std::string_view error_code_name(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  assert(index < kCodes.size());
  return kCodes[index];
}

Error error_of_exception(const std::exception& failure) {
  const auto* const refused = dynamic_cast<const std::system_error*>(&failure);
  if (refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again) {
    return {.code = ErrorCode::E_RESOURCE_LIMIT,
            .message =
                "no thread could be started; end other programs, or raise the limit "
                "(ulimit -u, or pids.max of the container)",
            .os_error = refused->code().value()};
  }
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) {
    return {.code = ErrorCode::E_RESOURCE_LIMIT,
            .message =
                "there is not enough memory for this; ask for less at once, or raise the "
                "limit (ulimit -v, or memory.max of the container)",
            .os_error = ENOMEM};
  }
  return {.message = std::string("the call ended early: ") + failure.what(),
          .os_error = refused != nullptr ? refused->code().value() : 0};
}

Error field_error(ErrorCode code, std::string_view field, std::string message) {
  return {.code = code, .message = std::move(message), .field = std::string(field)};
}

Error path_error(ErrorCode code, std::string path, std::string message, int os_error) {
  return {
      .code = code, .message = std::move(message), .path = std::move(path), .os_error = os_error};
}

Error invalid_query(std::string_view field, std::string message) {
  return field_error(ErrorCode::E_INVALID_QUERY, field, std::move(message));
}

std::string Error::to_string() const {
  std::string text = path;
  if (line != 0) {
    text += (text.empty() ? "line " : ":") + std::to_string(line);
    if (column != 0) {
      text += ":" + std::to_string(column);
    }
  }
  for (const std::string* part : {&field, &message}) {
    if (!part->empty()) {
      text += (text.empty() ? "" : ": ") + *part;
    }
  }
  return text;
}

}  // namespace bmad_mem
