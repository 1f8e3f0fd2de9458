#include "encoder/weights.hpp"

#include <sys/stat.h>

#include <cstring>
#include <limits>

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
  CHECK(model.error().message.find("install the package bmad-mem-encoder") != std::string::npos);
  return std::string(error_code_name(model.error().code)) + ": " + model.error().message;
}

bool is_corrupt(std::string_view file) { return problem_of(file).starts_with("E_STORAGE_CORRUPT"); }

}  // namespace

TEST_CASE("a whole file is a model") {
  CHECK(problem_of(made_weights_file()) == "");
  const auto model = LiteModel::read(aligned_copy(made_weights_file()), "made").value();
  CHECK(model->name() == "made 1");
  CHECK(model->dimension() == 128);
  CHECK(model->id() == encoder::weights_hash(model->weights_bytes()) + 2);  // How it reads texts.
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

TEST_CASE("numbers that kernels would not compute alike with are refused") {
  const encoder::AlignedBytes bytes = aligned_copy(made_weights_file());
  const encoder::Weights weights = encoder::weights_in(bytes.span(), "").value();
  const auto check = [&]<typename T>(std::span<const T> part, T number) {
    std::string file = made_weights_file();
    for (const std::size_t at : {std::size_t{0}, part.size() / 2, part.size() - 1}) {
      const auto place = reinterpret_cast<const char*>(&part[at]) - bytes.span().data();
      std::memcpy(file.data() + place, &number, sizeof number);
      CHECK(problem_of(with_weights_hash(file)).contains("can't be computed with"));
      std::memcpy(file.data() + place, &part[at], sizeof number);
    }
    CHECK(problem_of(with_weights_hash(file)) == "");
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  check(weights.pieces.scores, std::numeric_limits<double>::quiet_NaN());
  check(weights.embedding_scales, kInfinity);
  check(weights.timing, -kInfinity);
  check(weights.norms.back().scales, kInfinity);
  check(weights.norms.front().biases, std::numeric_limits<float>::quiet_NaN());
  for (const encoder::Matrix& matrix : weights.matrices) {
    check(matrix.weights, std::int8_t{-128});
    check(matrix.scales, std::numeric_limits<float>::quiet_NaN());
    check(matrix.biases, kInfinity);
    check(matrix.zeros, matrix.zeros.front() + 1);
    // Also with the zero that fits it.
    std::string file = made_weights_file();
    const auto at = [&](const auto& of) {
      return file.data() + (reinterpret_cast<const char*>(&of) - bytes.span().data());
    };
    *at(matrix.weights[0]) = -128;
    const std::int32_t zero =
        matrix.zeros[0] - encoder::kByteZero * (matrix.weights[0] + encoder::kByteZero);
    std::memcpy(at(matrix.zeros[0]), &zero, sizeof zero);
    CHECK(problem_of(with_weights_hash(file)).contains("can't be computed with"));
  }
}

TEST_CASE("what is no file is said so, with the remedy") {
  const TemporaryDirectory folder;
  const auto problem = [](const std::string& path) {
    const Error error = LiteModel::open(path).error();
    CHECK(error.code == ErrorCode::E_STORAGE_IO);
    CHECK(error.message.contains("install the package bmad-mem-encoder"));
    return error.message;
  };
  CHECK(problem(folder.path("absent")).contains("No such file"));
  CHECK(problem(folder.path()).contains("this is a folder"));
  REQUIRE(::mkfifo(folder.path("fifo").c_str(), 0600) == 0);
  CHECK(problem(folder.path("fifo")).contains("this is no file"));
  folder.write("empty", "");
  CHECK(LiteModel::open(folder.path("empty")).error().code == ErrorCode::E_STORAGE_CORRUPT);
  folder.write("whole", made_weights_file());
  CHECK(LiteModel::open(folder.path("whole")).has_value());
}

}  // namespace bmad_mem::test
