// document_elements.cpp - splits a JSON document into elements, chunk by chunk.
#include "exchange/import/document_elements.hpp"

#include <algorithm>
#include <cassert>

#include "bmad_mem/json.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kBetween = " \t\r\n,";
constexpr std::string_view kScalarEnds = " \t\r\n,]}:";

}  // namespace

std::size_t last_object(std::string_view text) {
  // Backwards, since only the end is known to be outside of a string.
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = text.size(); i-- > 0;) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t before = std::min(text.substr(0, i).find_last_not_of('\\') + 1, i);
      in_string = in_string == ((i - before) % 2 != 0);
    } else if (!in_string && (c == '}' || c == ']')) {
      ++depth;
    } else if (!in_string && (c == '{' || c == '[')) {
      depth -= std::min<std::size_t>(depth, 1);
    }
    if (depth == 0) {
      return c == '{' ? i : std::string_view::npos;
    }
  }
  return std::string_view::npos;
}

void DocumentElements::take(std::size_t count) {
  assert(count <= chunk_.size());
  line_ += static_cast<std::uint64_t>(std::ranges::count(chunk_.substr(0, count), '\n'));
  chunk_.remove_prefix(count);
}

Result<int> DocumentElements::peek_any() {
  if (chunk_.empty()) {
    BMAD_TRY_ASSIGN(chunk_, file_.chunk());
  }
  return chunk_.empty() ? -1 : static_cast<unsigned char>(chunk_.front());
}

Result<int> DocumentElements::peek() {
  while (true) {
    BMAD_TRY_ASSIGN(const int c, peek_any());
    if (c < 0 || !kBetween.contains(static_cast<char>(c))) {
      return c;
    }
    take();
  }
}

Status DocumentElements::enter(int first) {
  if (first == 0xEF && chunk_.starts_with("\xEF\xBB\xBF")) {
    take(3);  // A byte order mark.
    return {};
  }
  if (first != '[' && first != '{') {
    return Error{.code = ErrorCode::E_INVALID_FORMAT,
                 .message = "the file is neither a JSON array nor a JSON object",
                 .path = file_.path()};
  }
  has_outer_object_ = first == '{';
  place_ = has_outer_object_ ? Place::kObject : Place::kArray;
  take();
  return {};
}

void DocumentElements::append(std::string_view part) {
  too_long_ = too_long_ || text_.size() + part.size() > kSizeMax;
  if (too_long_) {
    text_.clear();
  } else {
    text_ += part;
  }
}

bool DocumentElements::scan(char first) {
  const bool is_scalar = first != '"' && first != '{' && first != '[';
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    const char c = chunk_[i];
    bool ends = false;
    if (is_escaped_) {
      is_escaped_ = false;
    } else if (in_string_) {
      is_escaped_ = c == '\\';
      in_string_ = c != '"';
      ends = !in_string_ && depth_ == 0;
    } else if (is_scalar && kScalarEnds.contains(c)) {
      append(chunk_.substr(0, i));
      take(i);
      return true;
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (c == '}' || c == ']') {
      assert(depth_ > 0);
      ends = --depth_ == 0;
    }
    if (ends) {
      append(chunk_.substr(0, i + 1));
      take(i + 1);
      return true;
    }
  }
  append(chunk_);
  take(chunk_.size());
  return false;
}

Status DocumentElements::take_value() {
  text_.clear();
  too_long_ = false;
  depth_ = 0;
  in_string_ = false;
  is_escaped_ = false;
  assert(!chunk_.empty() && "peek() found a byte");
  const char first = chunk_.front();
  if (kScalarEnds.contains(first)) {
    take();  // A bracket that closes nothing: an empty value, which no parser takes.
    return {};
  }
  while (!scan(first)) {
    BMAD_TRY_ASSIGN(const int c, peek_any());
    if (c < 0) {
      was_cut_ = true;
      return {};
    }
  }
  return {};
}

Result<bool> DocumentElements::take_key(std::string& key) {
  BMAD_TRY(take_value());
  key = text_.size() >= 2 && text_.front() == '"' ? text_.substr(1, text_.size() - 2) : text_;
  BMAD_TRY_ASSIGN(int c, peek());
  if (c == ':') {
    take();
    BMAD_TRY_ASSIGN(c, peek());
  }
  if (c == '[' && key == array_) {
    take();
    place_ = Place::kArray;
    return false;
  }
  return c >= 0;
}

Result<bool> DocumentElements::next(DocumentElement& element) {
  while (true) {
    BMAD_TRY_ASSIGN(const int c, peek());
    if (c < 0) {
      was_cut_ = was_cut_ || place_ == Place::kObject || place_ == Place::kArray;
      return false;
    }
    if (place_ == Place::kBefore) {
      BMAD_TRY(enter(c));
      continue;
    }
    if (place_ == Place::kBehind) {
      return false;
    }
    if (c == ']' || c == '}') {
      place_ = place_ == Place::kArray && has_outer_object_ ? Place::kObject : Place::kBehind;
      take();
      continue;
    }
    element.key.clear();
    if (place_ == Place::kObject) {
      BMAD_TRY_ASSIGN(const bool has_value, take_key(element.key));
      if (!has_value) {
        continue;
      }
    }
    element.line = line_;
    BMAD_TRY(take_value());
    element.number = ++number_;
    element.too_long = too_long_;
    const std::size_t size = text_.size();
    text_.append(kJsonPadding, ' ');
    element.text = std::string_view(text_).substr(0, size);
    return true;
  }
}

}  // namespace bmad_mem::cli
