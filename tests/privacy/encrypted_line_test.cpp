#include "privacy/encrypted_line.hpp"

#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "bmad_mem/json.hpp"
#include "model/entry.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test::encrypted_line_test {
namespace {

constexpr std::string_view kLine =
    R"({"id":"fact-1","timestamp":"2026-01-11T10:00:00.000Z","content":"the harbour opens at dawn",)"
    R"("confidence":1.00,"tags":["a b","\u00e9"],"decay_factor":1.0})";
constexpr LinePlace kPlace{.session_id = "s1", .type = EntryType::kFact};

/// A key, and lines that it encrypts.
struct Chest {
  EncryptionKeys keys{EncryptionKey::make()};

  [[nodiscard]] std::string encrypt(std::string_view line, const LinePlace& place = kPlace) const {
    JsonParser parser;
    const JsonValue entry = parser.parse(line).value();
    return encrypt_line(keys.current(), place, entry, line).value();
  }
  [[nodiscard]] Result<std::string> open(std::string_view encrypted,
                                         const LinePlace& place = kPlace) const {
    JsonParser parser;
    const JsonValue entry = parser.parse(encrypted).value();
    return open_line(keys, place, entry);
  }
};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("an encrypted line has id and time in clear, and comes back byte for byte") {
  const Chest chest;
  const std::string encrypted = chest.encrypt(kLine);
  CHECK(encrypted.starts_with(
      R"({"id":"fact-1","timestamp":"2026-01-11T10:00:00.000Z","sealed":"1.)"));
  for (const char* secret : {"harbour", "confidence", "tags", "decay", "a b", "content"}) {
    CHECK_FALSE(encrypted.contains(secret));
  }
  JsonParser parser;
  const JsonValue entry = parser.parse(encrypted).value();
  CHECK_FALSE(entry["tags"].is_array());
  CHECK(is_encrypted(entry));
  CHECK(encryption_key_id(entry) == chest.keys.current().id());
  CHECK(chest.open(encrypted).value() == kLine);
  CHECK(chest.encrypt(kLine) != encrypted);  // Another nonce.
  CHECK_FALSE(is_encrypted(parser.parse(kLine).value()));
}

TEST_CASE("lines of any size are encrypted, up to what a log takes") {
  const Chest chest;
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string line = fmt::format(
        R"({{"id":"x","timestamp":"t","updated_at":"u","c":"{}"}})", std::string(size, 'c'));
    const std::string encrypted = chest.encrypt(line);
    CHECK(encrypted.contains(R"("updated_at":"u")"));
    CHECK(chest.open(encrypted).value() == line);
  }
  const auto of_size = [](std::size_t size) {
    const std::string_view head = R"({"id":"x","timestamp":"t","c":")";
    return fmt::format("{}{}\"}}", head, std::string(size - head.size() - 2, 'c'));
  };
  const std::string encrypted = chest.encrypt(of_size(kEncryptableSizeMax));
  CHECK(encrypted.size() <= kEntrySizeMax);
  CHECK(chest.open(encrypted).value().size() == kEncryptableSizeMax);
  const std::string larger = of_size(kEncryptableSizeMax + 1);
  JsonParser parser;
  CHECK(encrypt_line(chest.keys.current(), kPlace, parser.parse(larger).value(), larger)
            .error()
            .code == ErrorCode::E_SIZE_LIMIT);
}

TEST_CASE("the time of a pin is in clear and authenticated, and a line without it opens") {
  const Chest chest;
  const std::string line =
      R"({"id":"x","timestamp":"2026-01-11T10:00:00Z","written_at":"2026-02-01T10:00:00Z","c":"d"})";
  const std::string encrypted = chest.encrypt(line);
  JsonParser parser;
  CHECK(entry_written_time(parser.parse(encrypted).value()) ==
        entry_written_time(parser.parse(line).value()));
  CHECK(chest.open(encrypted).value() == line);
  CHECK_FALSE(chest.open(replaced(encrypted, "2026-02", "2027-02")));
  CHECK_FALSE(chest.open(replaced(encrypted, R"("written_at":"2026-02-01T10:00:00Z",)", "")));
}

