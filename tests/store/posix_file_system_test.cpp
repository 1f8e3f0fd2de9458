// posix_file_system_test.cpp - what only a real system does to files: limits, permissions, devices,
// signals, old kernels. What every FileSystem promises is in file_system_contract_test.cpp.
//
// What cannot be undone in a process (limits, users, filters) happens in a child, whose exit status
// is the number of the line that did not hold, or 0.
#include "store/posix_file_system.hpp"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "concurrency/child.hpp"
#include "store/append_log.hpp"
#include "store/atomic_file.hpp"
#include "support/manual_clock.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::posix_file_system_test {
namespace {

std::unique_ptr<FileSystem> open_root(const std::string& root) {
  return std::move(open_posix_file_system(root).value());
}

/// In a child: stops it when `holds` is false, and says which line of this file it was.
void must(bool holds, int line = __builtin_LINE()) {
  if (!holds) {
    fmt::print(stderr, "posix_file_system_test.cpp:{}: does not hold\n", line);
    std::fflush(stderr);
    ::_exit(1);
  }
}

void set_limit(int resource, rlim_t value) {
  rlimit limit{};
  ::getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  limit.rlim_cur = value;
  must(::setrlimit(static_cast<__rlimit_resource>(resource), &limit) == 0);
}

void make_socket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(path.size() < sizeof address.sun_path);
  std::strcpy(address.sun_path, path.c_str());
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  ::close(fd);
}

Result<std::uint64_t> prepare_log(FileSystem& files) {
  const ManualClock clock;
  AppendLog log(files, clock, "log.jsonl", "quarantine.jsonl");
  return log.prepare();
}

}  // namespace

