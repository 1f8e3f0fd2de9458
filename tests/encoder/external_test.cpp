// Programs and servers that encode, such as behave and such as do not.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/encoder.hpp"
#include "encoder/encoder_choice.hpp"
#include "encoder/external/external_encoder.hpp"
#include "store/access.hpp"
#include "store/command.hpp"
#include "store/store.hpp"
#include "support/faulty_file_system.hpp"
#include "support/memory_file_system.hpp"
#include "support/memory_fixture.hpp"

namespace bmad_mem::test::external_test {
namespace {

using namespace std::chrono_literals;
using Encoder = std::shared_ptr<TextEncoder>;
using Texts = std::vector<std::string>;

constexpr const char* kToy = BMAD_SOURCE_DIR "/tests/support/toy_encoder.py";

bool has_python() {
  const std::array<std::string, 3> command{"python3", "-c", ""};
  const bool is_there = run_command(command, "").has_value();
  if (!is_there) {
    MESSAGE("skipped: this needs python3");
  }
  return is_there;
}

std::string settings(const std::string& encoder) {
  return fmt::format(R"({{"memory_config":{{"encoder":{{{}}}}}}})", encoder);
}

std::string by_program(const std::string& mode, int timeout_ms = 20'000) {
  return settings(
      fmt::format(R"("command":["python3","{}","{}"],"timeout_ms":{})", kToy, mode, timeout_ms));
}

class EncoderMemory {
 public:
  /// With another config.json, as another process would open it.
  void configure(const std::string& text) {
    memory.folder.write("memory/config.json", text);
    memory.reopen();
  }
  [[nodiscard]] const Store& store() { return MemoryInside::settings(*memory); }
  Encoder encoder() {
    Result<Encoder> found = encoder_of(store());
    REQUIRE(found.has_value());
    REQUIRE(*found != nullptr);
    return *std::move(found);
  }
  /// The error of opening, or else of encoding.
  Error error() {
    const Result<Encoder> found = encoder_of(store());
    if (!found) {
      return found.error();
    }
    const auto vectors = (*found)->encode(Texts{"a boat"});
    REQUIRE_FALSE(vectors.has_value());
    return vectors.error();
  }
  /// How many texts each run of the program had, see "log-FILE".
  [[nodiscard]] std::string runs() const {
    std::string counts = memory.folder.read("log");
    std::ranges::replace(counts, '\n', ' ');
    return counts;
  }

