#include "base/hash.hpp"

#include <array>

#include <fmt/format.h>
#include <xxhash.h>

namespace bmad_mem {

std::uint64_t xxh3(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

struct Xxh3Stream::Impl {
  struct Deleter {
    void operator()(XXH3_state_t* freed) const { XXH3_freeState(freed); }
  };
  std::unique_ptr<XXH3_state_t, Deleter> state{XXH3_createState()};
};

Xxh3Stream::Xxh3Stream() : impl_(std::make_unique<Impl>()) {
  XXH3_64bits_reset(impl_->state.get());
}
Xxh3Stream::~Xxh3Stream() = default;

void Xxh3Stream::add(std::string_view bytes) {
  XXH3_64bits_update(impl_->state.get(), bytes.data(), bytes.size());
}

std::uint64_t Xxh3Stream::value() const { return XXH3_64bits_digest(impl_->state.get()); }

void LineHash::add(std::string_view line) {
  const std::array<std::uint64_t, 2> both = {value_, xxh3(line)};
  value_ = XXH3_64bits(both.data(), sizeof both);
}

std::string hash_hex(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

void append_digits(std::uint64_t value, std::size_t digits, std::string& out) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  constexpr unsigned kBits = 6;
  for (std::size_t i = digits; i-- > 0;) {
    out += kDigits[(value >> (kBits * i)) & 63U];
  }
}

}  // namespace bmad_mem
