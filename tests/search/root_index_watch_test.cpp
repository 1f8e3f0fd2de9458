// root_index_watch_test.cpp - a memory that watches its folders looks at no log in which nothing
// changed, and sees all the same whatever becomes of logs and sessions.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lifecycle/maintenance.hpp"
#include "search/reads.hpp"
#include "search/watched_memory.hpp"
#include "store/layout.hpp"
#include "store/sessions.hpp"
#include "store/store.hpp"
#include "store/store_watch.hpp"
#include "support/limit.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::root_index_watch {

TEST_CASE("a question looks at no log in which nothing changed") {
  Memory memory;
  const Process held = memory.watching();
  if (can_watch()) {
    CHECK(fmt::format("{}", fmt::join(looked_at(held), "\n")) == "");
  }
  CHECK_FALSE(looked_at(memory.open()).empty());
  const Process other = memory.open();
  memory.add(*other, "s2", "new", "alpha tail");
  const Lines calls = looked_at(held);  // And flushes.
  CHECK_FALSE(calls.empty());
  CHECK(std::ranges::all_of(calls, [](const std::string& call) { return call.contains("/s2/"); }) ==
        can_watch());
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  if (can_watch()) {
    CHECK(fmt::format("{}", fmt::join(looked_at(held), "\n")) == "");
  }
}

TEST_CASE("a process that watches sees whatever becomes of logs and sessions") {
  Memory memory;
  const Process other = memory.open();
  const Process held = memory.watching();
  const std::string log = memory.log("s2");
  const std::string before = bytes_of(log);
  SUBCASE("an append") { memory.add(*other, "s2", "new", "alpha tail"); }
  SUBCASE("an append past the engine") { append(log, line("new", "alpha tail") + "\n"); }
  SUBCASE("a hand edit of the same size, with its old time") {
    edit_in_place(log, "alpha", "gamma");
  }
  SUBCASE("a truncation") { fs::resize_file(log, before.find('\n') + 1); }
  SUBCASE("a truncation within a line") { fs::resize_file(log, before.size() - 20); }
  SUBCASE("a log that is removed") { fs::remove(log); }
  SUBCASE("a log in place of another") {
    memory.write("other", bytes_of(memory.log("s1")));
    fs::rename(memory.path("other"), log);
  }
  SUBCASE("the log of another memory by a second name") {
    memory.folder.write("other", bytes_of(memory.log("s1")));
    fs::remove(log);
    fs::create_hard_link(memory.folder.path("other"), log);
    CHECK(difference(answers(*held), memory.right_answers()) == "");
    edit_in_place(memory.folder.path("other"), "alpha", "gamma");
  }
  SUBCASE("a log of another type") {
    memory.write(session_file("s2", "facts.jsonl"),
                 MemoryFixture::fact("f1", "common gamma") + "\n");
  }
  SUBCASE("a session that is removed") { fs::remove_all(memory.path("sessions/s2")); }
  SUBCASE("a session that is removed and made again") {
    fs::remove_all(memory.path("sessions/s2"));
    expect(create_session(*other, {.session_id = "s2"}));
    memory.add(*other, "s2", "new", "alpha");
  }
  SUBCASE("a session that is made again while its files are open") {
    const std::ifstream reader(log);
    fs::remove_all(memory.path("sessions/s2"));
    fs::create_directory(memory.path("sessions/s2"));
    memory.write("sessions/s2/conversation.jsonl", before);
    CHECK(difference(answers(*held), memory.right_answers()) == "");
    append(log, line("new", "alpha tail") + "\n");
  }
  SUBCASE("a session that is a link") {
    fs::rename(memory.path("sessions/s2"), memory.folder.path("elsewhere"));
    fs::create_directory_symlink(memory.folder.path("elsewhere"), memory.path("sessions/s2"));
  }
  SUBCASE("a session that comes") {
    expect(create_session(*other, {.session_id = "s0"}));
    memory.add(*other, "s0", "new", "alpha tail");
  }
  SUBCASE("sessions that change places") {
    fs::rename(memory.path("sessions/s1"), memory.path("sessions/s4"));
    fs::rename(memory.path("sessions/s2"), memory.path("sessions/s1"));
    fs::rename(memory.path("sessions/s4"), memory.path("sessions/s2"));
  }
  SUBCASE("other sessions, as after a checkout") {
    fs::rename(memory.path("sessions"), memory.folder.path("old"));
    fs::create_directory(memory.path("sessions"));
    fs::copy(memory.folder.path("old"), memory.path("sessions"), fs::copy_options::recursive);
    edit_in_place(log, "alpha", "gamma");
  }
  SUBCASE("another root in the place of the old one") {
    fs::copy(memory.root, memory.folder.path("copy"), fs::copy_options::recursive);
    fs::rename(memory.root, memory.folder.path("old"));
    fs::rename(memory.folder.path("copy"), memory.root);
    edit_in_place(log, "alpha", "gamma");
  }
  SUBCASE("a session that is archived, comes back and is archived again") {
    expect(archive_session(*other, "s2"));
    CHECK(difference(answers(*held), memory.right_answers()) == "");
    expect(restore_session(*other, "s2"));
    CHECK(difference(answers(*held), memory.right_answers()) == "");
    memory.add(*other, "s2", "new", "alpha tail");
    expect(archive_session(*other, "s2"));
  }
  SUBCASE("an archive in the place of another") {
    expect(archive_session(*other, "s2"));
    const std::string archive = memory.path(archive_path("s2"));
    const std::string old = bytes_of(archive);
    expect(restore_session(*other, "s2"));
    memory.add(*other, "s2", "new", "alpha tail");
    expect(archive_session(*other, "s2"));
    CHECK(difference(answers(*held), memory.right_answers()) == "");
    memory.write("packed", old);
    fs::rename(memory.path("packed"), archive);
  }
  SUBCASE("an index that another process has made of it") {
    memory.add(*other, "s2", "new", "alpha tail");
    expect(answer_query(*other, {.text = "common"}));
  }
  SUBCASE("an index that is gone") { fs::remove_all(memory.path(kIndexFolder)); }
  SUBCASE("an index of before") {
    const std::string current = bytes_of(memory.path(kIndexCurrentFile));
    memory.add(*other, "s2", "new", "alpha tail");
    CHECK(difference(answers(*held), memory.right_answers()) == "");
    memory.write(kIndexCurrentFile, current);
  }
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  if (fs::exists(memory.path("sessions/s3"))) {
    append(memory.log("s3"), line("again", "alpha") + "\n");  // It goes on.
    CHECK(difference(answers(*held), memory.right_answers()) == "");
  }
}