  MemoryFixture memory;
};

/// The toy behind a port of this machine, until it goes.
class Server {
 public:
  Server(const TemporaryDirectory& folder, const std::string& mode) {
    const std::string file = folder.path("port");
    std::filesystem::remove(file);
    process_ =
        ::popen(fmt::format("exec python3 {} --serve {} >{}", kToy, mode, file).c_str(), "we");
    REQUIRE(process_ != nullptr);
    for (int look = 0; look < 1000 && !port_.ends_with('\n'); ++look) {
      std::this_thread::sleep_for(10ms);
      port_ = std::filesystem::exists(file) ? folder.read("port") : "";
    }
    REQUIRE(port_.ends_with('\n'));
    port_.pop_back();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() { ::pclose(process_); }

  [[nodiscard]] std::string settings(const std::string& more = "") const {
    return external_test::settings(fmt::format(
        R"("url":"http://127.0.0.1:{}/v1/embeddings","timeout_ms":20000{})", port_, more));
  }

 private:
  std::FILE* process_ = nullptr;
  std::string port_;
};

double cosine(const std::vector<float>& vectors, std::size_t a, std::size_t b,
              std::size_t dimension) {
  double sum = 0;
  for (std::size_t i = 0; i < dimension; ++i) {
    sum += double{vectors[a * dimension + i]} * double{vectors[b * dimension + i]};
  }
  return sum;
}

void check_meaning(TextEncoder& encoder) {
  CHECK(encoder.dimension() == 64);
  CHECK(encoder.id() != 0);
  const auto vectors = encoder.encode(
      Texts{"I bought a car", " \n", "the purchase of an automobile", "", "a \xFF boat"});
  REQUIRE(vectors.has_value());
  REQUIRE(vectors->size() == 5UL * 64);
  CHECK(cosine(*vectors, 0, 0, 64) == doctest::Approx(1));
  CHECK(cosine(*vectors, 0, 2, 64) == doctest::Approx(1));
  CHECK(cosine(*vectors, 1, 1, 64) == 0);
  CHECK(cosine(*vectors, 3, 3, 64) == 0);
  CHECK(cosine(*vectors, 4, 4, 64) == doctest::Approx(1));
  CHECK(std::abs(cosine(*vectors, 0, 4, 64)) < 0.6);
}

}  // namespace

TEST_CASE("a program encodes: texts that say the same point the same way") {
  if (!has_python()) {
    return;
  }
  EncoderMemory memory;
  memory.configure(by_program("ok"));
  const Encoder encoder = memory.encoder();
  check_meaning(*encoder);
  CHECK(encoder->name() == fmt::format("python3 {} ok", kToy));
  CHECK(memory.encoder() == encoder);  // Opened once.
  const EncoderReport report = encoder_report(*memory.memory);
  CHECK(report.dimension == 64);
  CHECK_FALSE(report.problem);
}

TEST_CASE("a server encodes, and its index counts") {
  if (!has_python()) {
    return;
  }
  EncoderMemory memory;
  const Server server(memory.memory.folder, "ok");
  memory.configure(server.settings());
  const std::uint64_t id = memory.encoder()->id();
  check_meaning(*memory.encoder());
  memory.configure(server.settings(R"(,"model":"other")"));
  check_meaning(*memory.encoder());
  CHECK(memory.encoder()->id() != id);
  CHECK(memory.encoder()->name().ends_with("/v1/embeddings (other)"));
  const Server chunked(memory.memory.folder, "chunked");
  memory.configure(chunked.settings());
  check_meaning(*memory.encoder());
}

TEST_CASE("a process runs the program once for one question: the dimension is known") {
  if (!has_python()) {
    return;
  }
  EncoderMemory memory;
  const std::string config = by_program("log-" + memory.memory.folder.path("log"));
  memory.configure(config);
  CHECK(memory.encoder()->encode(Texts{"a boat"}).has_value());
  CHECK(memory.runs() == "1 1 ");
  memory.configure(config);
  const std::uint64_t id = memory.encoder()->id();
  CHECK(memory.runs() == "1 1 ");
  CHECK(memory.encoder()->encode(Texts{"a boat"}).has_value());
  CHECK(memory.encoder()->id() == id);
  CHECK(memory.runs() == "1 1 1 ");
  // A torn record is none.
  memory.memory.folder.write("memory/.lock.encoder.json", "{\"encoder\":");
  memory.configure(config);
  CHECK(memory.encoder()->id() == id);
  CHECK(memory.runs() == "1 1 1 1 ");
}

TEST_CASE("many texts go in batches, and a long one is cut") {
  if (!has_python()) {
    return;
  }
  EncoderMemory memory;
  memory.configure(by_program("log-" + memory.memory.folder.path("log")));
  Texts texts(150, "a boat");
  texts[7] = std::string(1U << 20U, 'x');
  const auto vectors = memory.encoder()->encode(texts);
  REQUIRE(vectors.has_value());
  CHECK(cosine(*vectors, 0, 149, 64) == doctest::Approx(1));
  CHECK(memory.runs() == "1 64 64 22 ");
  CHECK(memory.encoder()->encode(Texts{}).value().empty());
}

TEST_CASE("what a program or a server does wrong is an error that names it and the remedy") {
  if (!has_python()) {
    return;
  }
  struct Row {
    const char* mode;
    ErrorCode code;
    const char* program;
    const char* server;
  };
  static constexpr Row kRows[] = {
      {"garbage", ErrorCode::E_INVALID_FORMAT, "line 1: ", "gives no whole answer"},
      {"html", ErrorCode::E_INVALID_FORMAT, "line 1: ", ": "},
      {"cut", ErrorCode::E_INVALID_FORMAT, "line 1: ", "gives no whole answer"},
      {"count", ErrorCode::E_INVALID_FORMAT, "text 0 of 1 has no vector",
       "text 0 of 1 has no vector"},
      {"nan", ErrorCode::E_INVALID_FORMAT, "line 1: ", ": "},
      {"zeros", ErrorCode::E_INVALID_FORMAT, "all zeros", "all zeros"},
      {"exit", ErrorCode::E_STORAGE_IO, "there is no model", "status 500: {\"error\""},
      {"huge", ErrorCode::E_SIZE_LIMIT, "said more than", "more than is taken"},
      {"redirect", ErrorCode::E_STORAGE_IO, nullptr, "a redirect, and none is followed"},
      {"extension", ErrorCode::E_SIZE_LIMIT, nullptr, "more than is taken"},
      {"trailer", ErrorCode::E_SIZE_LIMIT, nullptr, "more than is taken"},
  };
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.mode));
    if (row.program != nullptr) {
      EncoderMemory memory;
      memory.configure(by_program(row.mode));
      const Error error = memory.error();
      CHECK(error.code == row.code);
      CHECK(error.message.contains(row.program));
      CHECK(error.message.starts_with("python3 "));
      CHECK(error.message.contains("memory_config.encoder.command"));
    }
    EncoderMemory memory;
    const Server server(memory.memory.folder, row.mode);
    memory.configure(server.settings());
    const Error error = memory.error();
    CAPTURE(error.message);
    CHECK(error.message.contains(row.server));
    CHECK(error.message.starts_with("http://127.0.0.1:"));
    CHECK(error.message.contains("memory_config.encoder.url"));
  }
}

TEST_CASE("after two failures it rests for a minute, in other processes as well") {
  EncoderMemory memory;
  const std::string config = settings(R"("command":["sh","-c","echo >>)" +
                                      memory.memory.folder.path("log") + R"( ; exit 7"])");
  for (const char* run : {" ", "  "}) {
    memory.configure(config);
    CHECK(memory.error().message.contains("ended with status 7"));
    CHECK(memory.runs() == run);
  }
  memory.configure(config);
  const Error error = memory.error();
  CHECK(error.message.starts_with("the encoder rests until 2026-01-11T10:01:00Z after 2 failures"));
  CHECK(error.message.contains("ended with status 7"));
  CHECK(memory.runs() == "  ");
  memory.memory.clock.advance(61s);
  memory.configure(config);
  CHECK(memory.error().message.contains("ended with status 7"));
  CHECK(memory.runs() == "   ");
  memory.configure(config);
  CHECK(memory.error().message.contains("rests until"));
  // Another command has failed in nothing yet.
  memory.configure(settings(R"("command":["sh","-c","exit 8"])"));
  CHECK(memory.error().message.contains("ended with status 8"));
  // A clock that was set back keeps nobody.
  memory.configure(config);
  static_cast<void>(memory.error());
  memory.configure(config);
  static_cast<void>(memory.error());
  memory.memory.clock.advance(-48h);
  memory.configure(config);
  CHECK(memory.error().message.contains("ended with status 7"));
}

