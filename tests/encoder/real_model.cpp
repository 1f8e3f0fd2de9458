#include "encoder/real_model.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace bmad_mem::test {
namespace {

std::string from_environment(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

}  // namespace

std::shared_ptr<encoder::LiteModel> real_model(const encoder::Kernels& kernels) {
  const std::string path = from_environment("BMAD_MEM_ENCODER", BMAD_ENCODER_FILE);
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: there is no " << path << "; ./dev encoder makes it, with a network");
    return nullptr;
  }
  Result<std::shared_ptr<encoder::LiteModel>> model = encoder::LiteModel::open(path, kernels);
  REQUIRE_MESSAGE(model, model.error().to_string());
  return *model;
}

std::vector<ReferenceText> reference_texts() {
  const std::string folder =
      from_environment("BMAD_SHARED_DATA", std::string(BMAD_SOURCE_DIR) + "/../shared/data");
  std::ifstream file(folder + "/encoder/reference.jsonl");
  if (!file) {
    MESSAGE("skipped: there is no encoder/reference.jsonl in " << folder);
  }
  std::vector<ReferenceText> texts;
  for (std::string line; std::getline(file, line);) {
    const nlohmann::json object = nlohmann::json::parse(line);
    texts.push_back(
        {.text = object["text"], .pieces = object["pieces"], .vector = object["vector"]});
  }
  return texts;
}

}  // namespace bmad_mem::test
