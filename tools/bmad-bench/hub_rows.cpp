// hub_rows.cpp - a hub and its mirrors, beside what PostgreSQL does with the same bytes.
//
//   rows here ---- libpq ----> a server of our own <---- libpq ---- bmad-mem-hub, on roots of ours
//   floors: COPY, insert, select of the same lines; psql, which connects, asks one thing, and ends
//
// The server syncs what it acknowledges. It lies below $TMPDIR or /tmp, since it is not run by
// root. All ask it as a role under row-level security, not as the owner of the tables.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/hub.hpp"
#include "corpus.hpp"
#include "hub_postgres/postgres_hub.hpp"
#include "machine.hpp"
#include "postgres_server.hpp"
#include "rows.hpp"
#include "workers.hpp"

namespace bmad_mem::bench {
namespace {

constexpr std::size_t kBatch = 500;
constexpr std::size_t kBlock = 4 * kBatch;
constexpr int kMachines = 8;

test::PostgresServer& server() {
  static const std::unique_ptr<test::PostgresServer> kServer = [] {
    ensure(!test::postgres_programs().empty(), "there is no initdb here, so no hub to measure");
    return std::make_unique<test::PostgresServer>("fsync = on\nshared_buffers = 128MB\n");
  }();
  return *kServer;
}

/// A database with the project "house", which is a service of its name, and the table "raw".
struct House {
  explicit House(std::string database_name) : name(std::move(database_name)) {
    test::run_sql(server().conninfo("postgres", "postgres"),
                  fmt::format("create database {} owner owner", name));
    const std::string as_owner = server().conninfo(name, "owner");
    const auto owner = must(PostgresHub::connect({.conninfo = as_owner}));
    must(owner->init("house"));
    must(owner->add_member("admin", "admin"));
    test::run_sql(as_owner, "create table raw (line text); grant all on raw to admin");
    conninfo = server().conninfo(name, "admin");
    std::ofstream services(std::getenv("PGSERVICEFILE"), std::ios::app);  // NOLINT(*-mt-unsafe)
    services << fmt::format("[{}]\nhost={}\ndbname={}\nuser=admin\n", name, server().folder(),
                            name);
  }

  std::string name;
  std::string conninfo;
};

/// Pushes as one replica.
class Pusher {
 public:
  Pusher(const House& house, int number)
      : hub_(must(PostgresHub::connect(
            {.conninfo = house.conninfo, .project = "house", .replica = replica(number)}))) {
    must(hub_->add_replica(replica(number), "bench"));
    pushed_ = must(hub_->head()).pushed;
  }

  void push(std::vector<FeedRow> rows) {
    const std::size_t count = rows.size();
    const PushAnswer answer = must(hub_->push({.pushed = pushed_, .rows = std::move(rows)}));
    ensure(answer.is_stored, "the hub did not take a push");
    pushed_ += count;
  }

 private:
  static std::string replica(int number) {
    return fmt::format("00000000-0000-4000-8000-{:012x}", number);
  }

  std::unique_ptr<PostgresHub> hub_;
  std::uint64_t pushed_ = 0;
};

/// Lines as agents write them, in sessions of `a_session` lines.
class Lines {
 public:
  Lines(std::uint64_t seed, std::size_t a_session) : corpus_(seed), a_session_(a_session) {}

  std::vector<FeedRow> next(std::size_t count) {
    std::vector<FeedRow> rows;
    for (std::size_t i = 0; i < count; ++i, ++number_) {
      CorpusEntry entry = corpus_.next();
      rows.push_back({.session_id = fmt::format("s{:04}", number_ / a_session_),
                      .log = entry.type,
                      .entry_id = std::move(entry.id),
                      .line = std::move(entry.line)});
    }
    return rows;
  }

