#include "bmad_mem/result.hpp"

#include <array>
#include <cassert>
#include <cerrno>
#include <new>
#include <system_error>

namespace bmad_mem {
namespace {

struct CodeText {
  std::string_view name;
  std::string_view sentence;
};

// In the order of the enum; docs/commands.md says more about each.
constexpr std::array<CodeText, kErrorCodeCount> kCodes = {{
    {"E_STORAGE_IO", "A file could not be read or written."},
    {"E_STORAGE_FULL", "The disk, or the quota on it, is full; nothing was written."},
    {"E_STORAGE_CORRUPT", "A file is damaged. Nothing was changed; run verify."},
    {"E_LOCK_TIMEOUT",
     "Another process or thread held the session's lock for too long. Try again."},
    {"E_CONCURRENT_MOD", "Another program changed the file during the operation. Try again."},
    {"E_INVALID_FORMAT", "The input is not the JSON, time or text that was expected."},
    {"E_SCHEMA_INVALID", "The JSON is well formed, but a field is missing, wrong or not allowed."},
    {"E_SIZE_LIMIT", "The entry, or the session with it, is larger than the limit."},
    {"E_SESSION_NOT_FOUND", "No session, entry or memory root has that name."},
    {"E_SESSION_ARCHIVED", "The session is in the archive; restore it to write to it."},
    {"E_SESSION_CORRUPT", "The session's folder or manifest is damaged; run repair."},
    {"E_QUERY_TIMEOUT", "The query took longer than its time budget."},
    {"E_INVALID_QUERY", "The query or one of its filters could not be understood."},
    {"E_ACCESS_DENIED", "The workflow of the agent does not allow it."},
    {"E_RESOURCE_LIMIT", "The process may have no more memory or threads."},
    {"E_NEWER_VERSION", "A newer bmad-mem wrote it, and this one leaves it as it is."},
    {"E_HUB_AWAY", "The hub can't be reached, or does not answer. The files are as they were."},
    {"E_HUB_FULL", "The hub has no room left. What was not taken stays here."},
    {"E_HUB_VERSION", "The tables of the hub are of another version than this bmad-mem knows."},
}};

}  // namespace

std::string_view error_code_name(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  assert(index < kCodes.size());
  return kCodes[index].name;
}

std::string_view error_code_sentence(ErrorCode code) {
  const auto index = static_cast<std::size_t>(code);
  assert(index < kCodes.size());
  return kCodes[index].sentence;
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
