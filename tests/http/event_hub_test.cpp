#include "http/event_hub.hpp"

#include <condition_variable>
#include <latch>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "http/api_fixture.hpp"

namespace bmad_mem::test::event_hub_test {
namespace {

using namespace bmad_mem::cli;  // NOLINT(google-build-using-namespace): a test speaks its language.
using bmad_mem::cli::test::ApiFixture;

class Heard final : public HttpEventSink {
 public:
  void send(std::shared_ptr<const std::string> text) override {
    const std::scoped_lock lock(mutex_);
    all_ += *text;
    changed_.notify_all();
  }
  void close() override {}

  /// All that was heard, as soon as `text` is in it.
  std::string wait_for(std::string_view text) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return all_.contains(text); });
    return all_;
  }
  std::string all() {
    const std::scoped_lock lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string all_;
};

struct Stream {
  std::shared_ptr<Heard> heard = std::make_shared<Heard>();
  std::shared_ptr<void> kept;

  void open(EventHub& hub, std::string_view query, const std::string& last_id) {
    HttpRequest request;
    request.method = "GET";
    request.path = "/memory/events";
    if (!query.empty()) {
      request.query.push_back({.name = "q", .value = std::string(query)});
    }
    if (!last_id.empty()) {
      request.headers.push_back({.name = "last-event-id", .value = last_id});
    }
    kept = hub.handle(request).open_events(heard);
  }
};

/// The id of the first event, or of the beginning, in what a stream said.
std::string first_id(const std::string& text) {
  const std::size_t begin = text.find("id: ") + 4;
  return text.substr(begin, text.find('\n', begin) - begin);
}

/// A query that begins to be asked, and ends when it is let go.
struct SlowMatch {
  std::latch begun{1};
  std::latch goes_on{1};
  bool fails = false;
  std::size_t times = 0;  // Of one thread at a time.

  Result<std::vector<bool>> operator()(std::span<const Entry> entries) {
    if (!entries.empty() && ++times == 1) {
      begun.count_down();
      goes_on.wait();
      if (fails) {
        return Error{.code = ErrorCode::E_INVALID_QUERY, .message = "took too long"};
      }
    }
    return std::vector<bool>(entries.size(), true);
  }
};

}  // namespace

TEST_CASE("what a client missed is matched while others hear of what is new") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    ApiFixture fixture;
    fixture.make_session("s1");
    SlowMatch match{.fails = fails};
    EventHub hub(fixture.memory(), [&](const MemoryManager& /*memory*/, std::string_view /*query*/,
                                       std::span<const Entry> entries) { return match(entries); });
    Stream early;
    early.open(hub, "", "");
    const std::string begin = first_id(early.heard->all());
    const std::string missed = fixture.add("s1", EntryType::kFact, R"({"content":"missed"})");
    early.heard->wait_for(missed);

    Stream slow;
    std::thread opening([&] { slow.open(hub, "harbour", begin); });
    match.begun.wait();
    Stream late;
    late.open(hub, "", "");
    const std::string meanwhile = fixture.add("s1", EntryType::kFact, R"({"content":"new"})");
    early.heard->wait_for(meanwhile);
    late.heard->wait_for(meanwhile);
    CHECK_FALSE(slow.heard->all().contains(missed));

    match.goes_on.count_down();
    opening.join();
    const std::string after = fixture.add("s1", EntryType::kFact, R"({"content":"after"})");
    const std::string heard = slow.heard->wait_for(after);
    CHECK(heard.contains("event: reset") == fails);
    CHECK(heard.contains(missed) == !fails);
    CHECK(heard.contains(meanwhile) == !fails);  // Else it is seen when the client looks anew.
    if (!fails) {
      CHECK(heard.find(missed) < heard.find(meanwhile));
      CHECK(heard.find(meanwhile) < heard.find(after));
    }
  }
}

TEST_CASE("a new event is told to those without a query before one is asked") {
  ApiFixture fixture;
  fixture.make_session("s1");
  SlowMatch match;
  EventHub hub(fixture.memory(), [&](const MemoryManager& /*memory*/, std::string_view /*query*/,
                                     std::span<const Entry> entries) { return match(entries); });
  Stream slow;
  slow.open(hub, "harbour", "");
  Stream plain;
  plain.open(hub, "", "");
  const std::string id = fixture.add("s1", EntryType::kFact, R"({"content":"new"})");
  plain.heard->wait_for(id);
  match.begun.wait();
  CHECK_FALSE(slow.heard->all().contains(id));
  match.goes_on.count_down();
  slow.heard->wait_for(id);
}

}  // namespace bmad_mem::test::event_hub_test
