// entry_input.cpp - reads the entries of `add`: from options, from stdin, from lines of JSON.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "bmad_mem/text.hpp"
#include "cli/entry_options.hpp"
#include "cli/json_text.hpp"
#include "cli/program.hpp"

namespace bmad_mem::cli {
namespace {

std::vector<InputPiece> split_lines(std::string_view input) {
  std::vector<InputPiece> pieces;
  std::uint64_t number = 0;
  while (!input.empty()) {
    const std::string_view line = without_line_end(take_line(input));
    ++number;
    if (!is_blank(line)) {
      pieces.push_back({.text = line, .line = number, .column = 1});
    }
  }
  return pieces;
}

/// The values from `at` on, with `separator` between them ('\0' for none) and `end` behind the last
/// ('\0' for the end of the input); nothing when that is not what the input looks like.
std::optional<std::vector<InputPiece>> split_values(std::string_view input, std::size_t at,
                                                    char separator, char end) {
  std::vector<InputPiece> pieces;
  TextPosition position(input);
  const auto at_end = [&] {
    return end == '\0' ? at == input.size()
                       : at < input.size() && input[at] == end &&
                             skip_json_blanks(input, at + 1) == input.size();
  };
  at = skip_json_blanks(input, at);
  while (!at_end()) {
    const std::size_t value_end = json_value_end(input, at);
    if (value_end == std::string_view::npos) {
      return std::nullopt;
    }
    pieces.push_back(position.piece(at, value_end - at));
    at = skip_json_blanks(input, value_end);
    if (separator != '\0' && !at_end()) {
      if (at >= input.size() || input[at] != separator) {
        return std::nullopt;
      }
      at = skip_json_blanks(input, at + 1);
    }
  }
  return pieces;
}

/// All of `descriptor`, which messages call `name`.
Result<std::string> read_all(int descriptor, std::string_view name) {
  static constexpr std::size_t kChunk = std::size_t{64} * 1024;
  std::string input;
  while (true) {
    const std::size_t size = input.size();
    input.resize(size + kChunk);
    const ssize_t got = ::read(descriptor, input.data() + size, kChunk);
    input.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno != EINTR) {
      return Error{.code = ErrorCode::E_STORAGE_IO,
                   .message = fmt::format("cannot read {}: {}", name, std::strerror(errno)),
                   .os_error = errno};
    }
    if (got == 0) {
      return input;
    }
    if (input.size() > kInputSizeMax) {
      return Error{.code = ErrorCode::E_SIZE_LIMIT,
                   .message = fmt::format("there are more than 64 MiB on {}; use `bmad-mem import "
                                          "FILE`, or split the input",
                                          name)};
    }
  }
}

}  // namespace

Result<std::string> read_stdin() { return read_all(STDIN_FILENO, "stdin"); }

Result<std::string> text_or_stdin(std::string text) {
  return text == "-" ? read_stdin() : std::move(text);
}

Result<std::string> read_named(const std::string& name) {
  return name == "-" ? read_stdin() : read_whole_file(name);
}

Result<std::string> read_whole_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    return path_error(ErrorCode::E_STORAGE_IO, path,
                      fmt::format("cannot open the file: {}", std::strerror(errno)), errno);
  }
  Result<std::string> text = read_all(file.number(), "the file");
  if (!text) {
    Error error = std::move(text).error();
    error.path = path;
    return error;
  }
  return text;
}

InputPiece TextPosition::piece(std::size_t at, std::size_t size) {
  line_ += static_cast<std::uint64_t>(std::ranges::count(text_.substr(at_, at - at_), '\n'));
  at_ = at;
  const std::size_t line_start = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;  // npos + 1 is 0.
  return {.text = text_.substr(at, size), .line = line_, .column = at - line_start + 1};
}

std::vector<InputPiece> split_input(std::string_view input) {
  const std::size_t start = skip_json_blanks(input, 0);
  const std::string_view first_line = input.substr(start, input.find('\n', start) - start);
  if (first_line.starts_with('[')) {
    if (auto pieces = split_values(input, start + 1, ',', ']')) {
      return *std::move(pieces);
    }
  }
  // An object that ends on its own line speaks for JSONL. There, a broken line must not be taken
  // together with the next one.
  if (first_line.starts_with('{') && json_value_end(first_line, 0) == std::string_view::npos) {
    if (auto pieces = split_values(input, start, '\0', '\0')) {
      return *std::move(pieces);
    }
  }
  return split_lines(input);
}

void place_error(Error& error, const InputPiece& piece) {
  error.path = "<stdin>";
  error.line = piece.line;
  if (error.column == 0) {
    return;
  }
  const std::string_view before =
      piece.text.substr(0, std::min<std::size_t>(error.column - 1, piece.text.size()));
  const std::size_t newline = before.rfind('\n');
  if (newline == std::string_view::npos) {
    error.column += piece.column - 1;
  } else {
    error.line += static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
    error.column -= newline + 1;
  }
}

}  // namespace bmad_mem::cli
