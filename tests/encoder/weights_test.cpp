#include "encoder/weights.hpp"

#include <doctest/doctest.h>

#include "encoder/lite_model.hpp"
#include "encoder/made_weights.hpp"
#include "support/temporary_directory.hpp"

namespace bmad_mem::test {
namespace {

using encoder::LiteModel;

/// The error of opening a file with these bytes; "" when it is one that can be used.
std::string problem_of(std::string_view file) {
  const auto model = LiteModel::read(aligned_copy(file), "here/encoder.bmw");
  if (model) {
    return "";
  }
  CHECK(model.error().path == "here/encoder.bmw");
  CHECK(model.error().message.find("run ./dev encoder") != std::string::npos);
  return std::string(error_code_name(model.error().code)) + ": " + model.error().message;
}

bool is_corrupt(std::string_view file) { return problem_of(file).starts_with("E_STORAGE_CORRUPT"); }

}  // namespace

TEST_CASE("a whole file is a model") {
  CHECK(problem_of(made_weights_file()) == "");
  const auto model = LiteModel::read(aligned_copy(made_weights_file()), "made").value();
  CHECK(model->name() == "made 1");
  CHECK(model->dimension() == 128);
  CHECK(model->id() == encoder::weights_hash(model->weights_bytes()));
}

TEST_CASE("a file that is cut anywhere is no model") {
  const std::string_view file = made_weights_file();
  for (std::size_t size = 0; size < 300; ++size) {
    CAPTURE(size);
    CHECK(is_corrupt(file.substr(0, size)));
  }
  constexpr std::size_t kPlaces = 40;
  for (std::size_t place = 1; place < kPlaces; ++place) {
    const std::size_t size = file.size() * place / kPlaces;
    CAPTURE(size);
    CHECK(is_corrupt(file.substr(0, size)));
    CHECK(is_corrupt(with_weights_hash(std::string(file.substr(0, size)))));
  }
  CHECK(is_corrupt(file.substr(0, file.size() - 1)));
  CHECK(is_corrupt(std::string(file) + '\0'));
}

TEST_CASE("a file with another byte anywhere is no model") {
  std::string file = made_weights_file();
  constexpr std::size_t kHead = 128;
  for (std::size_t place = 0; place < kHead + 60; ++place) {
    const std::size_t at = place < kHead ? place : file.size() / 60 * (place - kHead) + 7;
    file[at] = static_cast<char>(file[at] ^ 0x10);
    CAPTURE(at);
    CHECK(problem_of(file) != "");
    file[at] = static_cast<char>(file[at] ^ 0x10);
  }
  CHECK(problem_of(file) == "");
}

TEST_CASE("files say what is wrong with them") {
  std::string file = made_weights_file();
  const auto changed = [&](std::size_t at, char byte) {
    std::string other = file;
    other[at] = byte;
    return problem_of(with_weights_hash(std::move(other)));
  };
  CHECK(problem_of("").find("empty file") != std::string::npos);
  CHECK(problem_of(std::string(7'000'000, '\0')).find("something else") != std::string::npos);
  CHECK(changed(8, 2).starts_with("E_NEWER_VERSION"));
  CHECK(changed(8, 0).find("older") != std::string::npos);
  CHECK(changed(12, 9).find("parts") != std::string::npos);
  CHECK(changed(19, 9).find("impossible sizes") != std::string::npos);
  CHECK(changed(40, 9).find("another network") != std::string::npos);
  std::string flipped = file;
  flipped[file.size() / 2] = static_cast<char>(flipped[file.size() / 2] ^ 1);
  CHECK(problem_of(flipped).find("hash") != std::string::npos);
}

TEST_CASE("what is no file is said so") {
  const TemporaryDirectory folder;
  CHECK(LiteModel::open(folder.path("absent")).error().code == ErrorCode::E_STORAGE_IO);
  CHECK(LiteModel::open(folder.path()).error().code == ErrorCode::E_STORAGE_IO);
  folder.write("empty", "");
  CHECK(LiteModel::open(folder.path("empty")).error().code == ErrorCode::E_STORAGE_CORRUPT);
  folder.write("whole", made_weights_file());
  CHECK(open_model(folder.path("whole")).has_value());
}

}  // namespace bmad_mem::test
