#include "base/ids.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/manual_clock.hpp"

namespace bmad_mem::test::ids_test {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::uint32_t kRandomMax = (1U << 30U) - 1;

std::uint64_t decoded(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    const std::size_t digit = kAlphabet.find(c);
    REQUIRE(digit != std::string_view::npos);
    value = value * 32 + digit;
  }
  return value;
}

}  // namespace

TEST_CASE("an entry id is its prefix, the time and a random part") {
  const ManualClock clock(Timestamp(milliseconds(1'768'125'923'000)));
  IdGenerator ids(clock, [] { return 12345U; });
  const std::string id = ids.entry_id("dec-");
  REQUIRE(id.size() == 4 + 15);
  CHECK(id.starts_with("dec-"));
  CHECK(decoded(std::string_view(id).substr(4, 9)) == 1'768'125'923'000);
  CHECK(decoded(std::string_view(id).substr(13)) == 12345);
  CHECK(is_entry_id(id));
}

TEST_CASE("the alphabet stands in ASCII order and has no letter that looks like another") {
  CHECK(std::ranges::is_sorted(kAlphabet));
  const ManualClock clock;
  std::set<char> seen;
  std::uint32_t next = 0;
  IdGenerator ids(clock, [&] { return next++ * 0x2545F491U; });
  for (int i = 0; i < 2000; ++i) {
    for (const char c : ids.session_id().substr(16)) {
      seen.insert(c);
    }
  }
  CHECK(std::string(seen.begin(), seen.end()) == kAlphabet);
}

TEST_CASE("ids of one type sort by the time they were made") {
  ManualClock clock;
  IdGenerator ids(clock);
  std::string last;
  for (const int step : {0, 1, 0, 0, 5, 1000, 60'000, 0, 1'000'000'000}) {
    clock.advance(milliseconds(step));
    const std::string id = ids.entry_id("msg-");
    CHECK(id > last);
    last = id;
  }
}

TEST_CASE("while the clock stands still the random part counts up") {
  const ManualClock clock;
  IdGenerator ids(clock, [] { return 7U; });
  for (std::uint64_t i = 0; i < 100; ++i) {
    CHECK(decoded(ids.entry_id("").substr(9)) == 7 + i);
  }
}

TEST_CASE("when the clock goes back, ids still go forward") {
  ManualClock clock("2026-01-11T10:00:00Z");
  IdGenerator ids(clock);
  std::string last = ids.entry_id("e-");
  for (int i = 0; i < 50; ++i) {
    clock.advance(std::chrono::hours(-1));
    const std::string id = ids.entry_id("e-");
    CHECK(id > last);
    last = id;
  }
}

TEST_CASE("a millisecond that is used up borrows the next one") {
  ManualClock clock(Timestamp(milliseconds(1000)));
  IdGenerator ids(clock, [] { return kRandomMax; });
  const std::string first = ids.entry_id("");
  const std::string second = ids.entry_id("");
  CHECK(decoded(first) == (1000ULL << 30U) + kRandomMax);
  CHECK(decoded(second) == 1001ULL << 30U);
  clock.advance(milliseconds(1));  // Has been borrowed: counts on instead of starting anew.
  CHECK(decoded(ids.entry_id("")) == (1001ULL << 30U) + 1);
  clock.advance(milliseconds(1));
  CHECK(decoded(ids.entry_id("")) == (1002ULL << 30U) + kRandomMax);
}

TEST_CASE("more random bits than there is room for are cut off") {
  const ManualClock clock;
  IdGenerator ids(clock, [] { return 0xFFFFFFFFU; });
  CHECK(decoded(ids.entry_id("").substr(9)) == kRandomMax);
  CHECK(is_session_id(ids.session_id()));
}

TEST_CASE("a clock before 1970 gives ids all the same") {
  const ManualClock clock("1969-01-01T00:00:00Z");
  IdGenerator ids(clock);
  const std::string id = ids.entry_id("msg-");
  CHECK(id.substr(4, 9) == "000000000");
  CHECK(ids.entry_id("msg-") > id);
}

TEST_CASE("threads that share a generator never get the same id") {
  const ManualClock clock;
  IdGenerator ids(clock);
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kEach = 1000;
  std::vector<std::vector<std::string>> made(kThreads);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&ids, &mine = made[t]] {
      for (std::size_t i = 0; i < kEach; ++i) {
        mine.push_back(ids.entry_id("msg-"));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::set<std::string> all;
  for (const std::vector<std::string>& mine : made) {
    CHECK(std::ranges::is_sorted(mine));
    all.insert(mine.begin(), mine.end());
  }
  CHECK(all.size() == kThreads * kEach);
}

TEST_CASE("a forked child draws its own random part") {
  const ManualClock clock;
  IdGenerator ids(clock);
  const std::string before = ids.entry_id("");
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const std::string id = ids.entry_id("");
    const bool good = ::write(ends[1], id.data(), id.size()) == static_cast<ssize_t>(id.size());
    ::_exit(good ? 0 : 1);
  }
  ::close(ends[1]);
  std::string from_child(64, '\0');
  const ssize_t size = ::read(ends[0], from_child.data(), from_child.size());
  ::close(ends[0]);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(size == 15);
  from_child.resize(15);
  const std::string from_parent = ids.entry_id("");
  CHECK(decoded(from_parent) == decoded(before) + 1);
  CHECK(from_child != from_parent);
  CHECK(from_child.substr(0, 9) == from_parent.substr(0, 9));
}