TEST_CASE("what another process noted of an encoder counts at the next question") {
  MemoryFileSystem disk;
  FaultyFileSystem files(disk);
  const ManualClock clock;
  bool works = true;
  const auto opened = [&] {
    return ExternalEncoder::open({.name = "toy",
                                  .key = 1,
                                  .setting = "memory_config.encoder.command",
                                  .may_ask = [] { return Status(); },
                                  .ask = [&](auto texts, auto) -> Result<Vectors> {
                                    if (works) {
                                      return Vectors{1, std::vector<float>(texts.size(), 1)};
                                    }
                                    return Error{.code = ErrorCode::E_STORAGE_IO, .message = "no"};
                                  },
                                  .files = &files,
                                  .clock = &clock},
                                 {});
  };
  const auto first = opened().value();
  const auto second = opened().value();
  works = false;
  const Texts texts = {"a boat"};
  CHECK(first->encode(texts).error().message.starts_with("toy: no"));
  CHECK(second->encode(texts).error().message.starts_with("toy: no"));
  CHECK(read_encoder_record(files, 1).failures == 2);
  CHECK(first->encode(texts).error().message.contains("rests"));
  write_encoder_record(files, {.encoder = 1, .dimension = 1});
  works = true;
  CHECK(first->encode(texts).has_value());
  CHECK(second->encode(texts).has_value());
  // Where nothing can be written, each process counts for itself.
  works = false;
  files.fail({.from_then_on = true});
  CHECK(first->encode(texts).error().message.starts_with("toy: no"));
  CHECK(first->encode(texts).error().message.starts_with("toy: no"));
  CHECK(first->encode(texts).error().message.contains("rests"));
}

