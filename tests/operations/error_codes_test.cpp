// error_codes_test.cpp - every error code is raised by a call that an embedding program can make,
// and carries what it is about.
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "bmad_mem/hub.hpp"
#include "concurrency/child.hpp"
#include "store/config.hpp"
#include "store/file_lock.hpp"
#include "store/layout.hpp"
#include "store/posix_file_system.hpp"
#include "support/limit.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::error_codes_test {
namespace {

template <typename T>
Error error_of(const Result<T>& result) {
  return result ? Error{.message = "no error at all"} : result.error();
}

struct Row {
  ErrorCode code;
  std::function<Error(MemoryFixture&)> raise;
  bool names_path;
};

const Row kRows[] = {
    {ErrorCode::E_STORAGE_IO,
     [](MemoryFixture& memory) {
       const Limit limit(RLIMIT_NOFILE, 0);
       return error_of(memory->list({}));
     },
     true},
    {ErrorCode::E_STORAGE_FULL,
     [](MemoryFixture& memory) {
       const Limit limit(RLIMIT_FSIZE, 600);
       return error_of(memory->add_fact("s1", {.content = std::string(1000, 'x')}));
     },
     true},
    {ErrorCode::E_STORAGE_CORRUPT,
     [](MemoryFixture& memory) {
       std::filesystem::create_symlink("decisions.jsonl", memory.path(EntryType::kFact));
       return error_of(memory->add_fact("s1", {.content = "x"}));
     },
     true},
    {ErrorCode::E_LOCK_TIMEOUT,
     [](MemoryFixture& memory) {
       Signal held;
       const Child holder([&]() -> int {
         const auto files = std::move(open_posix_file_system(memory.root()).value());
         FileLock lock(*files, memory.clock, lock_path("s1"), lock_info_path("s1"));
         const auto guard = lock.acquire({.operation = "compact"});
         held.raise();
         wait_to_be_killed();
       });
       held.wait();
       static_cast<void>(memory.reopen({.lock_timeout = std::chrono::milliseconds(5)}));
       return error_of(memory->add_fact("s1", {.content = "x"}));
     },
     true},
    {ErrorCode::E_CONCURRENT_MOD,
     [](MemoryFixture& memory) { return error_of(memory->create_session({.session_id = "s1"})); },
     true},
    {ErrorCode::E_INVALID_FORMAT,
     [](MemoryFixture& memory) { return error_of(memory->add("s1", EntryType::kFact, "{")); },
     false},
    {ErrorCode::E_SCHEMA_INVALID,
     [](MemoryFixture& memory) { return error_of(memory->add("s1", EntryType::kFact, "{}")); },
     false},
    {ErrorCode::E_SIZE_LIMIT,
     [](MemoryFixture& memory) {
       memory.write("summary.md", std::string(11U << 20U, 'x'));
       return error_of(memory->add_fact("s1", {.content = "x"}));
     },
     true},
    {ErrorCode::E_SESSION_NOT_FOUND,
     [](MemoryFixture& memory) { return error_of(memory->load_session("nowhere")); }, true},
    {ErrorCode::E_SESSION_CORRUPT,
     [](MemoryFixture& memory) {
       memory.write("manifest.json", "[]");
       return error_of(memory->load_session("s1"));
     },
     true},
    {ErrorCode::E_INVALID_QUERY,
     [](MemoryFixture& memory) { return error_of(memory->query({.text = "type:nothing"})); },
     false},
    {ErrorCode::E_ACCESS_DENIED,
     [](MemoryFixture& memory) {
       OpenOptions options;
       options.access = parse_workflow("memory_requirements: {read_access: all}", "w.yaml").value();
       REQUIRE(memory.reopen(std::move(options)));
       return error_of(memory->add("s1", EntryType::kFact, R"({"content":"x"})"));
     },
     false},
    {ErrorCode::E_NEWER_VERSION,
     [](MemoryFixture& memory) {
       memory.write("manifest.json",
                    R"({"session_id":"s1","created_at":"2026-01-11T10:00:00Z","version":"2.0"})");
       return error_of(memory->load_session("s1"));
     },
     true},
    {ErrorCode::E_ENTRY_NOT_FOUND,
     [](MemoryFixture& memory) { return error_of(memory->update_entry("none", "{}")); }, false},
    {ErrorCode::E_HUB_NOT_FOUND, [](MemoryFixture& memory) { return error_of(leave_hub(*memory)); },
     false},
    {ErrorCode::E_KEY_NOT_FOUND,
     [](MemoryFixture&) { return error_of(known_config_key("nothing")); }, false},
};

/// Codes that nothing raises here: sessions are not archived, no query has a time limit, exceptions
/// go through, and there is no hub.
const std::set<ErrorCode> kNotYet = {ErrorCode::E_SESSION_ARCHIVED, ErrorCode::E_QUERY_TIMEOUT,
                                     ErrorCode::E_RESOURCE_LIMIT,   ErrorCode::E_HUB_AWAY,
                                     ErrorCode::E_HUB_FULL,         ErrorCode::E_HUB_VERSION};

}  // namespace

TEST_CASE("every code is raised, with a sentence and what it is about") {
  std::set<ErrorCode> raised;
  for (const Row& row : kRows) {
    CAPTURE(error_code_name(row.code));
    MemoryFixture memory;
    memory.session();
    const Error error = row.raise(memory);
    CAPTURE(error.message);
    CHECK(error.code == row.code);
    CHECK(error.message.size() > 10);
    CHECK(error.path.starts_with(memory.root()) == row.names_path);
    raised.insert(error.code);
    // Whatever it was, the next process opens the store.
    CHECK(memory.reopen({}).has_value());
  }
  for (std::size_t i = 0; i < kErrorCodeCount; ++i) {
    const auto code = static_cast<ErrorCode>(i);
    CAPTURE(error_code_name(code));
    CHECK(raised.contains(code) != kNotYet.contains(code));
  }
}

}  // namespace bmad_mem::test::error_codes_test