TEST_CASE("what is no file and no folder is refused, and nobody hangs") {
  TemporaryDirectory folder;
  bool made = true;
  SUBCASE("a FIFO that nobody reads or writes") {
    REQUIRE(::mkfifo(folder.path("log.jsonl").c_str(), 0600) == 0);
  }
  SUBCASE("a socket") { make_socket(folder.path("log.jsonl")); }
  SUBCASE("a link to a file") {
    folder.write("target", "");
    std::filesystem::create_symlink("target", folder.path("log.jsonl"));
  }
  SUBCASE("a link to nowhere") {
    std::filesystem::create_symlink("nowhere", folder.path("log.jsonl"));
  }
  SUBCASE("a folder") { folder.make_folder("log.jsonl"); }
  SUBCASE("a device") {
    made = ::mknod(folder.path("log.jsonl").c_str(), S_IFCHR | 0600, makedev(1, 7)) == 0;
    if (!made) {
      // Only root may make one; another user could not be given one either.
      REQUIRE(errno == EPERM);
      REQUIRE(::geteuid() != 0);
    }
  }
  if (made) {
    const auto files = open_root(folder.path());
    for (const OpenMode mode :
         {OpenMode::kRead, OpenMode::kAppend, OpenMode::kUpdate, OpenMode::kCreate}) {
      CHECK_FALSE(files->open("log.jsonl", mode).has_value());
    }
    CHECK(files->info("log.jsonl").value().kind != FileKind::kRegular);
    const Result<std::uint64_t> prepared = prepare_log(*files);
    REQUIRE_FALSE(prepared.has_value());
    CHECK(prepared.error().code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(prepared.error().path == folder.path("log.jsonl"));
    CHECK_FALSE(std::filesystem::exists(folder.path("nowhere")));
  }
}

TEST_CASE("a file that is a hole for the most part is refused to who reads or appends") {
  const TemporaryDirectory folder;
  const auto files = open_root(folder.path());
  constexpr std::uintmax_t kMiB = std::uintmax_t{1} << 20U;
  folder.write("log", std::string(2 * kMiB, 'x'));
  for (const std::uintmax_t size : {64 * kMiB, 100 * kMiB}) {
    std::filesystem::resize_file(folder.path("log"), size);
    CHECK(files->open("log", OpenMode::kRead));  // Much of it, or it is no more than may be read.
  }
  for (const std::uintmax_t size : {7 * 1024 * kMiB, kMiB * kMiB}) {
    std::filesystem::resize_file(folder.path("log"), size);
    CHECK(files->open("log", OpenMode::kUpdate));
    for (const OpenMode mode : {OpenMode::kRead, OpenMode::kAppend}) {
      const auto opened = files->open("log", mode);
      REQUIRE_FALSE(opened);
      CHECK(opened.error().code == ErrorCode::E_SIZE_LIMIT);
      CHECK(opened.error().path == folder.path("log"));
      CHECK(opened.error().message.contains(std::to_string(size)));
    }
  }
}

TEST_CASE("what is written bears the time to which tests have moved the clock") {
  TemporaryDirectory folder;
  folder.write("log.jsonl", "{\"id\":1}\n");
  Child child([&] {
    const auto files = open_root(folder.path());
    const Timestamp moved = parse_rfc3339("2031-03-01T12:00:00.250Z").value();
    const std::int64_t moved_ns = std::chrono::nanoseconds(moved.time_since_epoch()).count();
    const auto is_moved = [&](const std::string& path) {
      const std::int64_t since_ns = files->info(path).value().mtime_ns - moved_ns;
      return since_ns >= 0 && since_ns < 60'000'000'000;
    };
    must(!is_moved("log.jsonl"));
    move_system_clock(moved);
    must(files->open("log.jsonl", OpenMode::kRead).has_value() && !is_moved("log.jsonl"));
    const auto log = std::move(files->open("log.jsonl", OpenMode::kAppend).value());
    must(log->write("{\"id\":2}\n").has_value() && is_moved("log.jsonl"));
    must(replace_file(*files, "new", "text").has_value() && is_moved("new"));
    move_system_clock(moved - std::chrono::hours(1));
    must(log->truncate(9).has_value() && !is_moved("log.jsonl"));
    return 0;
  });
  CHECK(child.wait() == 0);
}

TEST_CASE("a file that may not grow is an error of the write, not a death") {
  TemporaryDirectory folder;
  folder.write("log.jsonl", "{\"id\":1}\n");
  Child child([&] {
    ignore_write_signals();
    const auto files = open_root(folder.path());
    const ManualClock clock;
    AppendLog log(*files, clock, "log.jsonl", "quarantine.jsonl");
    set_limit(RLIMIT_FSIZE, 20);
    must(log.prepare().has_value());
    const Result<AppendLog::Written> written = log.write("{\"id\":\"longer than fits\"}\n");
    must(!written.has_value());
    must(written.error().code == ErrorCode::E_STORAGE_FULL);
    must(written.error().os_error == EFBIG);
    must(written.error().message.find("ulimit -f") != std::string::npos);
    must(files->info("log.jsonl").value().size == 9);  // What fitted was taken back.
    must(!replace_file(*files, "x", std::string(100, 'x')).has_value());
    must(!files->info("x").has_value() && !files->info("x.tmp").has_value());
    set_limit(RLIMIT_FSIZE, RLIM_INFINITY);
    must(log.prepare().has_value());
    must(log.write("{\"id\":2}\n").has_value());
    return 0;
  });
  CHECK(child.wait() == 0);
  CHECK(folder.read("log.jsonl") == "{\"id\":1}\n{\"id\":2}\n");
}

TEST_CASE("a process without free descriptors gets errors, and a warm log goes on") {
  TemporaryDirectory folder;
  Child child([&] {
    const auto files = open_root(folder.path());
    const ManualClock clock;
    AppendLog log(*files, clock, "log.jsonl", "quarantine.jsonl");
    must(log.prepare().has_value());
    must(AppendLog::sync(log.write("{\"id\":1}\n").value()).has_value());
    set_limit(RLIMIT_NOFILE, 0);

    const Result<std::unique_ptr<File>> file = files->open("log.jsonl", OpenMode::kRead);
    must(!file.has_value());
    must(file.error().code == ErrorCode::E_STORAGE_IO);
    must(file.error().os_error == EMFILE);
    must(file.error().message.find("ulimit -n") != std::string::npos);
    must(!files->list("").has_value());
    must(!files->sync_directory("").has_value());
    must(!replace_file(*files, "x", "text").has_value());
    must(!open_posix_file_system(folder.path()).has_value());

    must(log.prepare().has_value());
    must(AppendLog::sync(log.write("{\"id\":2}\n").value()).has_value());
    return 0;
  });
  CHECK(child.wait() == 0);
  CHECK(folder.read("log.jsonl") == "{\"id\":1}\n{\"id\":2}\n");
}

TEST_CASE("a root that may only be read is read, and every change is an error that says why") {
  TemporaryDirectory folder;
  folder.make_folder("sessions");
  folder.write("x", "text");
  std::filesystem::permissions(folder.path("x"), std::filesystem::perms(0444));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  Child child([&] {
    // Root may do everything, so another user has to try.
    constexpr uid_t kNobody = 65534;
    must(::geteuid() != 0 || ::setuid(kNobody) == 0);
    const auto files = open_root(folder.path());
    must(read_file(*files, "x", 100).value() == "text");
    must(files->list("").value().size() == 2);
    const auto denied = [](const auto& result) {
      return !result.has_value() && result.error().code == ErrorCode::E_STORAGE_IO &&
             (result.error().os_error == EACCES || result.error().os_error == EPERM) &&
             result.error().message.find("permissions") != std::string::npos;
    };
    must(denied(files->open("x", OpenMode::kAppend)));
    must(denied(files->open("new", OpenMode::kAppend)));
    must(denied(files->make_directory("new")));
    must(denied(files->rename("x", "y")));
    must(denied(files->remove("x")));
    must(denied(files->remove_directory("sessions")));
    must(denied(replace_file(*files, "x", "other")));
    must(denied(make_root_directory(folder.path("a/b"))));
    return 0;
  });
  CHECK(child.wait() == 0);
  CHECK(folder.read("x") == "text");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0700));
}

