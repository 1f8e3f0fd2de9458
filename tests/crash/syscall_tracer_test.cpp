// The tracer is what every crash test stands on, so these tests look at the files that a broken
// child leaves behind, not at what the tracer says about itself.
#include "syscall_tracer.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>

#include <doctest/doctest.h>

#include "temp_folder.hpp"

namespace bmad_mem::syscall_tracer_test {
namespace {

constexpr std::string_view kText = "one\ntwo\nthree\n";

/// A folder with a file "log" for small programs to work on.
struct Playground {
  TempFolder folder;
  std::string log = (folder.path() / "log").string();
  std::string other = (folder.path() / "other").string();
  SyscallTracer tracer{folder.path()};

  /// Opens the log, writes kText by one write, syncs. Returns 0, or the errno of what failed.
  int write_log() const {
    const int fd = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
      return errno;
    }
    if (write(fd, kText.data(), kText.size()) < 0) {
      return errno;
    }
    return fdatasync(fd) == 0 ? 0 : errno;
  }

  TraceOutcome run_write_log(const SyscallFault& fault) const {
    return tracer.run([this] { return write_log(); }, fault);
  }

  bool has_log() const { return std::filesystem::exists(log); }
};

// The points of write_log().
constexpr std::size_t kOpenPoint = 1;
constexpr std::size_t kWritePoint = 2;
constexpr std::size_t kSyncPoint = 3;

bool was_killed(const TraceOutcome& outcome) {
  return outcome.process.signal == SIGKILL && outcome.process.exit_code == -1;
}

}  // namespace

TEST_CASE("without a fault the program runs as always and its calls are listed") {
  const Playground ground;
  const TraceOutcome outcome = ground.run_write_log({});
  CHECK(outcome.process.succeeded());
  CHECK_FALSE(outcome.reached);
  CHECK_FALSE(outcome.timed_out);
  CHECK(read_file(ground.log) == kText);
  REQUIRE(outcome.points.size() == 3);
  CHECK(outcome.points[0].kind == CallKind::kOpenWrite);
  CHECK(outcome.points[0].creates);
  CHECK(outcome.points[1].call == "write");
  CHECK(outcome.points[1].path == ground.log);
  CHECK(outcome.points[1].bytes == kText);
  CHECK(outcome.points[1].result == static_cast<long>(kText.size()));
  CHECK(outcome.points[1].executed);
  CHECK(outcome.points[2].kind == CallKind::kSync);
}

TEST_CASE("a kill before a call leaves what was there before it") {
  const Playground ground;
  SyscallFault fault{.action = FaultAction::kKillBefore};
  SUBCASE("the open that would create the file") {
    fault.point = kOpenPoint;
    CHECK(was_killed(ground.run_write_log(fault)));
    CHECK_FALSE(ground.has_log());
  }
  SUBCASE("the write") {
    fault.point = kWritePoint;
    CHECK(was_killed(ground.run_write_log(fault)));
    CHECK(ground.has_log());
    CHECK(read_file(ground.log).empty());
  }
}

TEST_CASE("a kill after a call leaves its effect and nothing more") {
  const Playground ground;
  SyscallFault fault{.action = FaultAction::kKillAfter};
  SUBCASE("the open that creates the file") {
    fault.point = kOpenPoint;
    CHECK(was_killed(ground.run_write_log(fault)));
    CHECK(ground.has_log());
    CHECK(read_file(ground.log).empty());
  }
  SUBCASE("the write") {
    fault.point = kWritePoint;
    CHECK(was_killed(ground.run_write_log(fault)));
    CHECK(read_file(ground.log) == kText);
  }
}

TEST_CASE("a torn write leaves exactly the bytes before the cut") {
  struct Row {
    const char* name;
    Cut cut;
    std::string_view left;
  };
  static constexpr std::array<Row, 6> kRows = {{
      {"one byte", Cut::kOneByte, "o"},
      {"half", Cut::kHalf, "one\ntwo"},
      {"all but the last byte", Cut::kAllButLastByte, "one\ntwo\nthree"},
      {"the first line", Cut::kFirstLine, "one\n"},
      {"the first line without its newline", Cut::kFirstLineUnclosed, "one"},
      {"three quarters", Cut::kThreeQuarters, "one\ntwo\nt"},
  }};
  for (const Row& row : kRows) {
    SUBCASE(row.name) {
      const Playground ground;
      const TraceOutcome outcome =
          ground.run_write_log({.action = FaultAction::kTear, .point = 1, .cut = row.cut});
      CHECK(was_killed(outcome));
      CHECK(read_file(ground.log) == row.left);
    }
  }
}

