// encoder_choice.cpp - opens the encoder that the settings of a root name, and keeps it.
#include "encoder/encoder_choice.hpp"

#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/hash.hpp"
#include "base/process.hpp"
#include "external/external_encoder.hpp"
#include "lite_model.hpp"
#include "store/command.hpp"
#include "store/posix_file_system.hpp"
#include "store/store.hpp"

namespace bmad_mem {

/// What Store::encoder holds: the answer of the first call, and what it was an answer to.
struct EncoderChoice {
  EncoderConfig config;
  std::string weights;      ///< Where they are; empty without.
  std::uint64_t stamp = 0;  ///< Of that file.
  Result<std::shared_ptr<TextEncoder>> encoder;
  Timestamp at;
};

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWeightsName = "encoder.bmw";
/// How long an error and "there is none" are an answer.
constexpr std::chrono::minutes kFailureTtl{1};

/// What config.json names, empty when it names nothing: the last part of the setting.
std::string_view named_kind(const EncoderConfig& config) {
  return !config.command.empty() ? "command"
         : !config.url.empty()   ? "url"
         : !config.path.empty()  ? "path"
                                 : "";
}

std::string setting_of(std::string_view kind) {
  return fmt::format("memory_config.encoder.{}", kind);
}

Status check_trust(const Store& store) {
  Status trusted = store.origins->check_programs(store.config, store.config);
  if (!trusted) {
    trusted.error().field = setting_of(named_kind(store.config.encoder));
  }
  return trusted;
}

/// All that is the same for programs and servers.
ExternalOptions external_options(const Store& store, std::string name) {
  const EncoderConfig& config = store.config.encoder;
  const std::string_view kind = named_kind(config);
  assert(kind == "command" || kind == "url");
  ExternalOptions options{.name = std::move(name),
                          .setting = setting_of(kind),
                          .timeout = std::chrono::milliseconds(config.timeout_ms),
                          .may_ask = [&store] { return check_trust(store); },
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
    return field_error(ErrorCode::E_ACCESS_DENIED, setting_of("command"),
                       "no program that config.json names runs here");
  }
  const std::vector<std::string>& command = store.config.encoder.command;
  assert(!command.empty());
  ExternalOptions options = external_options(store, fmt::format("{}", fmt::join(command, " ")));
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
    place.error().field = setting_of("url");
    return place.error();
  }
  ExternalOptions options = external_options(store, config.url);
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
    return with_home(named);
  }
  std::error_code failure;
  return installed_weights(fs::read_symlink("/proc/self/exe", failure).string());
}

/// Where the weights are that `store` uses; empty when it uses none.
std::string weights_of(const Store& store) {
  const EncoderConfig& config = store.config.encoder;
  if (!config.enabled || !config.command.empty() || !config.url.empty()) {
    return {};
  }
  return config.path.empty() ? usual_weights() : encoder_path(store.config, store.root);
}

Result<std::shared_ptr<TextEncoder>> open_encoder(const Store& store, const std::string& weights,
                                                  TextEncoder::Deadline deadline) {
  const EncoderConfig& config = store.config.encoder;
  if (config.enabled && !config.command.empty()) {
    return open_program(store, deadline);
  }
  if (config.enabled && !config.url.empty()) {
    return open_server(store, deadline);
  }
  if (weights.empty()) {
    return std::shared_ptr<TextEncoder>();
  }
  return encoder::LiteModel::open(weights);
}

/// Whether `known` is still the answer.
bool holds(const EncoderChoice& known, const Store& store) {
  const auto age = store.clock.now() - known.at;
  return known.config == store.config.encoder && outside_file_stamp(known.weights) == known.stamp &&
         (known.encoder.value_or(nullptr) != nullptr || (age >= age.zero() && age < kFailureTtl));
}

}  // namespace

bool may_have_encoder(const Store& store) {
  const EncoderConfig& config = store.config.encoder;
  return config.enabled && (!named_kind(config).empty() || !usual_weights().empty());
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
  const EncoderConfig& config = store.config.encoder;
  if (config.enabled && !named_kind(config).empty()) {
    BMAD_TRY(check_trust(store));
  }
  std::unique_lock turn(store.encoder_mutex, std::defer_lock);
  if (!deadline) {
    turn.lock();
  } else {
    // By the wall clock: the thread sanitizer of g++ 12 sees no lock that waits by the steady one.
    using Wall = std::chrono::system_clock;
    const auto wait =
        std::chrono::duration_cast<Wall::duration>(*deadline - std::chrono::steady_clock::now());
    if (!turn.try_lock_until(Wall::now() + wait)) {
      return Error{.code = ErrorCode::E_QUERY_TIMEOUT,
                   .message = "another question waits for the encoder's first answer"};
    }
  }
  if (store.encoder == nullptr || !holds(*store.encoder, store)) {
    const std::string weights = weights_of(store);
    // First: what is replaced meanwhile is read again.
    const std::uint64_t stamp = outside_file_stamp(weights);
    Result<std::shared_ptr<TextEncoder>> opened = open_encoder(store, weights, deadline);
    // What ran out of the time of one question says nothing to the next.
    if (!opened && deadline && opened.error().code == ErrorCode::E_QUERY_TIMEOUT) {
      return opened;
    }
    store.encoder = std::make_shared<EncoderChoice>(config, weights, stamp, std::move(opened),
                                                    store.clock.now());
  }
  assert(store.encoder != nullptr);
  return store.encoder->encoder;
}

void use_encoder(const Store& store, std::shared_ptr<TextEncoder> encoder) {
  const std::lock_guard turn(store.encoder_mutex);
  store.encoder = std::make_shared<EncoderChoice>(store.config.encoder, std::string(), 0,
                                                  std::move(encoder), store.clock.now());
}

}  // namespace bmad_mem
