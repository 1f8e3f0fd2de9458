// compaction_plan.cpp - decides which lines of a session leave its logs, and in which order.
#include "lifecycle/compaction_plan.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/entry_fields.hpp"
#include "bmad_mem/entry_type.hpp"
#include "model/entry.hpp"
#include "model/title.hpp"
#include "store/entry_scanner.hpp"
#include "store/layout.hpp"

namespace bmad_mem {
namespace {

/// Hash of type and line, without the id wherever it stands as a string of its own.
std::uint64_t hash_without_id(EntryType type, std::string_view text, std::string_view id) {
  assert(!id.empty() && "a line without an id is no entry");
  const std::string quoted = '"' + std::string(id) + '"';
  std::string rest(1, static_cast<char>('0' + static_cast<int>(type)));
  std::size_t from = 0;
  for (std::size_t at = text.find(quoted); at != std::string_view::npos;
       at = text.find(quoted, from)) {
    rest.append(text, from, at - from);
    from = at + quoted.size();
  }
  rest.append(text, from);
  return xxh3(rest);
}

bool is_one_of(std::string_view text, std::string_view a, std::string_view b) {
  return text == a || text == b;
}

CompactionEntry to_compaction_entry(const ScannedEntry& scanned, const CompactionRules& rules) {
  const EntryHead head = entry_head(scanned.type, scanned.value);
  CompactionEntry entry{log_line(scanned)};
  entry.who = head.who;
  for (const std::string_view id : entry_citations(scanned.value)) {
    entry.references.emplace_back(id);
  }
  entry.content_hash = hash_without_id(scanned.type, scanned.text, head.id);
  entry.timestamp = head.timestamp;
  entry.must_stay = must_stay(scanned.type, scanned.value);
  entry.is_settled = scanned.type == EntryType::kFinding &&
                     is_one_of(scanned.value["status"].string(), "resolved", "dismissed");
  entry.tool = to_tool_event(scanned);
  const DecayInput input = decay_input(
      scanned.type, head, rules.accesses == nullptr ? nullptr : rules.accesses->find(head.id));
  entry.decay_factor = effective_decay(rules.decay, input, rules.now);
  entry.relevance =
      relevance_of(entry.decay_factor, input.importance, input.last_accessed, rules.now);
  return entry;
}

/// What a session may be called after, see store/manifest.hpp; else empty.
std::string request_of(EntryType type, JsonValue entry) {
  return type == EntryType::kConversation && entry["role"].string() == "user" &&
                 !entry[kSensitiveField].boolean()
             ? request_line(entry["content"].string())
             : std::string();
}

/// All entries and versions of session `session_id`, by type and line.
Result<std::vector<CompactionEntry>> load_compaction_entries(FileSystem& files,
                                                             std::string_view session_id,
                                                             const CompactionRules& rules) {
  std::vector<CompactionEntry> entries;
  std::string first;    // Id of the first request, …
  std::string titling;  // … and of that after which the session is called.
  const auto take = [&](const ScannedEntry& scanned) {
    CompactionEntry& entry = entries.emplace_back(to_compaction_entry(scanned, rules));
    if (titling.empty()) {
      const std::string request = request_of(scanned.type, scanned.value);
      first = first.empty() && !request.empty() ? entry.id : first;
      titling = says_something(request) ? entry.id : titling;
    }
    entry.must_stay = entry.must_stay || (scanned.type == EntryType::kConversation &&
                                          (entry.id == first || entry.id == titling));
  };
  BMAD_TRY(scan_logs(files, session_folder(session_id), {.on_entry = take}));
  return entries;
}

constexpr double kDecayedBelow = 0.3;
constexpr std::chrono::days kTalkIsOld{7};

/// Orders candidates so that the front of a priority queue is the one to go first.
struct GoesLater {
  const std::vector<CompactionEntry>& entries;