TEST_CASE("a cut that another cut already made is not a point again") {
  CHECK(cut_length({.cut = Cut::kOneByte}, "ab") == 1);
  CHECK_FALSE(cut_length({.cut = Cut::kHalf}, "ab"));
  CHECK_FALSE(cut_length({.cut = Cut::kAllButLastByte}, "ab"));
  CHECK_FALSE(cut_length({.cut = Cut::kFirstLine}, "only line\n"));
  CHECK_FALSE(cut_length({.cut = Cut::kFirstLineUnclosed}, "only line\n"));
  CHECK_FALSE(cut_length({.cut = Cut::kOneByte}, "x"));
  CHECK(cut_length({.cut = Cut::kExact, .exact = 1}, "ab") == 1);
  CHECK_FALSE(cut_length({.cut = Cut::kExact, .exact = 2}, "ab"));
  const Playground ground;
  const TraceOutcome outcome =
      ground.run_write_log({.action = FaultAction::kTear, .point = 2, .cut = Cut::kAllButLastByte});
  CHECK_FALSE(outcome.reached);
  CHECK(outcome.process.succeeded());
}

TEST_CASE("a short write returns the shorter length and the program goes on") {
  const Playground ground;
  const auto body = [&ground] {
    const int fd = open(ground.log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const ssize_t first = write(fd, kText.data(), kText.size());
    const std::string_view rest = kText.substr(static_cast<std::size_t>(first));
    return write(fd, rest.data(), rest.size()) >= 0 ? static_cast<int>(first) : 100;
  };
  SUBCASE("and can write the rest") {
    const TraceOutcome outcome = ground.tracer.run(
        body, {.action = FaultAction::kShortWrite, .point = 1, .cut = Cut::kFirstLine});
    CHECK(outcome.process.exit_code == 4);
    CHECK(read_file(ground.log) == kText);
  }
  SUBCASE("but on a full disk the rest fails") {
    const TraceOutcome outcome = ground.tracer.run(body, {.action = FaultAction::kShortThenFail,
                                                          .point = 1,
                                                          .cut = Cut::kFirstLine,
                                                          .error = ENOSPC});
    CHECK(outcome.process.exit_code == 100);
    CHECK(read_file(ground.log) == "one\n");
  }
}

TEST_CASE("a vectored write is cut across its parts, and the program's vectors stay as they were") {
  const Playground ground;
  const auto body = [&ground] {
    const int fd = open(ground.log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    std::string a = "one\n";
    std::string b = "two\n";
    const std::array<iovec, 2> parts = {{{a.data(), a.size()}, {b.data(), b.size()}}};
    const ssize_t count = writev(fd, parts.data(), 2);
    return parts[0].iov_len == 4 && parts[1].iov_len == 4 ? static_cast<int>(count) : 100;
  };
  SUBCASE("cut in the second part") {
    const TraceOutcome outcome = ground.tracer.run(
        body, {.action = FaultAction::kShortWrite, .point = 1, .cut = Cut::kAllButLastByte});
    CHECK(outcome.process.exit_code == 7);
    CHECK(read_file(ground.log) == "one\ntwo");
  }
  SUBCASE("cut at the seam") {
    const TraceOutcome outcome = ground.tracer.run(
        body, {.action = FaultAction::kShortWrite, .point = 1, .cut = Cut::kHalf});
    CHECK(outcome.process.exit_code == 4);
    CHECK(read_file(ground.log) == "one\n");
  }
}

TEST_CASE("a failed call does nothing and returns the chosen error") {
  for (const int error : {EIO, ENOSPC, EDQUOT, EMFILE, EINTR}) {
    SUBCASE(strerrorname_np(error)) {
      const Playground ground;
      const TraceOutcome write = ground.run_write_log(
          {.action = FaultAction::kFail, .point = kWritePoint, .error = error});
      CHECK(write.process.exit_code == error);
      CHECK(read_file(ground.log).empty());
      CHECK_FALSE(write.points[1].executed);
      CHECK(write.points[1].injected == error);
      const TraceOutcome sync =
          ground.run_write_log({.action = FaultAction::kFail, .point = kSyncPoint, .error = error});
      CHECK(sync.process.exit_code == error);
      CHECK(read_file(ground.log) == kText);
    }
  }
}

TEST_CASE("a failed rename, unlink, mkdir or truncate leaves the folder as it was") {
  const Playground ground;
  write_file(ground.log, kText);
  const auto all_fail = [&ground] {
    const std::string folder = ground.folder.path().string() + "/new";
    int failures = 0;
    failures += rename(ground.log.c_str(), ground.other.c_str()) != 0 && errno == EIO ? 1 : 0;
    failures += unlink(ground.log.c_str()) != 0 && errno == EIO ? 1 : 0;
    failures += mkdir(folder.c_str(), 0700) != 0 && errno == EIO ? 1 : 0;
    failures += truncate(ground.log.c_str(), 0) != 0 && errno == EIO ? 1 : 0;
    failures += chmod(ground.log.c_str(), 0400) != 0 && errno == EIO ? 1 : 0;
    return failures;
  };
  const Tree before = read_tree(ground.folder.path());
  const TraceOutcome outcome = ground.tracer.run(
      all_fail,
      {.action = FaultAction::kFail, .point = 1, .error = EIO, .reach = FaultReach::kEverything});
  CHECK(outcome.process.exit_code == 5);
  CHECK(read_tree(ground.folder.path()) == before);
}

TEST_CASE("a failure lasts as long as its reach says") {
  const Playground ground;
  const auto count_failures = [&ground] {
    const int fd = open(ground.log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    int failed = 0;
    for (int round = 0; round < 3; ++round) {
      failed += write(fd, "x", 1) < 0 ? 1 : 0;
      failed += fdatasync(fd) != 0 ? 10 : 0;
    }
    return failed;
  };
  SyscallFault fault{.action = FaultAction::kFail, .point = 2, .error = EIO};
  SUBCASE("one call") { CHECK(ground.tracer.run(count_failures, fault).process.exit_code == 1); }
  SUBCASE("calls of the kind") {
    fault.reach = FaultReach::kSameKind;
    CHECK(ground.tracer.run(count_failures, fault).process.exit_code == 3);
  }
  SUBCASE("every call") {
    fault.reach = FaultReach::kEverything;
    CHECK(ground.tracer.run(count_failures, fault).process.exit_code == 33);
  }
  SUBCASE("every call, but at most four") {
    fault.reach = FaultReach::kEverything;
    fault.failures_max = 4;
    CHECK(ground.tracer.run(count_failures, fault).process.exit_code == 22);
  }
}

TEST_CASE("an open for reading is a point only for a fault that admits it") {
  const Playground ground;
  write_file(ground.log, kText);
  const auto body = [&ground] {
    return open(ground.log.c_str(), O_RDONLY | O_CLOEXEC) >= 0 ? 0 : errno;
  };
  SyscallFault fault{.action = FaultAction::kFail, .point = 1, .error = EMFILE};
  CHECK_FALSE(ground.tracer.run(body, fault).reached);
  fault.kinds = kOpens;
  CHECK(ground.tracer.run(body, fault).process.exit_code == EMFILE);
}

TEST_CASE("calls outside the watched folder are no points") {
  const Playground ground;
  const TempFolder elsewhere;
  const auto body = [&elsewhere] {
    const std::string file = (elsewhere.path() / "file").string();
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return write(fd, "x", 1) == 1 && unlink(file.c_str()) == 0 ? 0 : 1;
  };
  const TraceOutcome outcome =
      ground.tracer.run(body, {.action = FaultAction::kKillBefore, .point = 1});
  CHECK(outcome.process.succeeded());
  CHECK(outcome.points.empty());
}

TEST_CASE("paths are found through directory descriptors, the working directory and dots") {
  const Playground ground;
  write_file(ground.log, kText);
  const auto body = [&ground] {
    const int dir = open(ground.folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (renameat(dir, "log", dir, "./x/../other") == 0 || renameat(dir, "log", dir, "other") != 0) {
      return 1;
    }
    return chdir(ground.folder.path().c_str()) == 0 && unlink("other") == 0 ? 0 : 2;
  };
  const TraceOutcome outcome = ground.tracer.run(body, {});
  CHECK(outcome.process.succeeded());
  REQUIRE(count_points(outcome.points, kChanges) == 3);
  for (const TracePoint& point : outcome.points) {
    if (point.kind == CallKind::kRename) {
      CHECK(point.path == ground.log);
      CHECK(point.path_to == ground.other);
    } else if (point.kind == CallKind::kUnlink) {
      CHECK(point.path == ground.other);
    }
  }
}

TEST_CASE("a write to a file that was unlinked is still a point") {
  const Playground ground;
  const auto body = [&ground] {
    const int fd = open(ground.log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return unlink(ground.log.c_str()) == 0 && write(fd, "x", 1) == 1 ? 0 : 1;
  };
  const TraceOutcome outcome = ground.tracer.run(body, {});
  REQUIRE(outcome.points.size() == 3);
  CHECK(outcome.points[2].path == ground.log);
}

TEST_CASE("threads and child processes are traced and die together") {
  const Playground ground;
  SUBCASE("a thread reaches the point") {
    const auto body = [&ground] {
      std::thread writer([&ground] { ground.write_log(); });
      writer.join();
      return 0;
    };
    const TraceOutcome outcome =
        ground.tracer.run(body, {.action = FaultAction::kKillBefore, .point = kWritePoint});
    CHECK(was_killed(outcome));
    CHECK(read_file(ground.log).empty());
  }
  SUBCASE("a child process reaches the point") {
    const auto body = [&ground] {
      const pid_t child = fork();
      if (child == 0) {
        _exit(ground.write_log());
      }
      int status = 0;
      waitpid(child, &status, 0);
      return ground.write_log();
    };
    const TraceOutcome outcome =
        ground.tracer.run(body, {.action = FaultAction::kKillAfter, .point = kWritePoint});
    CHECK(was_killed(outcome));
    CHECK(read_file(ground.log) == kText);
  }
}

TEST_CASE("a change that no tracer sees is reported") {
  const Playground ground;
  write_file(ground.log, kText);
  const auto body = [&ground] {
    const int fd = open(ground.log.c_str(), O_RDWR | O_CLOEXEC);
    void* memory = mmap(nullptr, kText.size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory != MAP_FAILED ? 0 : 1;
  };
  const TraceOutcome outcome = ground.tracer.run(body, {});
  CHECK(outcome.process.succeeded());
  CHECK(count_points(outcome.points, kind_bit(CallKind::kHidden)) == 1);
}

TEST_CASE("sleeps return at once") {
  const Playground ground;
  const auto body = [] {
    const timespec hour{3600, 0};
    return nanosleep(&hour, nullptr) == 0 &&
                   clock_nanosleep(CLOCK_MONOTONIC, 0, &hour, nullptr) == 0
               ? 0
               : 1;
  };
  const TraceOutcome outcome = ground.tracer.run(body, {});
  CHECK(outcome.process.succeeded());
  CHECK_FALSE(outcome.timed_out);
}

TEST_CASE("a program that does not end is killed when its time is up") {
  const Playground ground;
  const SyscallTracer impatient(ground.folder.path(), std::chrono::milliseconds(100));
  const TraceOutcome outcome = impatient.run(
      [] {
        pause();
        return 0;
      },
      {});
  CHECK(outcome.timed_out);
  CHECK(was_killed(outcome));
}

TEST_CASE("a program keeps its input, output, exit status and signals under the tracer") {
  const Playground ground;
  const ChildCommand shell{
      {"/bin/sh", "-c", "cat; echo error >&2; trap 'exit 7' USR1; kill -USR1 $$"}, "hello"};
  const TraceOutcome outcome = ground.tracer.run(shell, {});
  CHECK(outcome.process.out == "hello");
  CHECK(outcome.process.err == "error\n");
  CHECK(outcome.process.exit_code == 7);
  CHECK(count_points(outcome.points, kind_bit(CallKind::kOutput)) > 0);
  const ChildResult untraced = run_child(shell);
  CHECK(untraced.out == "hello");
  CHECK(untraced.exit_code == 7);
}

TEST_CASE("counting up the point reaches every call once and then none") {
  std::size_t point = 0;
  for (bool reached = true; reached;) {
    const Playground ground;
    const TraceOutcome outcome =
        ground.run_write_log({.action = FaultAction::kKillBefore, .point = ++point});
    reached = outcome.reached;
    CHECK(was_killed(outcome) == reached);
    if (!reached) {
      CHECK(read_file(ground.log) == kText);
    }
  }
  CHECK(point == 4);
}

}  // namespace bmad_mem::syscall_tracer_test
