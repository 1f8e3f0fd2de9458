#include "encoder/encoder_choice.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/encoder.hpp"
#include "encoder/made_weights.hpp"
#include "store/access.hpp"
#include "store/store.hpp"
#include "support/memory_fixture.hpp"
#include "support/trusted_memory.hpp"

namespace bmad_mem::test::encoder_choice_test {
namespace {

using namespace std::chrono_literals;
using Encoder = std::shared_ptr<TextEncoder>;
using Texts = std::vector<std::string>;

std::string settings(const std::string& encoder) {
  return fmt::format(R"({{"memory_config":{{"encoder":{{{}}}}}}})", encoder);
}

struct ChoiceMemory {
  /// With another config.json, as another process would open it.
  void configure(const std::string& text) {
    memory.folder.write("memory/config.json", text);
    memory.reopen();
  }
  [[nodiscard]] const Store& store() { return MemoryInside::settings(*memory); }
  [[nodiscard]] Result<Encoder> encoder() { return encoder_of(store()); }

  MemoryFixture memory;
};

}  // namespace

TEST_CASE("there is no encoder where none is installed or the config wants none") {
  ChoiceMemory memory;
  ::setenv("BMAD_MEM_ENCODER", "", 1);  // NOLINT(concurrency-mt-unsafe): one thread.
  CHECK(memory.encoder().value() == nullptr);
  CHECK(encoder_report(*memory.memory).name.empty());
  memory.configure(settings(R"("enabled":false,"command":["no-such-program"])"));
  CHECK(memory.encoder().value() == nullptr);
  CHECK_FALSE(encoder_report(*memory.memory).is_enabled);
}

TEST_CASE("weights that are named and not there are an error, and no other encoder is taken") {
  ChoiceMemory memory;
  memory.configure(settings(R"("path":"no/such.bmw")"));
  const Result<Encoder> encoder = memory.encoder();
  REQUIRE_FALSE(encoder.has_value());
  CHECK(encoder.error().path == memory.memory.folder.path("no/such.bmw"));
  CHECK(encoder_report(*memory.memory).problem.has_value());
}

TEST_CASE("the weights are found where each package puts them") {
  const TemporaryDirectory folder;
  const auto made = [&](const std::string& path) {
    folder.make_folder(path.substr(0, path.rfind('/')));
    folder.write(path, "x");
    return folder.path(path);
  };
  CHECK(installed_weights("").empty());
  CHECK(installed_weights(folder.path("usr/bin/bmad-mem")).empty());
  const std::string deb = made("usr/share/bmad-mem/encoder.bmw");
  CHECK(installed_weights(folder.path("usr/bin/bmad-mem")) == deb);
  const std::string beside = made("usr/bin/encoder.bmw");
  CHECK(installed_weights(folder.path("usr/bin/bmad-mem")) == beside);
  // npm beside each other, below the launcher's package, and pnpm's store.
  const std::string npm = made("node_modules/bmad-mem-encoder/encoder.bmw");
  for (const char* program :
       {"node_modules/@bmad-mem/linux-x64/bin/bmad-mem",
        "node_modules/bmad-mem/node_modules/@bmad-mem/linux-x64/bin/bmad-mem",
        "node_modules/.pnpm/linux-x64@1/node_modules/@bmad-mem/linux-x64/bin/bmad-mem"}) {
    CAPTURE(program);
    CHECK(installed_weights(folder.path(program)) == npm);
  }
  folder.make_folder("other/share/bmad-mem/encoder.bmw");
  CHECK(installed_weights(folder.path("other/bin/bmad-mem")).empty());
}

TEST_CASE("weights that are replaced are read again; none and an error are no answer for ever") {
  ChoiceMemory memory;
  const std::string weights = memory.memory.folder.path("encoder.bmw");
  memory.configure(settings(R"("path":"encoder.bmw")"));
  CHECK(memory.encoder().error().code == ErrorCode::E_STORAGE_IO);
  memory.memory.folder.write("encoder.bmw", made_weights_file());
  const Encoder first = memory.encoder().value();
  CHECK(memory.encoder().value() == first);
  memory.memory.folder.write("new", made_weights_file());
  std::filesystem::rename(memory.memory.folder.path("new"), weights);
  CHECK(memory.encoder().value() != first);
  memory.memory.folder.write("encoder.bmw", "x");
  CHECK(memory.encoder().error().code == ErrorCode::E_STORAGE_CORRUPT);

  memory.configure("{}");
  CHECK(memory.encoder().value() == nullptr);
  memory.memory.folder.write("installed", made_weights_file());
  // NOLINTBEGIN(concurrency-mt-unsafe): one thread.
  ::setenv("BMAD_MEM_ENCODER", memory.memory.folder.path("installed").c_str(), 1);
  CHECK(memory.encoder().value() == nullptr);
  memory.memory.clock.advance(61s);
  CHECK(memory.encoder().value() != nullptr);
  ::setenv("BMAD_MEM_ENCODER", "", 1);
  // NOLINTEND(concurrency-mt-unsafe)
}

TEST_CASE("no program runs, no server is asked and no weights are read for who does not trust it") {
  const TemporaryDirectory folder;
  const std::string program = R"("command":["sh","-c","echo >)" + folder.path("ran") +
                              R"(; cat >/dev/null; echo '{\"vector\":[1]}'"])";
  for (const std::string& setting :
       {program, std::string(R"("url":"http://127.0.0.1:9/v1/embeddings")"),
        std::string(R"("path":"encoder.bmw")")}) {
    CAPTURE(setting);
    const TrustedMemory memory;
    std::ofstream(memory.root() + "/config.json") << settings(setting);
    MemoryManager changed = memory.open();
    CHECK(encoder_of(MemoryInside::settings(changed)).value() == nullptr);
    REQUIRE(changed.config_warnings().size() == 1);
    CHECK(changed.config_warnings()[0].contains("`bmad-mem trust`"));
    CHECK(changed.config_warnings()[0].contains("encoder."));
    CHECK(changed.trust_report().programs.size() == 1);
    CHECK_FALSE(std::filesystem::exists(folder.path("ran")));
    REQUIRE(changed.trust().has_value());
    MemoryManager trusted = memory.open();
    const Result<Encoder> then = encoder_of(MemoryInside::settings(trusted));
    CHECK((then.has_value() || then.error().code != ErrorCode::E_ACCESS_DENIED));
    CHECK(std::filesystem::exists(folder.path("ran")) == (setting == program));
    std::filesystem::remove(folder.path("ran"));
    REQUIRE(trusted.revoke_trust().has_value());
    MemoryManager foreign = memory.open();
    CHECK(encoder_of(MemoryInside::settings(foreign)).value() == nullptr);
    CHECK_FALSE(std::filesystem::exists(folder.path("ran")));
  }
}

