// memory_hub.hpp - a hub in memory: what tests and models compare another one with.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "bmad_mem/hub.hpp"

namespace bmad_mem::test {

/// The feed itself, which any number of MemoryHub share. Threads: any.
struct MemoryFeed {
  std::mutex mutex;
  std::vector<FeedRow> rows;  ///< Row i has seq i + 1; one without a replica is a gap.
  std::map<std::string, HubReplica> replicas;
  std::set<std::pair<std::string, std::string>> gone;  ///< Purged: sessions, and ids in them.
  std::string policy;                                  ///< HubHead::policy.
  Timestamp now{};                                     ///< HubHead::now.
};

/// Where a push may fail.
enum class PushFault : std::uint8_t {
  kNone,
  kBefore,  ///< Nothing is stored.
  kAnswer,  ///< All is stored, and the answer is lost.
};

class MemoryHub final : public Hub {
 public:
  explicit MemoryHub(std::shared_ptr<MemoryFeed> feed, std::string replica = {})
      : feed_(std::move(feed)), replica_(std::move(replica)) {}

  Result<HubHead> head() override;
  Result<std::vector<FeedRow>> pull(const PullRange& range) override;
  Result<std::vector<FeedRow>> rows(std::span<const std::uint64_t> seqs) override;
  Result<PushAnswer> push(const PushBatch& batch) override;
  Status confirm(std::uint64_t cursor) override;
  Status add_replica(const std::string& replica, const std::string& host) override;
  Status drop_replica(const std::string& replica) override;
  Status drop_row(std::uint64_t seq) override;
  Result<std::vector<HubReplica>> replicas() override;

  /// What HubHead::rights says; nobody checks them here.
  std::string rights = "admin";
  /// Asked before each push.
  std::function<PushFault()> fault;
  /// Changes what pull() and rows() answer.
  std::function<void(std::vector<FeedRow>&)> distort;

 private:
  std::shared_ptr<MemoryFeed> feed_;
  std::string replica_;
};

}  // namespace bmad_mem::test