TEST_CASE("a key that nobody has drawn is weak") {
  const auto is_weak = [](const std::string& digits) {
    return EncryptionKey::parse(digits).value().is_weak();
  };
  CHECK(is_weak(std::string(64, '0')));
  CHECK(is_weak(std::string(62, 'f') + "01"));
  CHECK(is_weak("00112233445566" + std::string(50, '0')));
  CHECK_FALSE(is_weak("0011223344556677" + std::string(48, '0')));
  for (int i = 0; i < 1000; ++i) {
    CHECK_FALSE(EncryptionKey::make().is_weak());
  }
}

TEST_CASE("a line opens where it was encrypted, and nowhere else") {
  const Chest chest;
  const std::string encrypted = chest.encrypt(kLine);
  struct Row {
    const char* name;
    std::string line;
    LinePlace place;
  };
  const Row rows[] = {
      {"another session", encrypted, {.session_id = "s2", .type = EntryType::kFact}},
      {"another log", encrypted, {.session_id = "s1", .type = EntryType::kPreference}},
      {"another id", replaced(encrypted, "fact-1", "fact-2"), kPlace},
      {"another time", replaced(encrypted, "2026", "2027"), kPlace},
      {"a version time", replaced(encrypted, ",\"sealed", ",\"updated_at\":\"x\",\"sealed"),
       kPlace},
      {"the time of a pin", replaced(encrypted, ",\"sealed", ",\"written_at\":\"x\",\"sealed"),
       kPlace},
      {"parts moved", replaced(encrypted, "fact-1", "fact-12026-01-11T10:00:00.000Z"), kPlace},
      {"cut short", replaced(encrypted, encrypted.substr(encrypted.size() - 10), "\"}"), kPlace},
      {"nothing in it", R"({"id":"fact-1","timestamp":"t","sealed":""})", kPlace},
      {"no parts", R"({"id":"fact-1","timestamp":"t","sealed":"1.abc"})", kPlace},
      {"no encrypted line", std::string(kLine), kPlace},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Result<std::string> opened = chest.open(row.line, row.place);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().code == ErrorCode::E_STORAGE_CORRUPT);
    CHECK(opened.error().field == "sealed");
  }
  const std::string later = replaced(encrypted, "\"1.", "\"2.");
  CHECK(chest.open(later).error().code == ErrorCode::E_NEWER_VERSION);
}

TEST_CASE("no letter of an encrypted line can be changed") {
  const Chest chest;
  const std::string encrypted = chest.encrypt(kLine);
  const std::size_t body =
      encrypted.find("\"sealed\":\"") + std::string_view("\"sealed\":\"").size();
  for (std::size_t at = body; at + 2 < encrypted.size(); ++at) {
    for (const char by : {'A', 'b', '_', '.', '=', '\x7f'}) {
      if (encrypted[at] != by) {
        std::string changed = encrypted;
        changed[at] = by;
        CAPTURE(at);
        CHECK_FALSE(chest.open(changed));
      }
    }
  }
}

TEST_CASE("without the key nothing opens, and it is said which one is wanted") {
  Chest chest;
  const std::string encrypted = chest.encrypt(kLine);
  const Error error = Chest().open(encrypted).error();
  CHECK(error.code == ErrorCode::E_ACCESS_DENIED);
  CHECK(error.message.contains(chest.keys.current().id()));
  const std::string first = chest.keys.current().id();
  chest.keys.rotate(EncryptionKey::make());
  CHECK(chest.keys.current().id() != first);
  CHECK(chest.open(encrypted).value() == kLine);
  CHECK(chest.open(chest.encrypt(kLine)).value() == kLine);
}