 private:
  Corpus corpus_;
  std::size_t a_session_;
  std::size_t number_ = 0;
};

/// As COPY takes them.
std::string copy_text(const std::vector<FeedRow>& rows) {
  std::string text;
  for (const FeedRow& row : rows) {
    for (const char c : *row.line) {
      text.append(c == '\\' ? 2 : 1, c);
    }
    text += '\n';
  }
  return text;
}

constexpr const char* kCopy = "copy raw from stdin";

/// `count` lines in the project, and the same in the table "raw".
void write_entries(const House& house, std::uint64_t seed, std::size_t count,
                   std::size_t a_session) {
  Pusher pusher(house, 1);
  test::SqlConnection raw(house.conninfo);
  Lines lines(seed, a_session);
  for (std::size_t done = 0; done < count; done += kBatch) {
    std::vector<FeedRow> rows = lines.next(std::min(kBatch, count - done));
    raw.copy(kCopy, copy_text(rows));
    pusher.push(std::move(rows));
  }
}

Arguments on_root(const Run& run, const std::string& root, std::vector<std::string> words) {
  words.insert(words.begin(), {run.tool, "--root", root});
  return words;
}

/// A new root, made by its user, so that it may join.
std::string new_root(const Run& run, const std::string& name) {
  std::string root = run.folder + '/' + name;
  std::filesystem::remove_all(root);
  run_process(on_root(run, root, {"init", "--quiet"}));
  return root;
}

Arguments join(const Run& run, const std::string& root, const House& house) {
  return on_root(run, root, {"hub", "join", house.name, "house"});
}

std::string joined_root(const Run& run, const std::string& name, const House& house) {
  std::string root = new_root(run, name);
  run_process(join(run, root, house));
  return root;
}

Values minus_each(Values values, double by) {
  std::ranges::for_each(values, [&](double& value) { value -= by; });
  return values;
}

/// Waits until `holds`; throws after a minute.
template <typename Condition>
void wait_until(const Condition& holds, const char* what) {
  const double end = wall_seconds() + 60;
  while (!holds()) {
    ensure(wall_seconds() < end, fmt::format("{} did not come within a minute", what));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

void prepare_hub(Run& run) {
  // No thread runs yet.
  ::setenv("PGSERVICEFILE", (run.folder + "/services").c_str(), 1);  // NOLINT(*-mt-unsafe)
  ::setenv("XDG_STATE_HOME", (run.folder + "/state").c_str(), 1);    // NOLINT(*-mt-unsafe)
}

Rows hub_push_rows(const Run& run) {
  const House house("push");
  Pusher pusher(house, 1);
  test::SqlConnection raw(house.conninfo);
  Lines ours(run.options.seed, 1'000);
  Lines theirs(run.options.seed, 1'000);
  // Batches are made, and `send` is timed.
  const auto block = [](Lines& lines, const auto& make, const auto& send) {
    return [&lines, make, send](std::size_t) {
      std::vector<std::decay_t<decltype(make(lines.next(0)))>> batches;
      for (std::size_t i = 0; i < kBlock; i += kBatch) {
        batches.push_back(make(lines.next(kBatch)));
      }
      const double ms = milliseconds([&] { std::ranges::for_each(batches, send); });
      return static_cast<double>(kBlock) / ms * 1e3;
    };
  };
  const std::vector<Values> rates = in_turn(
      {{"push", block(ours, std::identity(), [&](auto& rows) { pusher.push(std::move(rows)); })},
       {"copy", block(theirs, copy_text, [&](const auto& text) { raw.copy(kCopy, text); })}},
      run.times(20), 2);
  return Rows{Row("push, one client, batches of 500", "/s", rates[0])
                  .beside("COPY of 500 lines a commit", rates[1])
                  .wants(at_least(20'000, 60'000))
                  .noting(fmt::format("by the library, {} blocks of {} lines; COPY into a table "
                                      "without an index",
                                      rates[0].size(), kBlock))};
}

namespace {

/// Durable inserts by eight processes, or pushes of single entries into one project.
double rate_together(const Run& run, const House& house, bool is_raw) {
  std::vector<Work> works;
  for (int machine = 1; machine <= kMachines; ++machine) {
    works.emplace_back([&, machine](Worker& worker) {
      Lines lines(run.options.seed + static_cast<std::uint64_t>(machine), 1'000);
      if (is_raw) {
        test::SqlConnection raw(house.conninfo);
        worker.start();
        return worker.repeat_for(run.seconds(3),
                                 [&] { raw.copy(kCopy, copy_text(lines.next(1))); });
      }
      Pusher pusher(house, machine);
      pusher.push(lines.next(1));
      worker.start();
      return worker.repeat_for(run.seconds(3), [&] { pusher.push(lines.next(1)); });
    });
  }
  return rate_of(run_workers(works));
}

}  // namespace

Rows hub_single_rows(const Run& run) {
  const House house("single");
  std::vector<Values> ms;
  {
    Pusher pusher(house, kMachines + 1);
    test::SqlConnection raw(house.conninfo);
    Lines lines(run.options.seed, 1'000);
    const auto timed = [&](const auto& call) {
      return [&, call](std::size_t) {
        std::vector<FeedRow> rows = lines.next(1);
        const std::string text = copy_text(rows);
        return milliseconds([&] { call(rows, text); });
      };
    };
    ms = in_turn({{"push", timed([&](auto& rows, const auto&) { pusher.push(std::move(rows)); })},
                  {"copy", timed([&](auto&, const auto& text) { raw.copy(kCopy, text); })},
                  {"trip", timed([&](auto&, const auto&) { raw.run("select 1"); })}},
                 run.times(300), 10);
  }
  const std::vector<Values> rates =
      in_turn({{"pushes", [&](std::size_t) { return rate_together(run, house, false); }},
               {"copies", [&](std::size_t) { return rate_together(run, house, true); }}},
              run.times(3));
  const double trip = percentile(ms[2], 0.5);
  return Rows{Row("push of one entry, above one round trip", "ms", minus_each(ms[0], trip))
                  .beside("COPY of one line", minus_each(ms[1], trip))
                  .wants(at_most(2, 0.5))
                  .noting(fmt::format("a round trip: {:.3f} ms, `select 1`", trip)),
              Row("8 processes, single entries into one project", "/s", rates[0])
                  .beside("COPY of single lines by 8", rates[1])
                  .wants(at_least(250, 1'500))
                  .noting(fmt::format("all together, {} rounds of {} s; the row of the project "
                                      "gives each push its place, so they go one by one",
                                      rates[0].size(), run.seconds(3)))};
}

namespace {

Row pull_row(const Run& run, const House& house, std::size_t count, std::size_t rounds,
             Target target) {
  test::SqlConnection raw(house.conninfo);
  const std::vector<Values> ms = in_turn(
      {{"join",
        [&](std::size_t) {
          const std::string root = new_root(run, "pull");
          const double took = run_process(join(run, root, house));
          const MemoryManager memory = must(MemoryManager::open({.root = root}));
          ensure(!must(memory.query({.text = "type:finding"})).empty(),
                 "what was pulled is not found");
          return took;
        }},
       {"select",
        [&](std::size_t) {
          int found = 0;
          const double took = milliseconds([&] { found = raw.run("select line from raw").rows; });
          ensure(static_cast<std::size_t>(found) == count, "lines are missing");
          return took;
        }}},
      rounds);
  return Row(fmt::format("first pull of {} entries", count), "ms", ms[0])
      .beside("select of the same lines", ms[1])
      .wants(target)
      .noting(
          fmt::format("{} times, `hub join` as a whole process into an empty root; on the disk, "
                      "and indexed",
                      rounds));
}

}  // namespace

Rows hub_pull_rows(const Run& run) {
  constexpr std::size_t kSmall = 10'000;
  constexpr std::size_t kLarge = 1'000'000;
  const House house("pull");
  write_entries(house, run.options.seed, kSmall, 1'000);
  const test::SqlAnswer bytes =
      test::run_sql(server().conninfo(house.name, "owner"),
                    "select pg_total_relation_size('bmad.entry')::float8 / "
                    "sum(octet_length(line) + 1) from bmad.entry");
  Rows rows{pull_row(run, house, kSmall, run.times(7), at_most(500, 200)),
            Row("bytes of the hub to bytes of the logs", "", {std::stod(bytes.value)})
                .wants(at_most(1.8, 0.5))
                .noting("rows and indexes, after one machine has pushed")};
  if (run.options.large) {
    const House large("million");
    write_entries(large, run.options.seed, kLarge, 10'000);
    rows.push_back(pull_row(run, large, kLarge, 1, at_most(40'000, 12'000)));
  }
  return rows;
}

Rows hub_sync_rows(const Run& run) {
  const House few("few");
  const House many("many");
  write_entries(few, run.options.seed, 10'000, 1'000);
  write_entries(many, run.options.seed, 1'000, 1);
  const std::string few_root = joined_root(run, "few", few);
  const std::string many_root = joined_root(run, "many", many);
  const std::string psql = test::postgres_programs() + "/psql";
  const std::vector<Values> ms = in_turn(
      {process_step("sync", [&](std::size_t) { return on_root(run, few_root, {"sync"}); }),
       process_step("many", [&](std::size_t) { return on_root(run, many_root, {"sync"}); }),
       process_step(
           "psql",
           [&](std::size_t) { return Arguments{psql, "-XAtqc", "select 1", few.conninfo}; })},
      run.times(40), 3);
  constexpr const char* kFloor = "`psql -c 'select 1'`";
  return Rows{Row("`sync` with nothing to do, 10 sessions", "ms", ms[0])
                  .beside(kFloor, ms[2])
                  .wants(at_most(30, 12))
                  .noting("whole processes by socket; each makes the server start one, too"),
              Row("`sync` with nothing to do, 1,000 sessions", "ms", ms[1]).beside(kFloor, ms[2])};
}

Rows hub_follow_rows(const Run& run) {
  const House house("follow");
  const std::string a = joined_root(run, "a", house);
  const std::string b = joined_root(run, "b", house);
  const RunningProcess of_a(on_root(run, a, {"sync", "--follow"}));
  const RunningProcess of_b(on_root(run, b, {"sync", "--follow"}));
  const MemoryManager memory = must(MemoryManager::open({.root = b}));
  Values ms;
  for (std::size_t i = 0; i < run.times(20); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(i * 337 % 2'000));
    const std::string word = fmt::format("needle{}", i);
    ms.push_back(milliseconds([&] {
      run_process(on_root(run, a, {"add", "fact", word}));
      wait_until([&] { return !must(memory.query({.text = word})).empty(); }, "an entry");
    }));
  }
  return Rows{Row("from `add` on A to a hit on B, p95", "ms", {percentile(ms, 0.95)})
                  .wants(at_most(3'000, 1'000))
                  .noting(fmt::format("{} entries, both `sync --follow`, which looks every second; "
                                      "p50 {:.0f} ms",
                                      ms.size(), percentile(ms, 0.5)))};
}

namespace {

/// CPU time of one of `count` calls, in microseconds.
template <typename Call>
double cpu_us(std::size_t count, const Call& call) {
  const double begin = cpu_seconds();
  for (std::size_t i = 0; i < count; ++i) {
    call();
  }
  return (cpu_seconds() - begin) / static_cast<double>(count) * 1e6;
}

/// Of what alternates the quickest tenth: the rest tells of neighbours.
Row cost_row(const char* what, const Values& joined, const Values& plain) {
  const double with = percentile(joined, 0.1);
  const double without = percentile(plain, 0.1);
  return Row(what, "us", {with - without})
      .wants(at_most(20))
      .noting(fmt::format("CPU time by the library, {} blocks: {:.1f} us, without a hub {:.1f}",
                          joined.size(), with, without));
}

}  // namespace

/// One root, in turn with what makes it a mirror and without.
Rows hub_cost_rows(const Run& run) {
  const House house("cost");
  write_entries(house, run.options.seed, 10'000, 1'000);
  const std::string root = joined_root(run, "joined", house);
  MemoryManager memory = must(MemoryManager::open({.root = root}));
  const auto plain = [&](const auto& measure) {
    return [&, measure](std::size_t round) {
      std::filesystem::rename(root + "/hub", run.folder + "/hub");
      const double us = measure(round);
      std::filesystem::rename(run.folder + "/hub", root + "/hub");
      return us;
    };
  };
  const auto query = [&] { must(memory.query({.text = "type:preference index"})); };
  const auto add = [&](std::size_t) {
    const double us =
        cpu_us(64, [&] { must(memory.add_fact("s0000", {.content = "a fact of a line"})); });
    query();  // Takes in the lines, so that both blocks of queries find the same index.
    return us;
  };
  const auto ask = [&](std::size_t) { return cpu_us(20, query); };
  const std::vector<Values> us = in_turn(
      {{"add", add}, {"add, no hub", plain(add)}, {"query", ask}, {"query, no hub", plain(ask)}},
      run.times(100), 2);
  return Rows{cost_row("what having a hub costs an `add`", us[0], us[1]),
              cost_row("what having a hub costs a `query`", us[2], us[3])};
}

Rows hub_forget_rows(const Run& run) {
  const House house("forget");
  const std::string a = joined_root(run, "a", house);
  std::vector<std::unique_ptr<RunningProcess>> mirrors;
  for (int i = 0; i < kMachines; ++i) {
    const std::string root = joined_root(run, fmt::format("mirror{}", i), house);
    mirrors.push_back(std::make_unique<RunningProcess>(on_root(run, root, {"sync", "--follow"})));
  }
  test::SqlConnection hub(house.conninfo);
  const auto all_have = [&] {
    return hub.run("select min(r.cursor) >= max(p.head) from bmad.replica r, bmad.project p")
               .value == "t";
  };
  Values ms;
  for (std::size_t i = 0; i < run.times(5); ++i) {
    const std::string word = fmt::format("canary{}", i);
    run_process(on_root(run, a, {"add", "fact", word}));
    run_process(on_root(run, a, {"sync"}));
    wait_until(all_have, "a line on all mirrors");
    ms.push_back(milliseconds([&] {
      run_process(on_root(run, a, {"forget", "--match", word, "--yes"}));
      run_process(on_root(run, a, {"sync"}));
      wait_until(all_have, "the confirmation of all mirrors");
    }));
  }
  return Rows{Row("`forget` of one id until 8 mirrors have confirmed", "ms", ms)
                  .wants(at_most(10'000, 4'000))
                  .noting(fmt::format("{} times; `forget` and `sync` on one machine, the others "
                                      "`sync --follow`",
                                      ms.size()))};
}

}  // namespace bmad_mem::bench
