// external_encoder.hpp - a program or a server as an encoder: batches, a timeout, and a rest for
// what fails.
//
// How many numbers a vector has is learned from an answer and kept in .lock.encoder.json, so that a
// process that asks one question runs the program once:
//
//   {"encoder":"4f0c…","dimension":384,"failures":0,"failed_at":0,"problem":""}
//
// After two failures in a row it rests for a minute, also in other processes, which read the file
// before each question: a program that hangs keeps nobody for ever. Then one more failure is enough
// for the next minute. To take longer than a caller had time for is one from kEncoderPatience on.
//
// What programs and servers are asked, and what they answer:
//
//   program   stdin   {"text":"where do boats lie"}      a line for each text
//             stdout  {"vector":[0.12,-0.03,…]}          a line for each text, in the same order
//   server    POST    {"model":"…","input":["where do boats lie",…]}
//             answer  {"data":[{"index":0,"embedding":[0.12,-0.03,…]},…]}
//
// Other members are ignored. Pure text: nothing is called here.
//
// One question to a server of HTTP on this machine, and its answer: plain HTTP/1.1, no TLS, no
// redirect, no proxy, no cookie, a connection for each question. A host is an address, or
// "localhost", which is 127.0.0.1 and then [::1]: no name is looked up, since the resolver of a
// statically linked glibc needs the shared libraries of the machine that built it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "bmad_mem/clock.hpp"
#include "bmad_mem/result.hpp"
#include "encoder/text_encoder.hpp"

namespace bmad_mem {

struct Vectors {
  std::uint32_t dimension = 0;
  std::vector<float> numbers;  ///< Row-major, of length 1 each, or all zero.
};

/// Bytes of an answer: 64 vectors of kDimensionMax numbers, written at length and with line breaks.
inline constexpr std::size_t kVectorAnswerSizeMax = 16U << 20U;

/// What goes to a program. Texts are valid UTF-8.
std::string program_question(std::span<const std::string> texts);
/// What goes to a server; without `model` it is not named.
std::string server_question(std::span<const std::string> texts, std::string_view model);

/// The vectors of `count` texts, at least 1. Errors: E_INVALID_FORMAT with what is wrong, and in
/// which line or at which text: no JSON, another number of vectors, none of numbers, more than
/// kDimensionMax, vectors of different sizes, numbers that no float holds.
Result<Vectors> program_vectors(std::string_view answer, std::size_t count);
/// The same of a server's answer. A vector without an index is the next one.
Result<Vectors> server_vectors(std::string_view answer, std::size_t count);

struct HttpPlace {
  std::vector<std::string> addresses;  ///< Numeric, in the order in which they are tried.
  std::uint16_t port = 80;
  std::string host;    ///< As the header has it: "localhost:11434".
  std::string target;  ///< Path and query, at least "/".
};

/// Where "http://HOST[:PORT][/PATH][?QUERY]" is. Errors: E_INVALID_QUERY for https, names, user
/// names, blanks and all else that is no such URL; E_ACCESS_DENIED for an address that is not of
/// this machine (127.0.0.0/8, ::1), unless `takes_remote`.
Result<HttpPlace> http_place(std::string_view url, bool takes_remote);

/// The body of the answer to `json`, with status 200, of at most `answer_size_max` bytes. Errors:
/// E_STORAGE_IO when nobody listens, the answer is cut, or has another status; E_QUERY_TIMEOUT when
/// all of it takes longer than `timeout`; E_SIZE_LIMIT.
Result<std::string> http_post(const HttpPlace& place, std::string_view json,
                              std::chrono::milliseconds timeout, std::size_t answer_size_max);

inline constexpr int kEncoderFailuresMax = 2;
inline constexpr std::chrono::milliseconds kEncoderRest{60'000};
/// Less than hooks give, 500 ms, and more than one vector takes of a model that is loaded.
inline constexpr std::chrono::milliseconds kEncoderPatience{300};

/// What is known of an encoder between processes. A file that is not there, is torn or tells of
/// another encoder is none.
struct EncoderRecord {
  std::uint64_t encoder = 0;
  std::uint32_t dimension = 0;  ///< 0: not known yet.
  int failures = 0;             ///< In a row.
  Timestamp failed_at = {};
  std::string problem = {};  ///< The last of them.

  friend bool operator==(const EncoderRecord&, const EncoderRecord&) = default;
};

EncoderRecord read_encoder_record(FileSystem& files, std::uint64_t encoder);
/// Best effort: it is derived, and may be written by several at once.
void write_encoder_record(FileSystem& files, const EncoderRecord& record);

struct ExternalOptions {
  std::string name;       ///< For people, and in front of errors.
  std::uint64_t key = 0;  ///< A hash of the kind, the command or URL, and the model's name.
  std::string setting;    ///< "memory_config.encoder.command", for remedies.
  std::chrono::milliseconds timeout{10'000};
  /// Asked before each question; its error is that of the call, and no failure of the encoder.
  std::function<Status()> may_ask;
  /// Encodes 1 to 64 texts, valid UTF-8 of at most 32 KiB each.
  std::function<Result<Vectors>(std::span<const std::string>, std::chrono::milliseconds)> ask;
  FileSystem* files = nullptr;  // Both outlive the encoder.
  const Clock* clock = nullptr;
};

class ExternalEncoder final : public TextEncoder {
 public:
  /// With the dimension of the record, else that of the answer to one sentence. Errors: as
  /// encode(); E_INVALID_FORMAT for nothing but zeros.
  static Result<std::shared_ptr<TextEncoder>> open(ExternalOptions options, Deadline deadline);

  [[nodiscard]] const std::string& name() const override { return options_.name; }
  [[nodiscard]] std::uint64_t id() const override;
  [[nodiscard]] std::uint32_t dimension() const override;
  /// Of a text the first 32 KiB count. Errors besides: those of `ask`; E_STORAGE_IO while it
  /// rests; E_INVALID_FORMAT when the dimension has changed: id() and dimension() say the new one
  /// from then on.
  [[nodiscard]] Result<std::vector<float>> encode(std::span<const std::string> texts,
                                                  Deadline deadline) override;

 private:
  explicit ExternalEncoder(ExternalOptions options);

  /// Errors: E_STORAGE_IO while it rests.
  Status check_rest();
  Result<Vectors> ask(std::span<const std::string> texts, Deadline deadline);
  /// Takes over what another process wrote. The caller holds mutex_.
  void look();
  void note(const std::function<void(EncoderRecord&)>& change);

  ExternalOptions options_;
  mutable std::mutex mutex_;  // Of what follows.
  EncoderRecord seen_;        // As the file was when it was last read.
  EncoderRecord record_;
};

}  // namespace bmad_mem