TEST_CASE("keys are written and read, and what is none is refused without being repeated") {
  const EncryptionKey key = EncryptionKey::make();
  CHECK(EncryptionKey::parse(key.to_text()).value().id() == key.id());
  CHECK(EncryptionKey::parse("  " + key.to_text() + "\r\n").value().bytes() == key.bytes());
  CHECK(key.id().size() == 11);
  const std::string letters = key.to_text().substr(std::string_view("bmad-mem-key-1 ").size());
  for (const std::string& text :
       {std::string(), letters, "bmad-mem-key-2 " + letters, "bmad-mem-key-1 " + letters + "A",
        "bmad-mem-key-1 " + letters.substr(1), "bmad-mem-key-1 " + letters + "=",
        "bmad-mem-key-1 " + letters.substr(0, 42) + "*", "bmad-mem-key-1 " + letters + letters}) {
    CAPTURE(text);
    const Result<EncryptionKey> parsed = EncryptionKey::parse(text);
    REQUIRE_FALSE(parsed);
    CHECK(parsed.error().code == ErrorCode::E_INVALID_FORMAT);
    CHECK_FALSE(parsed.error().message.contains(letters.substr(1, 20)));
  }
  const EncryptionKey other = EncryptionKey::make();
  const auto keys =
      EncryptionKeys::parse("# mine\n\n" + key.to_text() + "\n" + other.to_text()).value();
  CHECK(keys.current().id() == key.id());
  CHECK(keys.find(other.id()) != nullptr);
  CHECK(keys.find("") == nullptr);
  CHECK(EncryptionKeys::parse("\n# none\n").error().code == ErrorCode::E_INVALID_FORMAT);
  CHECK(EncryptionKeys::parse(key.to_text() + "\n" + key.to_text()).error().line == 2);
}

TEST_CASE("a key file is its owner's alone") {
  const TemporaryDirectory folder;
  const EncryptionKey key = EncryptionKey::make();
  folder.write("key", key.to_text() + "\n");
  const std::string path = folder.path("key");
  for (const mode_t mode : {0644U, 0640U, 0620U, 0602U, 0601U}) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    CHECK(EncryptionKeys::read(path).error().code == ErrorCode::E_ACCESS_DENIED);
  }
  REQUIRE(::chmod(path.c_str(), 0600) == 0);
  CHECK(EncryptionKeys::read(path).value().current().id() == key.id());
  REQUIRE(::chmod(path.c_str(), 0400) == 0);
  CHECK(EncryptionKeys::read(path));
  CHECK(EncryptionKeys::read(folder.path("none")).error().code == ErrorCode::E_STORAGE_IO);
  REQUIRE(::mkfifo(folder.path("fifo").c_str(), 0600) == 0);
  CHECK(EncryptionKeys::read(folder.path("fifo")).error().code == ErrorCode::E_STORAGE_IO);
}

TEST_CASE("a passphrase makes the same key with the same recipe alone, and no recipe is endless") {
  PassphraseRecipe recipe = new_passphrase_recipe();
  recipe.passes = 1;
  recipe.memory = PassphraseRecipe::kMemoryMin;
  const auto key = EncryptionKey::from_passphrase("correct horse", recipe).value();
  CHECK(EncryptionKey::from_passphrase("correct horse", recipe).value().id() == key.id());
  CHECK(EncryptionKey::from_passphrase("correct horsf", recipe).value().id() != key.id());
  PassphraseRecipe other = recipe;
  other.salt[0] ^= 1;
  CHECK(EncryptionKey::from_passphrase("correct horse", other).value().id() != key.id());
  CHECK(new_passphrase_recipe().salt != recipe.salt);
  CHECK(EncryptionKey::from_passphrase("", recipe).error().code == ErrorCode::E_INVALID_FORMAT);
  for (const auto& [passes, memory] : {std::pair<std::uint64_t, std::uint64_t>(0, recipe.memory),
                                       {PassphraseRecipe::kPassesMax + 1, recipe.memory},
                                       {1, PassphraseRecipe::kMemoryMin - 1},
                                       {1, PassphraseRecipe::kMemoryMax + 1},
                                       {~std::uint64_t{0}, ~std::uint64_t{0}}}) {
    recipe.passes = passes;
    recipe.memory = memory;
    CHECK(EncryptionKey::from_passphrase("x", recipe).error().code == ErrorCode::E_INVALID_FORMAT);
  }
}

}  // namespace bmad_mem::test::encrypted_line_test
