#include "support/memory_hub.hpp"

#include <algorithm>

namespace bmad_mem::test {
namespace {

Error away() { return {.code = ErrorCode::E_HUB_AWAY, .message = "the hub did not answer"}; }

}  // namespace

Result<HubHead> MemoryHub::head() {
  const std::scoped_lock lock(feed_->mutex);
  const auto replica = feed_->replicas.find(replica_);
  const bool is_known = replica != feed_->replicas.end();
  return HubHead{.head = feed_->rows.size(),
                 .pushed = is_known ? replica->second.pushed : 0,
                 .is_replica = is_known,
                 .rights = rights,
                 .version = kHubVersion,
                 .policy = feed_->policy,
                 .now = feed_->now,
                 .seen_at = is_known ? replica->second.seen_at : feed_->now};
}

Result<std::vector<FeedRow>> MemoryHub::pull(const PullRange& range) {
  const std::scoped_lock lock(feed_->mutex);
  std::vector<FeedRow> found;
  std::size_t bytes = 0;
  for (std::uint64_t seq = range.after + 1;
       seq <=
           std::min<std::uint64_t>(range.until.value_or(feed_->rows.size()), feed_->rows.size()) &&
       found.size() < kPullRowsMax && bytes < kPullBytesMax;
       ++seq) {
    const FeedRow& row = feed_->rows[seq - 1];
    if (!row.replica.empty() && row.session_id == range.session_id.value_or(row.session_id)) {
      found.push_back(row);
      bytes += row.line ? row.line->size() : 0;
    }
  }
  if (distort) {
    distort(found);
  }
  return found;
}

Result<std::vector<FeedRow>> MemoryHub::rows(std::span<const std::uint64_t> seqs) {
  const std::scoped_lock lock(feed_->mutex);
  std::vector<FeedRow> found;
  for (const std::uint64_t seq : seqs) {
    if (seq != 0 && seq <= feed_->rows.size() && !feed_->rows[seq - 1].replica.empty()) {
      found.push_back(feed_->rows[seq - 1]);
    }
  }
  std::ranges::sort(found, {}, &FeedRow::seq);
  if (distort) {
    distort(found);
  }
  return found;
}

Result<PushAnswer> MemoryHub::push(const PushBatch& batch) {
  const PushFault failure = fault ? fault() : PushFault::kNone;
  if (failure == PushFault::kBefore) {
    return away();
  }
  std::size_t bytes = 0;
  for (const FeedRow& row : batch.rows) {
    bytes += row.line ? row.line->size() : 0;
  }
  if (batch.rows.size() > kPushRowsMax || (bytes > kPushBytesMax && batch.rows.size() > 1)) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT, .message = "the push is too large"};
  }
  const std::scoped_lock lock(feed_->mutex);
  HubReplica& replica = feed_->replicas[replica_];
  PushAnswer answer;
  if (replica.pushed != batch.pushed ||
      batch.only_at_head.value_or(feed_->rows.size()) != feed_->rows.size()) {
    return answer;
  }
  answer.is_stored = true;
  replica.pushed += batch.rows.size();
  replica.seen_at = feed_->now;
  for (const FeedRow& row : batch.rows) {
    feed_->rows.push_back(row);
    FeedRow& stored = feed_->rows.back();
    const std::pair entry(row.session_id, row.entry_id);
    if (row.op == FeedOp::kLine && feed_->gone.contains(entry)) {
      stored = {};
      answer.seqs.push_back(0);
      continue;
    }
    stored.seq = feed_->rows.size();
    stored.replica = replica_;
    stored.who = replica.who;
    answer.seqs.push_back(stored.seq);
    const std::span<FeedRow> before(feed_->rows.data(), feed_->rows.size() - 1);
    if (row.op == FeedOp::kPurge) {
      feed_->gone.insert(entry);
    }
    if (row.op == FeedOp::kRedact && feed_->gone.contains(entry)) {
      stored.line.reset();  // What was purged gets no content again.
      continue;
    }
    for (FeedRow& old : before) {
      const bool is_text = old.op == FeedOp::kLine || old.op == FeedOp::kRedact;
      const bool is_purged = row.op == FeedOp::kPurge && is_text &&
                             old.session_id == row.session_id && old.entry_id == row.entry_id;
      const bool is_superseded = row.op == FeedOp::kManifest && old.op == FeedOp::kManifest &&
                                 old.session_id == row.session_id;
      const bool is_target =
          old.seq == row.target || (old.op == FeedOp::kRedact && old.target == row.target);
      if (is_purged || is_superseded) {
        old.line.reset();
      } else if (row.op == FeedOp::kRedact && old.line && is_target) {
        old.line = row.line;
      }
    }
  }
  return failure == PushFault::kAnswer ? Result<PushAnswer>(away()) : answer;
}

Status MemoryHub::confirm(std::uint64_t cursor) {
  const std::scoped_lock lock(feed_->mutex);
  HubReplica& replica = feed_->replicas[replica_];
  replica.cursor = std::max(replica.cursor, cursor);
  replica.seen_at = feed_->now;
  return {};
}

Status MemoryHub::add_replica(const std::string& replica, const std::string& host) {
  const std::scoped_lock lock(feed_->mutex);
  replica_ = replica;
  feed_->replicas.try_emplace(
      replica, HubReplica{.replica = replica, .who = "me", .host = host, .seen_at = feed_->now});
  return {};
}

Status MemoryHub::drop_replica(const std::string& replica) {
  const std::scoped_lock lock(feed_->mutex);
  feed_->replicas.erase(replica);
  return {};
}

Status MemoryHub::drop_row(std::uint64_t seq) {
  const std::scoped_lock lock(feed_->mutex);
  feed_->rows.at(seq - 1) = {};
  return {};
}

Result<std::vector<HubReplica>> MemoryHub::replicas() {
  const std::scoped_lock lock(feed_->mutex);
  std::vector<HubReplica> all;
  for (const auto& [id, replica] : feed_->replicas) {
    all.push_back(replica);
  }
  return all;
}

}  // namespace bmad_mem::test