TEST_CASE("a question has all of its time, so that what is late is past its deadline") {
  MemoryFileSystem files;
  const ManualClock clock;
  write_encoder_record(files, {.encoder = 1, .dimension = 1});
  std::chrono::milliseconds given{0};
  const auto encoder =
      ExternalEncoder::open({.name = "toy",
                             .key = 1,
                             .setting = "memory_config.encoder.command",
                             .may_ask = [] { return Status(); },
                             .ask = [&](auto, auto timeout) -> Result<Vectors> {
                               given = timeout;
                               return Error{.code = ErrorCode::E_QUERY_TIMEOUT, .message = "late"};
                             },
                             .files = &files,
                             .clock = &clock},
                            {})
          .value();
  const auto left = std::chrono::seconds(5) - std::chrono::microseconds(1);
  const auto deadline = std::chrono::steady_clock::now() + left;
  CHECK_FALSE(encoder->encode(Texts{"a boat"}, deadline).has_value());
  CHECK(std::chrono::steady_clock::now() + given >= deadline);
}

TEST_CASE("a success forgets the failures before it") {
  EncoderMemory memory;
  memory.configure(settings(R"("command":["sh","-c","cat >/dev/null; test ! -e )" +
                            memory.memory.folder.path("broken") +
                            R"( && echo '{\"vector\":[1,2]}'"])"));
  const Encoder encoder = memory.encoder();
  for (int round = 0; round < 3; ++round) {
    memory.memory.folder.write("broken", "");
    CHECK_FALSE(encoder->encode(Texts{"a"}).has_value());
    std::filesystem::remove(memory.memory.folder.path("broken"));
    CHECK(encoder->encode(Texts{"a"}).has_value());
  }
}

TEST_CASE("a program that hangs is killed at the time limit; a hurried question does not count") {
  EncoderMemory memory;
  memory.configure(settings(R"("command":["sleep","60"],"timeout_ms":200)"));
  const auto begin = std::chrono::steady_clock::now();
  CHECK(memory.error().code == ErrorCode::E_QUERY_TIMEOUT);
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
  memory.configure(settings(R"("command":["sleep","60"],"timeout_ms":60000)"));
  for (int round = 0; round < 3; ++round) {
    const Result<Encoder> encoder =
        encoder_of(memory.store(), std::chrono::steady_clock::now() + 20ms);
    REQUIRE_FALSE(encoder.has_value());
    CHECK(encoder.error().code == ErrorCode::E_QUERY_TIMEOUT);
  }
  CHECK(encoder_of(memory.store(), std::chrono::steady_clock::now()).error().code ==
        ErrorCode::E_QUERY_TIMEOUT);
}

TEST_CASE("a program that hangs rests after two questions that had time enough") {
  EncoderMemory memory;
  memory.configure(settings(R"("command":["sleep","60"],"timeout_ms":60000)"));
  for (const char* message : {"took longer", "took longer", "rests until"}) {
    const auto deadline = std::chrono::steady_clock::now() + kEncoderPatience + 50ms;
    const Error error = encoder_of(memory.store(), deadline).error();
    CAPTURE(error.message);
    CHECK(error.message.contains(message));
  }
}