TEST_CASE("weights that somebody replaced are not read until they are trusted again") {
  const TrustedMemory memory;
  const std::string weights = memory.path("my.bmw");
  std::ofstream(weights) << "one";
  {
    std::ofstream(memory.root() + "/config.json") << settings(R"("path":")" + weights + "\"");
  }
  REQUIRE(memory.open().trust().has_value());
  MemoryManager trusted = memory.open();
  CHECK(encoder_of(MemoryInside::settings(trusted)).error().code != ErrorCode::E_ACCESS_DENIED);
  std::ofstream(weights) << "longer";
  MemoryManager changed = memory.open();
  CHECK(encoder_of(MemoryInside::settings(changed)).error().code == ErrorCode::E_ACCESS_DENIED);
}

TEST_CASE("a program that changed, and one whose trust was taken back, runs no longer") {
  const TrustedMemory memory;
  const std::string script = memory.path("encode.sh");
  const std::string answer = "cat >/dev/null; echo '{\"vector\":[1]}'";
  std::ofstream(script) << answer;
  std::ofstream(memory.root() + "/config.json")
      << settings(R"("command":["sh",")" + script + "\"]");
  REQUIRE(memory.open().trust().has_value());
  MemoryManager used = memory.open();
  const Store& store = MemoryInside::settings(used);
  const Encoder encoder = encoder_of(store).value();
  const auto check = [&](const char* refusal) {
    const auto vectors = encoder->encode(Texts{"a"});
    REQUIRE(vectors.has_value() == (refusal == nullptr));
    CHECK(encoder_of(store).has_value() == (refusal == nullptr));
    if (refusal != nullptr) {
      CHECK(vectors.error().code == ErrorCode::E_ACCESS_DENIED);
      CHECK(vectors.error().field == "memory_config.encoder.command");
      CHECK(vectors.error().message.contains(refusal));
    }
  };
  check(nullptr);
  for (int round = 0; round < 3; ++round) {  // Not asked, so it has not failed.
    std::ofstream(script) << "touch " << memory.path("ran") << "; " << answer;
    check("has changed");
  }
  CHECK_FALSE(std::filesystem::exists(memory.path("ran")));
  std::ofstream(script) << answer;
  check(nullptr);
  REQUIRE(memory.open().revoke_trust().has_value());
  check("not yours");
}

}  // namespace bmad_mem::test::encoder_choice_test
