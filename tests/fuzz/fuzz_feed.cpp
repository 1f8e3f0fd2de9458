// fuzz_feed.cpp - rows of a feed as whoever can write to a hub may make them, and a mirror that
// pulls them.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/hub.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "fuzz/changed_bytes.hpp"
#include "fuzz/fuzz_targets.hpp"
#include "fuzz/must.hpp"
#include "support/memory_hub.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test {
namespace {

constexpr std::string_view kSomeIds[] = {"f1", "f2", "own", "", "*", "../x"};
constexpr std::string_view kSomeSessions[] = {"s1", "s1", "s2", "../s", ""};

std::string fact(std::string_view id) {
  return fmt::format(
      R"({{"id":"{}","timestamp":"2026-01-11T10:00:00Z","content":"{} of all","decay_factor":1.0}})",
      id, id);
}

std::string manifest(std::string_view session) {
  return fmt::format(
      R"({{"session_id":"{}","created_at":"2026-01-11T10:00:00Z","metadata":{{"title":"t"}}}})",
      session);
}

/// Each row takes six bytes, and changes of its line as many more as the last of them says.
std::vector<FeedRow> rows_of(std::string_view bytes) {
  std::vector<FeedRow> rows;
  while (bytes.size() >= 6 && rows.size() < 40) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
    FeedRow row{.seq = rows.size() + 1,
                .replica = "another",
                .op = static_cast<FeedOp>(byte(0) % 8),
                .session_id = std::string(kSomeSessions[byte(1) % std::size(kSomeSessions)]),
                .log = byte(1) < 128 ? EntryType::kFact : static_cast<EntryType>(byte(1) % 9),
                .target = byte(2) % 8U,
                .entry_id = std::string(kSomeIds[byte(3) % std::size(kSomeIds)])};
    const std::size_t changes = std::min<std::size_t>(byte(5), bytes.size() - 6);
    if (byte(4) % 8 != 0) {
      row.line =
          changed_bytes(row.op == FeedOp::kManifest ? manifest(row.session_id) : fact(row.entry_id),
                        bytes.substr(6, changes));
    }
    bytes.remove_prefix(6 + changes);
    rows.push_back(std::move(row));
  }
  return rows;
}

void must_do(const Status& status, std::string_view what) {
  must(status.has_value(), what, status ? "" : status.error().to_string());
}

}  // namespace

void fuzz_feed(std::string_view bytes) {
  const TemporaryDirectory folder;
  must(MemoryManager::init(folder.path("m")).has_value(), "a memory is made");
  MemoryManager memory = MemoryManager::open({.root = folder.path("m")}).value();
  const auto feed = std::make_shared<MemoryFeed>();
  MemoryHub hub(feed);
  must_do(join_hub(memory, hub, {.service = "team", .project = "shop", .host = "here"}),
          "it joins");
  must(memory.create_session({.session_id = "s1"}).has_value(), "a session is made");
  must(memory.add("s1", EntryType::kFact, fact("own")).has_value(), "an entry is made");
  feed->rows = rows_of(bytes);
  feed->rows.push_back({.seq = feed->rows.size() + 1,
                        .replica = "another",
                        .session_id = "s3",
                        .log = EntryType::kFact,
                        .entry_id = "last",
                        .line = fact("last")});
  for (const bool pushes : {false, true}) {
    const Result<SyncReport> report = sync_with_hub(memory, hub, {.pushes = pushes});
    must(report.has_value(), "rows stop no mirror", report ? "" : report.error().to_string());
    must(pushes || report->cursor == feed->rows.size(), "all rows are looked at");
  }
  const std::vector<std::string> last = {"last"};
  must(memory.get(last).has_value(), "what is behind them is applied");
  must_do(reclone_from_hub(memory, hub, {}), "it begins again");
  const Result<SyncReport> again = sync_with_hub(memory, hub);
  must(again.has_value(), "and once more", again ? "" : again.error().to_string());
}

}  // namespace bmad_mem::test