TEST_CASE("a server that hangs or is not there keeps nobody beyond the limit") {
  if (!has_python()) {
    return;
  }
  EncoderMemory memory;
  {
    const Server server(memory.memory.folder, "hang");
    memory.configure(server.settings(R"(,"remote":false)"));
    const Result<Encoder> encoder =
        encoder_of(memory.store(), std::chrono::steady_clock::now() + 100ms);
    REQUIRE_FALSE(encoder.has_value());
    CHECK(encoder.error().code == ErrorCode::E_QUERY_TIMEOUT);
  }
  {
    const Server server(memory.memory.folder, "drip");
    memory.configure(server.settings());
    const Result<Encoder> encoder =
        encoder_of(memory.store(), std::chrono::steady_clock::now() + 300ms);
    REQUIRE_FALSE(encoder.has_value());
    CHECK(encoder.error().code == ErrorCode::E_QUERY_TIMEOUT);
  }
  const Error error = memory.error();  // It has gone.
  CHECK(error.code == ErrorCode::E_STORAGE_IO);
  CHECK(error.message.contains("can't be reached"));
}

TEST_CASE("a program that answers with another dimension is another encoder from then on") {
  if (!has_python()) {
    return;
  }
  EncoderMemory memory;
  const std::string file = memory.memory.folder.path("mode");
  const std::string config = settings(fmt::format(
      R"x("command":["sh","-c","exec python3 {} $(cat {})"],"timeout_ms":20000)x", kToy, file));
  memory.memory.folder.write("mode", "ok");
  memory.configure(config);
  const Encoder encoder = memory.encoder();
  const std::uint64_t id = encoder->id();
  memory.memory.folder.write("mode", "other");
  CHECK(encoder->encode(Texts{"a boat"}).error().message.contains("have 32 numbers now"));
  CHECK(encoder->dimension() == 32);
  CHECK(encoder->id() != id);
  CHECK(encoder->encode(Texts{"a boat"}).value().size() == 32);
  memory.configure(config);
  CHECK(memory.encoder()->dimension() == 32);
}

TEST_CASE("questions may be asked at the same time") {
  EncoderMemory memory;
  memory.configure(
      settings(R"("command":["sh","-c","cat >/dev/null; echo '{\"vector\":[1,2]}'"])"));
  std::vector<std::jthread> threads;
  std::array<bool, 4> answered{};
  for (bool& each : answered) {
    threads.emplace_back([&] {
      const Result<Encoder> encoder = encoder_of(memory.store());
      each = encoder && *encoder != nullptr && (*encoder)->encode(Texts{"a"}).has_value();
    });
  }
  threads.clear();
  CHECK(answered == std::array<bool, 4>{true, true, true, true});
}

TEST_CASE("another machine is asked only where the config allows it") {
  EncoderMemory memory;
  memory.configure(settings(R"("url":"http://192.0.2.1:1/e","timeout_ms":50)"));
  const Error error = memory.error();
  CHECK(error.code == ErrorCode::E_ACCESS_DENIED);
  CHECK(error.field == "memory_config.encoder.url");
  memory.configure(settings(R"("url":"http://192.0.2.1:1/e","timeout_ms":50,"remote":true)"));
  CHECK(memory.error().code != ErrorCode::E_ACCESS_DENIED);
}

TEST_CASE("a caller that may be killed starts no program") {
  EncoderMemory memory;
  memory.memory.folder.write("memory/config.json", settings(R"("command":["sh"])"));
  REQUIRE(memory.memory.reopen(OpenOptions{.root = {}, .runs_programs = false}).has_value());
  CHECK(encoder_of(memory.store()).error().code == ErrorCode::E_ACCESS_DENIED);
}

}  // namespace bmad_mem::test::external_test