TEST_CASE("a change that the kernel does not tell is seen after a while") {
  Memory memory;
  const Process held = memory.watching();
  const std::string log = memory.log("s2");
  const std::string bytes = bytes_of(log);
  const int file = ::open(log.c_str(), O_RDWR | O_CLOEXEC);
  void* const mapped = ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  REQUIRE(mapped != MAP_FAILED);
  std::ranges::copy(std::string_view("gamma"), static_cast<char*>(mapped) + bytes.find("alpha"));
  ::msync(mapped, bytes.size(), MS_SYNC);
  ::munmap(mapped, bytes.size());
  ::close(file);
  memory.clock.later += StoreWatch::kUnchangedFor + std::chrono::seconds(1);
  CHECK(difference(answers(*held), memory.right_answers()) == "");
}

TEST_CASE("where the kernel lost count all is looked at") {
  Memory memory;
  const Process held = memory.watching();
  std::size_t events = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> events;
  if (!can_watch() || events == 0 || events > 100'000) {
    return;
  }
  for (std::size_t i = 0; i < events / 2 + 100; ++i) {
    append(memory.path("sessions/s1/one"), "x");  // Equal events in a row are told once.
    append(memory.path("sessions/s1/two"), "x");
  }
  fs::rename(memory.path("sessions/s2"), memory.folder.path("s2"));
  fs::copy(memory.folder.path("s2"), memory.path("sessions/s2"));
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  edit_in_place(memory.log("s2"), "alpha", "gamma");
  CHECK(difference(answers(*held), memory.right_answers()) == "");
  expect(answer_query(*held, {.text = "common"}));
  CHECK(looked_at(held) == Lines());
}

TEST_CASE("where there are no watches all is looked at, without a word") {
  Memory memory;
  const Process held = memory.open(Memory::With::kWatch);
  {
    const Limit limit(RLIMIT_NOFILE, 3);
    held.store->watch->look();
  }
  CHECK(held.store->watch->changed(kSessionsFolder) == StoreWatch::kAlways);
  for (int i = 0; i < 3; ++i) {
    memory.add(*memory.open(), "s2", fmt::format("new-{}", i), "alpha tail");
    CHECK(difference(answers(*held), memory.right_answers()) == "");
  }
  CHECK_FALSE(looked_at(held).empty());
  CHECK(held.store->problems().empty());
}

TEST_CASE("a moment counts until the folder changes") {
  Memory memory;
  const Process process = memory.open(Memory::With::kWatch);
  StoreWatch& watch = *process.store->watch;
  CHECK(watch.changed("sessions/s1") == StoreWatch::kAlways);  // Nobody has looked.
  watch.look();
  if (!can_watch()) {
    CHECK(watch.changed("sessions/s1") == StoreWatch::kAlways);
    return;
  }
  const StoreWatch::Moment begun = watch.changed("sessions/s1");
  const StoreWatch::Moment other = watch.changed("sessions/s2");
  CHECK(other <= watch.now());
  CHECK(begun <= watch.now());
  CHECK(watch.changed("sessions/s1") == begun);
  const StoreWatch::Moment moment = watch.now();
  append(memory.log("s1"), "x");
  CHECK(watch.changed("sessions/s1") == begun);  // It is told by look().
  watch.look();
  CHECK(watch.changed("sessions/s1") > moment);
  CHECK(watch.changed("sessions/s2") <= moment);
  SUBCASE("a folder that is not there changes with the one above it") {
    const StoreWatch::Moment missing = watch.changed(kArchiveFolder);
    CHECK(missing <= watch.now());
    const StoreWatch::Moment then = watch.now();
    fs::create_directory(memory.path(kArchiveFolder));
    watch.look();
    CHECK(watch.changed(kArchiveFolder) > then);
  }
  SUBCASE("a link changes always") {
    fs::create_directory_symlink(memory.path("sessions/s1"), memory.path("sessions/s4"));
    watch.look();
    CHECK(watch.changed("sessions/s4") == StoreWatch::kAlways);
  }
  SUBCASE("the time goes back") {
    const StoreWatch::Moment then = watch.now();
    memory.clock.later -= std::chrono::hours(1);
    watch.look();
    CHECK(watch.changed("sessions/s1") > then);
  }
}

}  // namespace bmad_mem::test::root_index_watch