  bool operator()(std::size_t a, std::size_t b) const {
    const CompactionEntry& x = entries[a];
    const CompactionEntry& y = entries[b];
    if (x.is_tiered != y.is_tiered) {
      return y.is_tiered;
    }
    if (x.relevance != y.relevance) {
      return x.relevance > y.relevance;
    }
    if (x.timestamp != y.timestamp) {
      return x.timestamp > y.timestamp;
    }
    return a > b;
  }
};

/// Takes entries away, the least relevant first, and never one that an entry which stays refers to.
class Eviction {
 public:
  Eviction(std::vector<CompactionEntry>& entries, const CompactionRules& rules)
      : entries_(entries), rules_(rules), queue_(GoesLater{entries}) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!entries_[i].removal) {
        by_id_.emplace(entries_[i].id, i);
        ++left_;
      }
    }
    for (const CompactionEntry& entry : entries_) {
      if (!entry.removal) {
        for_each_referred(entry, [](CompactionEntry& other) { ++other.referred_by; });
      }
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      offer(i);
    }
  }

  /// Evicts until `bytes` of logs are few enough and the share to keep is reached.
  void run(std::uint64_t bytes) {
    const auto keep =
        static_cast<std::size_t>(std::ceil(static_cast<double>(left_) * rules_.keep_share - 1e-9));
    while (!queue_.empty()) {
      const std::size_t index = queue_.top();
      const CompactionEntry& next = entries_[index];
      const bool is_too_big = rules_.bytes_wanted != 0 && bytes >= rules_.bytes_wanted;
      if (left_ <= keep && !is_too_big && !next.is_tiered) {
        return;
      }
      queue_.pop();
      bytes -= next.size;
      evict(index);
    }
  }

 private:
  template <typename Use>
  void for_each_referred(const CompactionEntry& entry, const Use& use) {
    for (const std::string& id : entry.references) {
      const auto [begin, end] = by_id_.equal_range(id);
      for (auto it = begin; it != end; ++it) {
        if (&entries_[it->second] != &entry) {
          use(entries_[it->second]);
        }
      }
    }
  }

  void offer(std::size_t index) {
    const CompactionEntry& entry = entries_[index];
    if (!entry.removal && !entry.must_stay && entry.referred_by == 0) {
      queue_.push(index);
    }
  }

  void evict(std::size_t index) {
    CompactionEntry& entry = entries_[index];
    assert(left_ > 0 && !entry.removal && !entry.must_stay && entry.referred_by == 0);
    entry.remove(RemovalKind::kEvicted,
                 entry.reason.empty()
                     ? fmt::format("among the least relevant ({:.2f})", entry.relevance)
                     : entry.reason);
    --left_;
    for_each_referred(entry, [&](CompactionEntry& other) {
      assert(other.referred_by > 0 && "each reference was counted once");
      if (--other.referred_by == 0) {
        offer(static_cast<std::size_t>(&other - entries_.data()));
      }
    });
  }

  std::vector<CompactionEntry>& entries_;
  const CompactionRules& rules_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, GoesLater> queue_;
  std::unordered_multimap<std::string_view, std::size_t> by_id_;
  std::size_t left_ = 0;
};

/// An older line of an id goes; the last one counts.
void fold_versions(std::vector<CompactionEntry>& entries) {
  std::array<std::unordered_map<std::string_view, std::size_t>, kEntryTypeCount> latest;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CompactionEntry& entry = entries[i];
    const auto [known, is_new] =
        latest[static_cast<std::size_t>(entry.type)].try_emplace(entry.id, i);
    if (!is_new) {
      assert(entries[known->second].line < entry.line && "entries are in the order of their log");
      entries[known->second].remove(RemovalKind::kSuperseded,
                                    fmt::format("superseded by line {}", entry.line));
      known->second = i;
    }
  }
}

/// Entries that are the same but for their id. What others refer to keeps its id.
void drop_duplicates(std::vector<CompactionEntry>& entries) {
  std::unordered_set<std::string_view> referred;
  for (const CompactionEntry& entry : entries) {
    referred.insert(entry.references.begin(), entry.references.end());
  }
  std::unordered_map<std::uint64_t, std::size_t> known;  // Hash without the id: 64 bits suffice.
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CompactionEntry& entry = entries[i];
    if (entry.removal) {
      continue;
    }
    const auto [first, is_new] = known.try_emplace(entry.content_hash, i);
    if (!is_new && !entry.must_stay && !referred.contains(entry.id)) {
      entry.remove(RemovalKind::kDuplicate,
                   fmt::format("says the same as {}", entries[first->second].id));
    }
  }
}

