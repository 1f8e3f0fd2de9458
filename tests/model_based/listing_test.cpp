// listing_test.cpp - what was acknowledged is listed: whatever is deleted, evicted, archived and
// brought back, in any order, each reader finds the entries that a map has, with their last text.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <rapidcheck.h>

#include "support/memory_fixture.hpp"

namespace bmad_mem::test {
namespace {

using Ids = std::vector<std::string>;

/// Two of them have the same hash of 30 bits.
const Ids kIds = {"k-6155", "k-49393", "f1", "f2"};

struct Step {
  enum class Kind : std::uint8_t {
    kAdd,
    kAddAgain,  ///< The line that was added last, byte for byte.
    kEdit,
    kDelete,
    kUndelete,
    kEvict,
    kEvictAll,
    kRestoreEvicted,
    kRestoreAll,
    kArchive,
    kRestoreSession,
    kReopen,
  };
  Kind kind = Kind::kAdd;
  std::uint8_t id = 0;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  static constexpr const char* kNames[] = {"add",       "add again",       "edit",
                                           "delete",    "undelete",        "evict",
                                           "evict all", "restore evicted", "restore all evicted",
                                           "archive",   "restore session", "reopen"};
  return out << kNames[static_cast<std::size_t>(step.kind)] << " " << kIds[step.id];
}

/// A memory, and what it must list.
class Rounds {
 public:
  Rounds() { memory_.session(); }

  void perform(const Step& step) {
    memory_.clock.advance(std::chrono::seconds(1));
    const std::string& id = kIds[step.id];
    switch (step.kind) {
      case Step::Kind::kAdd:
        add(id, fmt::format("word{}", ++words_));
        break;
      case Step::Kind::kAddAgain:
        if (last_added_.contains(id) && !present_.contains(id)) {
          add(id, last_added_[id]);
        }
        break;
      case Step::Kind::kEdit: {
        const std::string word = fmt::format("word{}", ++words_);
        const auto edited = memory_->update_entry(id, fmt::format(R"({{"content":"{}"}})", word));
        RC_ASSERT(edited.has_value() == present_.contains(id));
        if (edited) {
          present_[id] = word;
        }
        break;
      }
      case Step::Kind::kDelete:
        RC_ASSERT(memory_->delete_entries({.ids = {id}}).has_value());
        if (const auto found = present_.extract(id)) {
          deleted_[id] = found.mapped();
        }
        break;
      case Step::Kind::kUndelete:
        RC_ASSERT(memory_->undelete({.ids = {id}}).has_value());
        if (!present_.contains(id) && deleted_.contains(id)) {
          present_[id] = deleted_[id];
          deleted_.erase(id);
        }
        break;
      default:
        move(step.kind, id);
    }
  }

  void compare() {
    Ids ids;
    for (const auto& [id, word] : present_) {
      ids.push_back(id);
      const auto got = memory_->get(Ids{id});
      RC_ASSERT(got.has_value() && got->size() == 1);
      RC_ASSERT(got->front().json.find('"' + word + '"') != std::string::npos);
      RC_ASSERT(memory_.found(word) == Ids{id});
      const auto history = memory_->history(id);
      RC_ASSERT(history.has_value());
      RC_ASSERT(history->back().json == got->front().json);
    }
    std::ranges::sort(ids);
    RC_ASSERT(memory_.listed() == ids);
    const auto listed = memory_->list({.as_of = memory_.clock.now(), .limit = 0});
    RC_ASSERT(listed.has_value() && listed->size() == ids.size());
    for (const std::string& id : kIds) {
      if (!present_.contains(id)) {
        const auto got = memory_->get(Ids{id});
        RC_ASSERT(got.has_value() && got->empty());
      }
    }
    RC_ASSERT(memory_->verify().value().findings.empty());
  }

 private:
  void add(const std::string& id, const std::string& word) {
    // One in an archive is restored by the write.
    memory_.add_fact(id, word);
    present_[id] = last_added_[id] = word;
  }

  /// Entries move, and none comes or goes.
  void move(Step::Kind kind, const std::string& id) {
    switch (kind) {
      case Step::Kind::kEvict:
        static_cast<void>(memory_->compact("s1", {.keep_share = 0.5}));
        break;
      case Step::Kind::kEvictAll:
        static_cast<void>(memory_->compact("s1", {.keep_share = 0}));
        break;
      case Step::Kind::kRestoreEvicted:
        static_cast<void>(memory_->restore_evicted("s1", Ids{id}));
        break;
      case Step::Kind::kRestoreAll:
        static_cast<void>(memory_->restore_evicted("s1"));
        break;
      case Step::Kind::kArchive:
        static_cast<void>(memory_->archive_session("s1"));
        break;
      case Step::Kind::kRestoreSession:
        static_cast<void>(memory_->restore_session("s1"));
        break;
      default:
        memory_.reopen();
    }
  }

  MemoryFixture memory_;
  int words_ = 0;
  std::map<std::string, std::string> present_;
  std::map<std::string, std::string> deleted_;
  std::map<std::string, std::string> last_added_;
};

rc::Gen<Step> any_step() {
  return rc::gen::build<Step>(
      rc::gen::set(&Step::kind, rc::gen::map(rc::gen::inRange(0, 12),
                                             [](int i) { return static_cast<Step::Kind>(i); })),
      rc::gen::set(&Step::id, rc::gen::map(rc::gen::inRange(0, 4),
                                           [](int i) { return static_cast<std::uint8_t>(i); })));
}

}  // namespace

TEST_CASE("what was acknowledged is listed, wherever it was moved") {
  CHECK(rc::check([] {
    Rounds rounds;
    for (const Step& step : *rc::gen::container<std::vector<Step>>(any_step())) {
      rounds.perform(step);
      rounds.compare();
    }
  }));
}

}  // namespace bmad_mem::test