TEST_CASE("a kernel without openat2 refuses links all the same") {
  TemporaryDirectory outside;
  outside.make_folder("folder");
  outside.write("folder/x", "not yours");
  TemporaryDirectory folder;
  folder.make_folder("s");
  folder.write("s/log", "mine");
  std::filesystem::create_symlink(outside.path("folder"), folder.path("link"));
  std::filesystem::create_symlink("log", folder.path("s/near"));
  Child child([&] {
    sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{.len = std::size(rules), .filter = rules};
    must(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    must(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    errno = 0;
    must(::syscall(SYS_openat2, -1, "", nullptr, 0) == -1 && errno == ENOSYS);

    const auto files = open_root(folder.path());
    must(read_file(*files, "s/log", 100).value() == "mine");
    must(replace_file(*files, "s/log", "changed").has_value());
    must(files->list("s").value().size() == 2);
    for (const char* path :
         {"link/x", "link/new", "s/near", "link", "../x", "/etc/passwd", "s/.."}) {
      for (const OpenMode mode :
           {OpenMode::kRead, OpenMode::kAppend, OpenMode::kUpdate, OpenMode::kCreate}) {
        must(!files->open(path, mode).has_value());
      }
    }
    must(!files->list("link").has_value());
    must(!files->sync_directory("link").has_value());
    must(!files->remove("link/x").has_value());
    must(!files->rename("s/log", "link/log").has_value());
    must(!files->make_directory("link/new").has_value());
    must(files->open("s/log/x", OpenMode::kRead).error().os_error == ENOTDIR);
    return 0;
  });
  CHECK(child.wait() == 0);
  CHECK(outside.read("folder/x") == "not yours");
  CHECK_FALSE(std::filesystem::exists(outside.path("folder/new")));
  CHECK(folder.read("s/log") == "changed");
}

TEST_CASE("a program's own handlers of SIGXFSZ and SIGPIPE are left alone") {
  Child child([] {
    struct sigaction own{};
    own.sa_handler = [](int) {};
    must(::sigaction(SIGPIPE, &own, nullptr) == 0);
    ignore_write_signals();
    struct sigaction pipe_action{};
    struct sigaction size_action{};
    must(::sigaction(SIGPIPE, nullptr, &pipe_action) == 0);
    must(::sigaction(SIGXFSZ, nullptr, &size_action) == 0);
    must(pipe_action.sa_handler == own.sa_handler);
    must(size_action.sa_handler == SIG_IGN);
    return 0;
  });
  CHECK(child.wait() == 0);
}

TEST_CASE("reads, writes and syncs go on after a signal") {
  TemporaryDirectory folder;
  Child child([&] {
    struct sigaction action{};
    action.sa_handler = [](int) {};
    must(::sigaction(SIGALRM, &action, nullptr) == 0);
    const itimerval often{.it_interval = {0, 100}, .it_value = {0, 100}};
    must(::setitimer(ITIMER_REAL, &often, nullptr) == 0);
    const auto files = open_root(folder.path());
    const ManualClock clock;
    AppendLog log(*files, clock, "log.jsonl", "quarantine.jsonl");
    for (int i = 0; i < 30; ++i) {
      must(log.prepare().has_value());
      must(AppendLog::sync(log.write("{\"id\":1}\n").value()).has_value());
      must(replace_file(*files, "x", std::string(10'000, 'x')).has_value());
      must(read_file(*files, "x", 100'000).value().size() == 10'000);
    }
    return 0;
  });
  CHECK(child.wait() == 0);
  CHECK(folder.read("log.jsonl").size() == 30 * 9);
}

TEST_CASE("what is made under any umask can be used by its owner and nobody else") {
  for (const mode_t mask : {0U, 0777U}) {
    CAPTURE(mask);
    TemporaryDirectory folder;
    const std::string root = folder.path("a/b");
    Child child([&] {
      constexpr uid_t kNobody = 65534;
      if (::geteuid() == 0) {
        must(::chown(folder.path().c_str(), kNobody, kNobody) == 0);
        must(::setuid(kNobody) == 0);
      }
      ::umask(mask);
      must(make_root_directory(root).has_value());
      const auto files = open_root(root);
      must(files->make_directory("s").has_value());
      must(replace_file(*files, "s/x", "text").has_value());
      must(files->open("s/log", OpenMode::kAppend).has_value());
      must(files->open("s/log", OpenMode::kAppend).has_value());  // Its owner may open it again.
      for (const std::string& path :
           {root, folder.path("a"), root + "/s", root + "/s/x", root + "/s/log"}) {
        struct stat status{};
        must(::stat(path.c_str(), &status) == 0);
        must((status.st_mode & 07777U) == (S_ISDIR(status.st_mode) ? 0700U : 0600U));
      }
      return 0;
    });
    CHECK(child.wait() == 0);
  }
}

TEST_CASE("a file with a second name is read, and never written") {
  const TemporaryDirectory folder;
  const auto files = open_root(folder.path());
  REQUIRE(replace_file(*files, "log", "text").has_value());
  std::filesystem::create_hard_link(folder.path("log"), folder.path("outside"));
  CHECK(files->info("log").value().links == 2);
  CHECK(read_file(*files, "log", 100).value() == "text");
  for (const OpenMode mode : {OpenMode::kAppend, OpenMode::kUpdate, OpenMode::kCreate}) {
    const auto refused = files->open("log", mode);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(refused.error().path == folder.path("log"));
    CHECK(refused.error().message.contains("cp -p"));
  }
  CHECK(read_file(*files, "outside", 100).value() == "text");
  REQUIRE(replace_file(*files, "log", "other").has_value());  // A new file, of one name.
  CHECK(read_file(*files, "outside", 100).value() == "text");
  CHECK(files->open("log", OpenMode::kAppend).has_value());
}

TEST_CASE("a root that is replaced is followed, and one that has gone is named") {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder.path("memory"));
  const std::unique_ptr<FileSystem> files = open_root(folder.path("memory"));
  REQUIRE(replace_file(*files, "a", "old").has_value());
  CHECK(files->follow_root().has_value());

  std::filesystem::rename(folder.path("memory"), folder.path("old"));
  const Status gone = files->follow_root();
  REQUIRE_FALSE(gone.has_value());
  CHECK(gone.error().path == folder.path("memory"));
  CHECK(read_file(*files, "a", 100).value() == "old");  // What was open stays open.

  std::filesystem::create_directory(folder.path("memory"));
  REQUIRE(files->follow_root().has_value());
  CHECK_FALSE(files->info("a").has_value());
  REQUIRE(replace_file(*files, "a", "new").has_value());
  CHECK(std::filesystem::file_size(folder.path("memory/a")) == 3);
  CHECK(read_file(*files, "a", 100).value() == "new");
}

}  // namespace bmad_mem::test::posix_file_system_test