/// Marks what the tiered strategy lets go before anything else.
void mark_tiers(std::vector<CompactionEntry>& entries, const CompactionRules& rules) {
  std::unordered_map<std::string_view, std::size_t> last_state;  // By agent.
  bool summary_reaches = !rules.last_summarized_id.empty();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    CompactionEntry& entry = entries[i];
    if (entry.removal) {
      continue;
    }
    if (entry.type == EntryType::kConversation) {
      if (summary_reaches && entry.timestamp + kTalkIsOld < rules.now) {
        entry.reason = "older than a week, and in the summary";
      }
      summary_reaches = summary_reaches && entry.id != rules.last_summarized_id;
    } else if (entry.type == EntryType::kFinding && entry.is_settled) {
      entry.reason = "a settled finding";
    } else if (entry.type == EntryType::kAgentState) {
      const auto [known, is_new] = last_state.try_emplace(entry.who, i);
      if (!is_new) {
        entries[known->second].reason = "an older state of its agent";
        entries[known->second].is_tiered = true;
        known->second = i;
      }
    }
    if (entry.reason.empty() && entry.decay_factor < kDecayedBelow) {
      entry.reason = fmt::format("decayed to {:.2f}", entry.decay_factor);
    }
    entry.is_tiered = !entry.reason.empty();
  }
}

void gather(const std::vector<CompactionEntry>& entries, CompactionPlan& plan) {
  plan.entries_after = plan.added_count;
  plan.bytes_after += plan.added_events.size();
  for (const CompactionEntry& entry : entries) {
    plan.entries_before += entry.removal == RemovalKind::kSuperseded ? 0 : 1;
    plan.entries_after += entry.removal ? 0 : 1;
    if (entry.removal) {
      plan.bytes_after -= entry.size;
      plan.removals.push_back({entry, *entry.removal, entry.reason});
    }
  }
  // Each entry stays or goes.
  assert(plan.entries_after + plan.removals.size() == entries.size() + plan.added_count);
}

}  // namespace

DecayInput decay_input(EntryType type, const EntryHead& head, const Access* access) {
  DecayInput input{.type = type,
                   .timestamp = head.timestamp,
                   .initial_factor = head.decay_factor,
                   .importance = importance_of(type, head.severe, head.approved),
                   .pinned = head.pinned,
                   .access_count = head.access_count,
                   .last_accessed = head.last_accessed};
  if (access != nullptr) {
    input.access_count += access->count;
    input.last_accessed = std::max(input.last_accessed, std::optional(access->last));
  }
  return input;
}

bool must_stay(EntryType type, JsonValue entry) {
  const EntryHead head = entry_head(type, entry);
  if (head.pinned) {
    return true;
  }
  if (type == EntryType::kFinding) {
    return is_one_of(entry["severity"].string(), "high", "critical") &&
           !is_one_of(entry["status"].string(), "resolved", "dismissed");
  }
  return type == EntryType::kDecision && head.approved;
}

std::uint64_t CompactionPlan::count(RemovalKind kind) const {
  return static_cast<std::uint64_t>(std::ranges::count(removals, kind, &PlannedRemoval::kind));
}

double relevance_of(double decay_factor, double importance, std::optional<Timestamp> last_accessed,
                    Timestamp now) {
  assert(decay_factor >= 0 && decay_factor <= 1 && importance >= 0 && importance <= 1);
  constexpr double kNeverAccessed = 0.5;
  constexpr double kRatePerHour = 0.05;
  using Hours = std::chrono::duration<double, std::ratio<3600>>;
  double access = kNeverAccessed;
  if (last_accessed) {
    const double hours = std::max(0.0, Hours(now - *last_accessed).count());
    access += (1 - kNeverAccessed) * std::exp(-kRatePerHour * hours);
  }
  return decay_factor * importance * access;
}

Result<CompactionPlan> plan_compaction(FileSystem& files, std::string_view session_id,
                                       const CompactionRules& rules) {
  CompactionPlan plan;
  assert(rules.keep_share >= 0 && rules.keep_share <= 1);
  BMAD_TRY_ASSIGN(plan.logs, look_at_logs(files, session_id));
  BMAD_TRY_ASSIGN(std::vector<CompactionEntry> entries,
                  load_compaction_entries(files, session_id, rules));
  for (const std::optional<FileInfo>& log : plan.logs) {
    plan.bytes_before += log ? log->size : 0;
  }
  plan.bytes_after = plan.bytes_before;
  fold_versions(entries);
  drop_duplicates(entries);
  fold_tool_events(entries, session_id, rules.tool_events_retained, plan);
  if (rules.strategy == CompactionStrategy::kTiered) {
    mark_tiers(entries, rules);
  }
  std::uint64_t bytes = plan.bytes_before + plan.added_events.size();
  for (const CompactionEntry& entry : entries) {
    bytes -= entry.removal ? entry.size : 0;
  }
  Eviction(entries, rules).run(bytes);
  gather(entries, plan);
  return plan;
}

}  // namespace bmad_mem
