#include "maker/package.hpp"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "bmad_mem/json_parser.hpp"
#include "store/posix_file_system.hpp"

namespace bmad_mem::encoder {
namespace {

constexpr std::uint64_t kPackageFileMax = 64U << 20U;

Error unlike(std::string message, const std::string& path) {
  return {.code = ErrorCode::E_INVALID_FORMAT, .message = std::move(message), .path = path};
}

}  // namespace

Result<Package> Package::open(const std::string& folder) {
  Package package;
  BMAD_TRY_ASSIGN(package.licence_, read_outside_file(folder + "/LICENSE", kPackageFileMax));
  const std::string model_path = folder + "/dist/model.json";
  BMAD_TRY_ASSIGN(const std::string model, read_outside_file(model_path, kPackageFileMax));
  JsonParser parser;
  BMAD_TRY_ASSIGN(const JsonValue graph, parser.parse(model));
  std::string shards;
  std::size_t offset = 0;
  for (const JsonValue group : graph["weightsManifest"].elements()) {
    for (const JsonValue path : group["paths"].elements()) {
      BMAD_TRY_ASSIGN(
          const std::string shard,
          read_outside_file(fmt::format("{}/dist/{}", folder, path.string()), kPackageFileMax));
      shards += shard;
    }
    for (const JsonValue weight : group["weights"].elements()) {
      std::size_t size = 1;
      for (const JsonValue extent : weight["shape"].elements()) {
        size *= static_cast<std::size_t>(extent.integer());
      }
      if (weight["dtype"].string() == "float32") {
        package.places_[std::string(weight["name"].string())] = {offset, size};
      }
      offset += size;  // The others are integers of the same width.
    }
  }
  if (offset * sizeof(float) != shards.size()) {
    return unlike("has shards of another size than it says", model_path);
  }
  package.numbers_.resize(offset);
  std::memcpy(package.numbers_.data(), shards.data(), shards.size());
  const std::string pieces_path = folder + "/dist/vocab.json";
  BMAD_TRY_ASSIGN(const std::string pieces, read_outside_file(pieces_path, kPackageFileMax));
  BMAD_TRY_ASSIGN(const JsonValue list, parser.parse(pieces));
  for (const JsonValue piece : list.elements()) {
    Piece made;
    bool is_text = true;
    for (const JsonValue part : piece.elements()) {
      if (is_text) {
        made.first = part.string();
      } else {
        made.second = part.number();  // Without one, 0.
      }
      is_text = false;
    }
    package.pieces_.push_back(std::move(made));
  }
  return package;
}

Result<std::span<const float>> Package::tensor(const std::string& name, std::size_t size) const {
  const auto found = places_.find(name);
  if (found == places_.end() || found->second.size != size) {
    return unlike(fmt::format("has no tensor {} of {} numbers", name, size), "model.json");
  }
  return std::span<const float>(numbers_).subspan(found->second.offset, size);
}

}  // namespace bmad_mem::encoder
