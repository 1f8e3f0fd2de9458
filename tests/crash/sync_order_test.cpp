#include "sync_order.hpp"

#include <cerrno>

#include <doctest/doctest.h>

namespace bmad_mem::sync_order_test {
namespace {

using enum CallKind;
using Losses = std::vector<std::string>;

TracePoint call(CallKind kind, const std::string& path, const std::string& path_to = {}) {
  TracePoint point;
  point.kind = kind;
  point.call = kind_name(kind);
  point.path = "/w/" + path;
  point.path_to = path_to.empty() ? "" : "/w/" + path_to;
  point.executed = true;
  return point;
}

TracePoint create(const std::string& path) {
  TracePoint point = call(kOpenWrite, path);
  point.creates = true;
  return point;
}

Losses losses(const std::vector<TracePoint>& points) {
  return unsafe_when_acknowledged(points, "/w");
}

}  // namespace

TEST_CASE("an append is safe when it is synced before the output") {
  CHECK(losses({call(kWrite, "s/log"), call(kSync, "s/log"), call(kOutput, "")}).empty());
  CHECK(losses({call(kWrite, "s/log"), call(kOutput, ""), call(kSync, "s/log")}) ==
        Losses{"s/log: its bytes are not synced when the command reports success"});
  CHECK(losses({call(kWrite, "s/log")}) ==
        Losses{"s/log: its bytes are not synced when the command ends"});
}

TEST_CASE("after a failed sync a second one makes nothing safe") {
  TracePoint failed = call(kSync, "s/log");
  failed.executed = false;
  const TracePoint write = call(kWrite, "s/log");
  const TracePoint sync = call(kSync, "s/log");
  failed.result = -EIO;
  CHECK(losses({write, failed}).size() == 1);
  CHECK(losses({write, failed, sync}).size() == 1);
  SUBCASE("unless a signal interrupted the first") {
    failed.result = -EINTR;
    CHECK(losses({write, failed, sync}).empty());
  }
  SUBCASE("but a copy in a new file is safe") {
    CHECK(losses({write, failed, create("s/log.tmp"), call(kWrite, "s/log.tmp"),
                  call(kSync, "s/log.tmp"), call(kRename, "s/log.tmp", "s/log"), call(kSync, "s")})
              .empty());
  }
}

TEST_CASE("a new file needs a sync of its folder") {
  const std::vector<TracePoint> created = {create("s/log"), call(kWrite, "s/log"),
                                           call(kSync, "s/log")};
  CHECK(losses(created) == Losses{"s/log: its folder is not synced when the command ends"});
  std::vector<TracePoint> synced = created;
  synced.push_back(call(kSync, "s"));
  CHECK(losses(synced).empty());
}

TEST_CASE("a replaced file is synced, renamed, and its folder is synced") {
  const TracePoint make = create("s/m.tmp");
  const TracePoint write = call(kWrite, "s/m.tmp");
  const TracePoint sync = call(kSync, "s/m.tmp");
  const TracePoint rename = call(kRename, "s/m.tmp", "s/m");
  const TracePoint folder = call(kSync, "s");
  CHECK(losses({make, write, sync, rename, folder}).empty());
  CHECK(losses({make, write, rename, folder}) ==
        Losses{"s/m: renamed into place before its bytes were synced",
               "s/m: its bytes are not synced when the command ends"});
  CHECK(losses({make, write, sync, rename}) ==
        Losses{"s/m: its folder is not synced when the command ends"});
}

TEST_CASE("a renamed folder takes its unsafe files along") {
  CHECK(losses({call(kMakeNode, "new.tmp"), create("new.tmp/log"), call(kSync, "new.tmp"),
                call(kWrite, "new.tmp/log"), call(kRename, "new.tmp", "s"), call(kSync, "")}) ==
        Losses{"s/log: its bytes are not synced when the command ends",
               "s: its folder is not synced when the command ends"});
}

TEST_CASE("derived files and what was removed again need no sync") {
  CHECK(losses({create("s/index.json"), call(kWrite, "s/index.json"), create("s/.lock"),
                create("s/x"), call(kWrite, "s/x"), call(kUnlink, "s/x")})
            .empty());
}

}  // namespace bmad_mem::sync_order_test
