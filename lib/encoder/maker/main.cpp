// main.cpp - bmad_encoder_maker: makes encoder.bmw, see usage(). `./dev encoder` runs it.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "lite_model.hpp"
#include "maker/conversion.hpp"
#include "maker/measurement.hpp"
#include "maker/package.hpp"
#include "maker/projection.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem::encoder {
namespace {

constexpr std::uint64_t kInputMax = 64U << 20U;

Status write_file(const std::string& path, std::string_view bytes) {
  const std::string beside = path + ".new";
  std::ofstream out(beside, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  if (!out || std::rename(beside.c_str(), path.c_str()) != 0) {
    return posix_error(errno, "write", path);
  }
  return {};
}

Status convert(std::span<const std::string> arguments) {
  BMAD_TRY_ASSIGN(const Package package, Package::open(arguments[0]));
  std::string projection;
  if (arguments.size() > 2) {
    BMAD_TRY_ASSIGN(projection, read_outside_file(arguments[2], kInputMax));
    if (projection.size() != kProjectionSize) {
      return Error{.code = ErrorCode::E_INVALID_FORMAT,
                   .message = fmt::format("is no projection of {} bytes", kProjectionSize),
                   .path = arguments[2]};
    }
  }
  BMAD_TRY_ASSIGN(const std::string file, converted(package, projection));
  return write_file(arguments[1], file);
}

/// Of the texts in a file, one a line.
Status project(std::span<const std::string> arguments) {
  BMAD_TRY_ASSIGN(const std::shared_ptr<LiteModel> model, LiteModel::open(arguments[0]));
  BMAD_TRY_ASSIGN(const std::string lines, read_outside_file(arguments[1], kInputMax));
  std::vector<float> sentences;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const PieceNumbers pieces =
        model->tokenizer().pieces_of(std::string_view(lines).substr(at, end - at));
    const std::vector<float> sentence = model->network().sentences({&pieces, 1});
    sentences.insert(sentences.end(), sentence.begin(), sentence.end());
    at = end + 1;
  }
  if (sentences.empty()) {
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT, .message = "has no text", .path = arguments[1]};
  }
  return write_file(arguments[2], projection_of(sentences));
}

/// Whether a file is whole: exit status 0 or 1.
Status check(std::span<const std::string> arguments) {
  BMAD_TRY(LiteModel::open(arguments[0]));
  return {};
}

/// With all kernels of this processor, a JSON line each.
Status measure(std::span<const std::string> arguments) {
  for (const Kernels* kernels : kernels_here()) {
    BMAD_TRY_ASSIGN(const std::string json,
                    measured(arguments[0], arguments.size() > 1 ? arguments[1] : "", *kernels));
    fmt::print("{}\n", json);
  }
  return {};
}

struct MakerCommand {
  std::string_view name;
  std::size_t arguments_min;
  std::string_view usage;
  Status (*run)(std::span<const std::string> arguments);
};

constexpr MakerCommand kMakerCommands[] = {
    {"convert", 2, "PACKAGE_FOLDER OUT [PROJECTION]", convert},
    {"project", 3, "FILE TEXTS OUT", project},
    {"measure", 1, "FILE [REFERENCE]", measure},
    {"check", 1, "FILE", check},
};

int run(std::span<const std::string> arguments) {
  for (const MakerCommand& command : kMakerCommands) {
    if (!arguments.empty() && arguments[0] == command.name &&
        arguments.size() > command.arguments_min) {
      const Status status = command.run(arguments.subspan(1));
      if (!status) {
        fmt::print(stderr, "bmad_encoder_maker: {}\n", status.error().to_string());
      }
      return status ? 0 : 1;
    }
  }
  for (const MakerCommand& command : kMakerCommands) {
    fmt::print(stderr, "usage: bmad_encoder_maker {} {}\n", command.name, command.usage);
  }
  return 2;
}

}  // namespace
}  // namespace bmad_mem::encoder

int main(int count, char** arguments) {
  return bmad_mem::encoder::run(std::vector<std::string>(arguments + 1, arguments + count));
}
