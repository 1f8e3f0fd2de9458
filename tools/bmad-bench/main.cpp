// main.cpp - bmad-bench: does what it is asked to within its process, and counts how long it takes.
//
//   > {"do":"add","session":"s1","texts":["{\"role\":\"user\",\"content\":\"x\"}"],"times":2}
//   < {"begin":5120.25,"end":5120.2504,"cpu_ms":0.18,"ms":[0.2,0.2]}
//
// A request is a line of stdin, an answer a line of stdout. A step is prepared, then called as
// often as `times` says (1) and until `seconds` have passed (0), by as many `threads` at once (1);
// only the calls are counted. Which rows come of it: tests/bench/store.py, search.py, redact.py.
//
// A harness of our own, since a disk drifts: two variants must alternate within milliseconds, and
// eight processes begin at once. Google Benchmark runs one function until its time is stable.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/memory_manager.hpp"
#include "bmad_mem/privacy.hpp"
#include "bmad_mem/text.hpp"
#include "peer.hpp"

namespace bmad_mem::bench {
namespace {

constexpr bool kIsFast =
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    true;
#else
    false;
#endif

constexpr std::size_t kSearchDepth = 20;

/// Whether it came out right. Throws an Error.
using Call = std::function<bool()>;

/// What a call of the library returns; throws its error.
template <typename T>
T must(Result<T> result) {
  if (!result) {
    throw std::move(result).error();
  }
  return std::move(*result);
}

/// Seconds. CLOCK_MONOTONIC is the same for all processes of the machine.
double seconds_of(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::string text_of(const JsonValue& request, std::string_view name) {
  return std::string(request[name].string());
}

std::string text_of(const Error& error) {
  return fmt::format("{}: {}", error_code_name(error.code), error.to_string());
}

std::vector<std::string> texts_of(const JsonValue& request, std::string_view name = "texts") {
  std::vector<std::string> texts;
  for (const JsonValue text : request[name].elements()) {
    texts.emplace_back(text.string());
  }
  return texts;
}

struct Times {
  double begin = seconds_of(CLOCK_MONOTONIC);
  double end = begin;
  std::vector<double> ms;  ///< Of each call.
  std::optional<Error> error;
};

Times repeat(const Call& call, std::size_t times, double seconds) {
  Times result;
  do {
    try {
      if (!call()) {
        result.error = Error{.message = "the result is wrong"};
      }
    } catch (Error& error) {
      result.error = std::move(error);
    }
    const double now = seconds_of(CLOCK_MONOTONIC);
    result.ms.push_back((now - std::exchange(result.end, now)) * 1e3);
  } while (!result.error && (result.ms.size() < times || result.end < result.begin + seconds));
  return result;
}

Times repeat_in_threads(const Call& call, const JsonValue& request) {
  const auto times = static_cast<std::size_t>(request["times"].integer(1));
  const double seconds = request["seconds"].number();
  std::vector<std::future<Times>> others;
  for (std::int64_t left = request["threads"].integer(1); left > 1; --left) {
    others.push_back(std::async(std::launch::async, repeat, call, times, seconds));
  }
  Times all = repeat(call, times, seconds);
  for (std::future<Times>& other : others) {
    Times their = other.get();
    all.begin = std::min(all.begin, their.begin);
    all.end = std::max(all.end, their.end);
    all.ms.insert(all.ms.end(), their.ms.begin(), their.ms.end());
    all.error = all.error ? all.error : their.error;
  }
  return all;
}

/// How many lines a file has: what must be read and looked at in any case.
std::int64_t count_lines(const std::string& path, std::string& buffer) {
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // Straight into our buffer.
  file.open(path, std::ios::binary);
  std::int64_t lines = 0;
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const char* const end = buffer.data() + file.gcount();
    const auto next = [&](const char* at) {
      return static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
    };
    for (const char* at = next(buffer.data()); at != nullptr; at = next(at + 1)) {
      ++lines;
    }
  }
  return lines;
}

/// The least that a durable append can be, the floor under every append of ours: lock, write,
/// unlock, fdatasync. No check, no id, no look at what the file contains. A log and a lock file
/// beside it; each instance locks for itself, also within a process.
class RawAppender {
 public:
  explicit RawAppender(const std::string& path)
      : log_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)),
        lock_(::open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  RawAppender(const RawAppender&) = delete;
  RawAppender& operator=(const RawAppender&) = delete;
  ~RawAppender() {
    ::close(log_);
    ::close(lock_);
  }
  /// Waits for the lock in the kernel as long as it takes. Whether it worked.
  bool append(std::string_view line) {
    const bool locked = set_lock(F_WRLCK);
    const ssize_t written = ::write(log_, line.data(), line.size());
    return locked && set_lock(F_UNLCK) && written == std::ssize(line) && ::fdatasync(log_) == 0;
  }

 private:
  [[nodiscard]] bool set_lock(short type) const {
    struct flock whole_file{};
    whole_file.l_type = type;
    whole_file.l_whence = SEEK_SET;
    return ::fcntl(lock_, F_OFD_SETLKW, &whole_file) == 0;
  }

  int log_;
  int lock_;
};

struct NamedPeer {
  std::unique_ptr<Peer> peer;
  std::uint32_t count = 0;  ///< Of its texts.
};

struct Probe {
  std::optional<MemoryManager> memory;
  std::unique_ptr<RawAppender> raw;
  std::map<std::string, NamedPeer> peers;  ///< By the names that requests give them.
  JsonParser parser;                       ///< Of what is measured.
  std::vector<Hit> hits;                   ///< Of the last call; written when all calls are over.
  std::vector<PeerHit> peer_hits;
};

// The steps. A request, and views into it, live until all calls are over.

Call open_memory(Probe& probe, JsonValue request) {
  return [&probe, request] {
    const std::chrono::milliseconds timeout(request["lock_timeout_ms"].integer(60'000));
    probe.memory.emplace(must(MemoryManager::open(
        {.root = text_of(request, "root"), .agent_id = "bmad-bench", .lock_timeout = timeout})));
    return true;
  };
}

/// Appends one text after the other, one a call, or all of them together; those that are to be
/// refused have a bad one at the end, so that there is all the work before the lock.
Call add_texts(Probe& probe, JsonValue request) {
  return [&memory = probe.memory.value(), session = text_of(request, "session"),
          texts = texts_of(request), is_batch = request["batch"].boolean(),
          is_refused = request["refused"].boolean(), turn = std::size_t{0}]() mutable {
    if (!is_batch) {
      must(memory.add(session, EntryType::kConversation, texts[turn++ % texts.size()]));
      return true;
    }
    const std::vector<std::string_view> lines(texts.begin(), texts.end());
    Result<BatchReport> report = memory.add_batch(session, EntryType::kConversation, lines);
    if (is_refused) {
      return !report && report.error().line == lines.size();
    }
    must(std::move(report));
    return true;
  };
}

Call close_session(Probe& probe, JsonValue request) {
  return [&memory = probe.memory.value(), session = text_of(request, "session")] {
    must(memory.close_session(session));
    return true;
  };
}

Call append_raw(Probe& probe, JsonValue request) {
  if (request["path"].present()) {
    probe.raw = std::make_unique<RawAppender>(text_of(request, "path"));
  }
  std::string line(static_cast<std::size_t>(request["size"].integer()), 'x');
  line.back() = '\n';
  return [&raw = *probe.raw, line] { return raw.append(line); };
}

Call ask_memory(Probe& probe, JsonValue request) {
  Query query{.filter = {.limit = kSearchDepth},
              .text_is_prose = !request["operators"].boolean(),
              .ids_only = request["ids_only"].boolean()};
  query.ranking = request["plain"].boolean() ? TextRanking::kPlain : TextRanking::kContext;
  if (!request["default_weights"].boolean()) {
    query.weights = RelevanceWeights{.text = 1, .time = 0, .importance = 0, .access = 0};
  }
  return [&probe, query, texts = texts_of(request), turn = std::size_t{0}]() mutable {
    query.text = texts[turn++ % texts.size()];
    probe.hits = must(probe.memory->query(query));
    return true;
  };
}

Call verify_logs(Probe& probe, JsonValue request) {
  return [&memory = probe.memory.value(), sessions = texts_of(request, "sessions"),
          lines = request["lines"].integer()] {
    const VerifyReport report = must(memory.verify(sessions));
    return report.findings.empty() && std::cmp_equal(report.lines, lines);
  };
}

Call count_versions(Probe& probe, JsonValue request) {
  return [&memory = probe.memory.value(), session = text_of(request, "session"),
          lines = request["lines"].integer()] {
    return std::cmp_equal(must(memory.statistics(session)).versions(), lines);
  };
}

Call read_lines(Probe& /*probe*/, JsonValue request) {
  return [path = text_of(request, "path"), lines = request["lines"].integer(),
          buffer = std::string(256U << 10U, '\0')]() mutable {
    return count_lines(path, buffer) == lines;
  };
}

/// What is done with each text in turn, all of them a call.
Call do_each(Probe& probe, JsonValue request) {
  struct Part {
    std::string_view name;
    bool (*is_good)(JsonParser& parser, const std::string& text);
  };
  static constexpr Part kParts[] = {
      {"parse", [](auto& parser, auto& text) { return parser.parse(text).has_value(); }},
      {"quote", [](auto& /*parser*/, auto& text) { return !json_quoted(text).empty(); }},
      {"utf8", [](auto& /*parser*/, auto& text) { return utf8_valid_size(text) == text.size(); }},
      {"time", [](auto& /*parser*/, auto& text) { return try_parse_rfc3339(text).has_value(); }}};
  const Part* part = std::ranges::find(kParts, request["part"].string(), &Part::name);
  return [&probe, part, texts = texts_of(request)] {
    return std::ranges::all_of(
        texts, [&](const std::string& text) { return part->is_good(probe.parser, text); });
  };
}

/// Searches a file, or so many bytes of it, others in each call.
Call find_secrets(Probe& /*probe*/, JsonValue request) {
  static const SecretScanner kScanner;
  std::ifstream file(text_of(request, "path"), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto size = static_cast<std::size_t>(request["size"].integer(std::ssize(text)));
  return [text = std::move(text), size, at = std::size_t{0}]() mutable {
    at = size < text.size() ? (at + size) % (text.size() - size) : 0;
    return kScanner.find(std::string_view(text).substr(at, size)).size() <= size;
  };
}

Call open_index(Probe& probe, JsonValue request) {
  return [&probe, request] {
    const auto kind = request["kind"].string() == peer_name(PeerKind::kFts5) ? PeerKind::kFts5
                                                                             : PeerKind::kXapian;
    probe.peers[text_of(request, "peer")] = {
        .peer = open_peer(kind, text_of(request, "path"),
                          request["is_new"].boolean() ? Open::kNew : Open::kExisting,
                          request["keeps_texts"].boolean() ? Keep::kTexts : Keep::kNumbers)};
    return true;
  };
}

/// Adds texts and makes them searchable; once all are there, faster to search.
Call insert_texts(Probe& probe, JsonValue request) {
  NamedPeer& to = probe.peers.at(text_of(request, "peer"));
  return [&to, texts = texts_of(request), is_last = request["optimize"].boolean()] {
    for (const std::string& text : texts) {
      to.peer->add(++to.count, text);
    }
    to.peer->commit();
    if (is_last) {
      to.peer->optimize();
    }
    return true;
  };
}

Call ask_peer(Probe& probe, JsonValue request) {
  Peer& peer = *probe.peers.at(text_of(request, "peer")).peer;
  const Join join = request["all"].boolean() ? Join::kAll : Join::kAny;
  return [&probe, &peer, join, words = texts_of(request)] {
    probe.peer_hits = peer.best(words, kSearchDepth, join);
    return true;
  };
}

Call do_nothing(Probe& /*probe*/, JsonValue /*request*/) {
  return [] { return true; };
}

struct Step {
  std::string_view name;
  Call (*prepare)(Probe& probe, JsonValue request);
};
constexpr Step kSteps[] = {
    {"add", add_texts},      {"best", ask_peer},          {"close", close_session},
    {"each", do_each},       {"facts", do_nothing},       {"insert", insert_texts},
    {"lines", read_lines},   {"open", open_memory},       {"peer", open_index},
    {"query", ask_memory},   {"raw", append_raw},         {"secrets", find_secrets},
    {"verify", verify_logs}, {"versions", count_versions}};

void write_facts(JsonWriter& json) {
  json.member("build", BMAD_BENCH_BUILD).member("is_fast", kIsFast).key("peers").begin_array();
  for (const PeerKind kind : kPeerKinds) {
    if (is_built_in(kind)) {
      json.string(peer_name(kind));
    }
  }
  json.end_array();
}

/// Measures a step. Returns what went wrong.
std::string run_step(Probe& probe, JsonValue request, JsonWriter& json) {
  const auto* step = std::ranges::find(kSteps, request["do"].string(), &Step::name);
  if (step == std::end(kSteps)) {
    return "there is no such step";
  }
  const Call call = step->prepare(probe, request);
  const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
  const Times times = repeat_in_threads(call, request);
  const double cpu_ms = (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e3;
  json.member("begin", times.begin).member("end", times.end).member("cpu_ms", cpu_ms);
  json.key("ms").begin_array();
  std::ranges::for_each(times.ms, [&](double each) { json.real(each); });
  json.end_array();
  return times.error ? text_of(*times.error) : "";
}

std::string answer_to(Probe& probe, JsonValue request) {
  probe.hits.clear();
  probe.peer_hits.clear();
  JsonWriter json;
  json.begin_object();
  std::string problem;
  try {
    problem = run_step(probe, request, json);
  } catch (const Error& error) {
    problem = text_of(error);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  json.member_unless_empty("error", problem).key("ids").begin_array();
  std::ranges::for_each(probe.hits, [&](const Hit& hit) { json.string(hit.entry.id); });
  std::ranges::for_each(probe.peer_hits, [&](const PeerHit& hit) { json.integer(hit.number); });
  json.end_array();
  if (request["do"].string() == "facts") {
    write_facts(json);
  }
  return json.end_object().take();
}

}  // namespace
}  // namespace bmad_mem::bench

int main() {
  bmad_mem::bench::Probe probe;
  bmad_mem::JsonParser parser;
  for (std::string line; std::getline(std::cin, line);) {
    const auto request = parser.parse(line);
    std::cout << bmad_mem::bench::answer_to(probe, request.value_or(bmad_mem::JsonValue())) << '\n'
              << std::flush;
  }
  return 0;
}