TEST_CASE("a session id holds the day it was made on, in UTC") {
  ManualClock clock("2026-01-11T23:59:59.999Z");
  IdGenerator ids(clock, [] { return 0U; });
  CHECK(ids.session_id() == "sess-2026-01-11-000000");
  clock.advance(milliseconds(1));
  CHECK(ids.session_id() == "sess-2026-01-12-000000");
}

TEST_CASE("new session ids are session ids, and differ") {
  const ManualClock clock;
  IdGenerator ids(clock);
  std::set<std::string> made;
  for (int i = 0; i < 100; ++i) {
    const std::string id = ids.session_id();
    CHECK(is_session_id(id));
    made.insert(id);
  }
  CHECK(made.size() > 98);  // Two of 100 among 2^30 may meet by chance once in 200,000 runs.
}

TEST_CASE("session ids are lower-case names that are safe as a folder") {
  const std::string kAllowed[] = {"s",    "0",  "sess-2026-01-11-abc123", "a.b_c-d",
                                  "1..2", "a.", std::string(64, 'x')};
  for (const std::string& id : kAllowed) {
    CAPTURE(id);
    CHECK(is_session_id(id));
    CHECK(check_session_id(id).has_value());
  }
  const std::string kRefused[] = {"",
                                  "../x",
                                  "..",
                                  ".",
                                  ".hidden",
                                  "-rf",
                                  "_x",
                                  "a/b",
                                  "/etc",
                                  "a\\b",
                                  "Sess",
                                  "a b",
                                  " a",
                                  "a\n",
                                  std::string("a\0", 2),
                                  "caf\xC3\xA9",
                                  "a:b",
                                  "a*",
                                  "$HOME",
                                  std::string(65, 'x'),
                                  std::string(256, 'x')};
  for (const std::string& id : kRefused) {
    CAPTURE(id);
    CHECK_FALSE(is_session_id(id));
    const Error error = check_session_id(id).error();
    CHECK(error.code == ErrorCode::E_INVALID_FORMAT);
    CHECK(error.field == "session_id");
    CHECK(error.message.size() < 400);
  }
}

TEST_CASE("entry ids have no separator, blank or control character") {
  const std::string kAllowed[] = {"msg-001",
                                  "dec-01kaxx8v04q7m2s",
                                  "A",
                                  "_x",
                                  "0",
                                  "a.b:c@d+e=f~g-h",
                                  "7f3c2a9e-0b1d-4c5e-8f6a-1234567890ab",
                                  std::string(128, 'x')};
  for (const std::string& id : kAllowed) {
    CAPTURE(id);
    CHECK(is_entry_id(id));
  }
  const std::string kRefused[] = {"",    "-rf",  ".x",   "../x",        "a/b",
                                  "a b", "a\nb", "a\"b", "caf\xC3\xA9", std::string("a\0b", 3),
                                  "a,b", "a;b",  "a*b",  "a%2fb",       std::string(129, 'x')};
  for (const std::string& id : kRefused) {
    CAPTURE(id);
    CHECK_FALSE(is_entry_id(id));
  }
}

TEST_CASE("an id that the engine makes is packed and unpacked, and no other one") {
  const ManualClock clock(Timestamp(milliseconds(1'768'125'923'000)));
  IdGenerator ids(clock);
  for (int i = 0; i < 100; ++i) {
    const std::string id = ids.entry_id("dec-");
    const PackedId packed = pack_id("dec-", id);
    REQUIRE(packed.is_there());
    CHECK(packed.time < PackedId::kNone);
    CHECK(unpack_id("dec-", packed) == id);
    CHECK_FALSE(pack_id("fact-", id).is_there());
    for (const std::size_t size : {std::size_t{4}, std::size_t{9}, id.size() - 1}) {
      const auto [first, last] = id_range("dec-", id.substr(0, size));
      CHECK((first <= packed && packed <= last));
    }
    CHECK_FALSE(id_range("dec-", id).first.is_there());
    CHECK_FALSE(id_range("fact-", id.substr(0, 6)).first.is_there());
  }
  CHECK(unpack_id("", pack_id("", "zzzzzzzzzzzzzzz")) == "zzzzzzzzzzzzzzz");
  for (const char* id : {"", "dec-", "d1", "dec-01kaxx8v04q7m2", "dec-01kaxx8v04q7m2ss",
                         "dec-01KAXX8V04Q7M2S", "dec-01kaxx8v04q7m2i", "dec_01kaxx8v04q7m2s"}) {
    CAPTURE(id);
    CHECK_FALSE(pack_id("dec-", id).is_there());
  }
}

TEST_CASE("the system's random numbers fill 30 bits") {
  std::uint32_t seen_ones = 0;
  std::uint32_t seen_zeros = 0;
  for (int i = 0; i < 200; ++i) {
    const std::uint32_t value = system_random();
    CHECK(value <= kRandomMax);
    seen_ones |= value;
    seen_zeros |= ~value;
  }
  CHECK(seen_ones == kRandomMax);
  CHECK((seen_zeros & kRandomMax) == kRandomMax);
}

TEST_CASE("an id that Windows can have no folder for is none for a new session") {
  for (const char* id : {"a.", "con", "con.txt", "nul", "aux.a.b", "com1", "lpt9.log", "A", ""}) {
    CAPTURE(id);
    CHECK_FALSE(is_portable_session_id(id));
  }
  for (const char* id : {"a", "a.b", "console", "com", "com10", "conman.txt", "x.con"}) {
    CAPTURE(id);
    CHECK(is_portable_session_id(id));
  }
}

}  // namespace bmad_mem::test::ids_test
