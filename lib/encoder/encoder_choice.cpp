#include "encoder/encoder_choice.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/hash.hpp"
#include "encoder/model.hpp"
#include "external/external_encoder.hpp"
#include "external/http_post.hpp"
#include "external/vector_answers.hpp"
#include "store/command.hpp"
#include "store/layout.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What Store::encoder holds: the answer of the first call, and what it was an answer to.
struct EncoderChoice {
  EncoderConfig config;
  Result<std::shared_ptr<TextEncoder>> encoder;
  std::chrono::steady_clock::time_point at;
};

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWeightsName = "encoder.bmw";
constexpr const char* kWeightsVariable = "BMAD_MEM_ENCODER";
constexpr std::chrono::minutes kErrorKept{1};

Status check_trust(const Store& store, std::string_view setting) {
  if (store.origins->trusts(store.config)) {
    return {};
  }
  return Error{.code = ErrorCode::E_ACCESS_DENIED,
               .message = store.origins->is_foreign()
                              ? "this memory is not yours, so no encoder that it names is used; "
                                "`bmad-mem trust` shows it and asks"
                              : "config.json or one of its programs has changed since you trusted "
                                "it, so no encoder that it names is used; `bmad-mem trust` shows "
                                "it and asks",
               .path = store.files->display_path(kConfigFile),
               .field = std::string(setting)};
}

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

/// All that is the same for programs and servers.
ExternalOptions external_options(const Store& store, std::string_view kind, std::string name) {
  const EncoderConfig& config = store.config.encoder;
  ExternalOptions options{.name = std::move(name),
                          .setting = fmt::format("memory_config.encoder.{}", kind),
                          .timeout = std::chrono::milliseconds(config.timeout_ms),
                          .ask = {},
                          .files = store.files.get(),
                          .clock = &store.clock};
  std::string identity = fmt::format("{}\n{}\n", kind, config.model);
  for (const std::string& word : config.command) {
    identity += fmt::format("{}\n{}\n", word.size(), word);
  }
  options.key = xxh3(identity + config.url);
  if (!config.model.empty()) {
    options.name += fmt::format(" ({})", config.model);
  }
  return options;
}

Result<std::shared_ptr<TextEncoder>> open_program(const Store& store,
                                                  TextEncoder::Deadline deadline) {
  if (!store.runs_programs) {
    return Error{.code = ErrorCode::E_ACCESS_DENIED,
                 .message = "no program that config.json names runs here",
                 .field = "memory_config.encoder.command"};
  }
  const std::vector<std::string>& command = store.config.encoder.command;
  ExternalOptions options = external_options(store, "command", joined(command));
  options.ask = [command](std::span<const std::string> texts,
                          std::chrono::milliseconds timeout) -> Result<Vectors> {
    BMAD_TRY_ASSIGN(const CommandOutput output,
                    run_command(command, program_question(texts),
                                {.timeout = timeout, .output_size_max = kVectorAnswerSizeMax}));
    return program_vectors(output.out, texts.size());
  };
  return ExternalEncoder::open(std::move(options), deadline);
}

Result<std::shared_ptr<TextEncoder>> open_server(const Store& store,
                                                 TextEncoder::Deadline deadline) {
  const EncoderConfig& config = store.config.encoder;
  Result<HttpPlace> place = http_place(config.url, config.remote);
  if (!place) {
    Error error = std::move(place).error();
    error.field = "memory_config.encoder.url";
    return error;
  }
  ExternalOptions options = external_options(store, "url", config.url);
  options.ask = [place = *std::move(place), model = config.model](
                    std::span<const std::string> texts,
                    std::chrono::milliseconds timeout) -> Result<Vectors> {
    BMAD_TRY_ASSIGN(const std::string answer,
                    http_post(place, server_question(texts, model), timeout, kVectorAnswerSizeMax));
    return server_vectors(answer, texts.size());
  };
  return ExternalEncoder::open(std::move(options), deadline);
}

/// Where they are when no setting says so; empty when there are none.
std::string usual_weights() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets a variable.
  if (const char* const named = std::getenv(kWeightsVariable); named != nullptr) {
    return named;
  }
  std::error_code failure;
  return installed_weights(fs::read_symlink("/proc/self/exe", failure).string());
}

Result<std::shared_ptr<TextEncoder>> open_weights(const Store& store) {
  std::string path = encoder_path(store.config, store.root);
  if (!path.empty()) {
    BMAD_TRY(check_trust(store, "memory_config.encoder.path"));
    return open_model(path);
  }
  path = usual_weights();
  return path.empty() ? std::shared_ptr<TextEncoder>() : open_model(path);
}

Result<std::shared_ptr<TextEncoder>> open_encoder(const Store& store,
                                                  TextEncoder::Deadline deadline) {
  const EncoderConfig& config = store.config.encoder;
  if (!config.enabled) {
    return std::shared_ptr<TextEncoder>();
  }
  if (!config.command.empty()) {
    BMAD_TRY(check_trust(store, "memory_config.encoder.command"));
    return open_program(store, deadline);
  }
  if (!config.url.empty()) {
    BMAD_TRY(check_trust(store, "memory_config.encoder.url"));
    return open_server(store, deadline);
  }
  return open_weights(store);
}

}  // namespace

bool may_have_encoder(const Store& store) {
  const EncoderConfig& config = store.config.encoder;
  return config.enabled && (!config.command.empty() || !config.url.empty() ||
                            !config.path.empty() || !usual_weights().empty());
}

std::string installed_weights(const std::string& program) {
  const fs::path folder = fs::path(program).parent_path();
  if (folder.empty()) {
    return {};
  }
  std::vector<fs::path> places = {folder / kWeightsName,
                                  folder.parent_path() / "share/bmad-mem" / kWeightsName};
  for (fs::path above = folder; above.has_relative_path(); above = above.parent_path()) {
    if (above.filename() == "node_modules") {
      places.push_back(above / "bmad-mem-encoder" / kWeightsName);
    }
  }
  for (const fs::path& place : places) {
    std::error_code failure;
    if (fs::is_regular_file(place, failure)) {
      return place.string();
    }
  }
  return {};
}

Result<std::shared_ptr<TextEncoder>> encoder_of(const Store& store,
                                                TextEncoder::Deadline deadline) {
  std::unique_lock turn(store.encoder_mutex, std::defer_lock);
  if (!deadline) {
    turn.lock();
  } else if (!turn.try_lock_until(*deadline)) {
    return Error{.code = ErrorCode::E_QUERY_TIMEOUT,
                 .message = "another question waits for the encoder's first answer"};
  }
  const auto now = std::chrono::steady_clock::now();
  const std::shared_ptr<EncoderChoice>& known = store.encoder;
  const bool holds = known != nullptr && known->config == store.config.encoder &&
                     (known->encoder || now < known->at + kErrorKept);
  if (!holds) {
    Result<std::shared_ptr<TextEncoder>> opened = open_encoder(store, deadline);
    // What ran out of the time of one question says nothing to the next.
    if (!opened && deadline && opened.error().code == ErrorCode::E_QUERY_TIMEOUT) {
      return opened;
    }
    store.encoder = std::make_shared<EncoderChoice>(store.config.encoder, std::move(opened), now);
  }
  return store.encoder->encoder;
}

void use_encoder(const Store& store, std::shared_ptr<TextEncoder> encoder) {
  const std::lock_guard turn(store.encoder_mutex);
  store.encoder = std::make_shared<EncoderChoice>(store.config.encoder, std::move(encoder),
                                                  std::chrono::steady_clock::now());
}

}  // namespace bmad_mem
