#include "knowledge/text_pattern.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "bmad_mem/utf8.hpp"

namespace bmad_mem {

TextPattern::TextPattern(std::unique_ptr<re2::RE2> regex) : regex_(std::move(regex)) {}
TextPattern::TextPattern(TextPattern&&) noexcept = default;
TextPattern& TextPattern::operator=(TextPattern&&) noexcept = default;
TextPattern::~TextPattern() = default;

Result<TextPattern> TextPattern::make(std::string_view pattern) {
  if (pattern.size() > kPatternSizeMax) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("the pattern has {} bytes; {} are the most, so make it "
                                        "shorter or two of it",
                                        pattern.size(), kPatternSizeMax)};
  }
  const RE2::Options options(RE2::Quiet);
  auto regex = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!regex->ok()) {
    return Error{.code = ErrorCode::E_SCHEMA_INVALID,
                 .message = fmt::format("the pattern \"{}\" doesn't compile: {}; see "
                                        "https://github.com/google/re2/wiki/Syntax",
                                        utf8_repaired(pattern), regex->error())};
  }
  return TextPattern(std::move(regex));
}

bool TextPattern::matches(std::string_view text) const {
  return regex_->Match({text.data(), text.size()}, 0, text.size(), RE2::UNANCHORED, nullptr, 0);
}

}  // namespace bmad_mem
