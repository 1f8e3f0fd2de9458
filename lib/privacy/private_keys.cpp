// private_keys.cpp - finds blocks of private keys, and JSON web tokens.
//
//   -----BEGIN RSA PRIVATE KEY-----\nMIIE…\n-----END RSA PRIVATE KEY-----
//   |<------------------------------ detection ------------------------->|
//
//   eyJhbGciOi….eyJzdWIiOi….SflKxwRJSM…         signed: header, payload, signature
//   eyJhbGciOi….eyJzdWIiOi….                    not signed: the third part is empty
//   eyJhbGciOi….key.vector.ciphertext.tag       encrypted: five parts, the second may be empty
//
// A text may only speak of the markers of a key, as the code of a parser does; without an end the
// rest of the text would go. So what follows the marker must look like a key.
#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <string>

#include "bmad_mem/text.hpp"
#include "innocent.hpp"
#include "structure_scan.hpp"
#include "text_scan.hpp"

namespace bmad_mem {
namespace {

constexpr std::string_view kKeyRule = "private-key";
constexpr std::string_view kPrivateKey = "PRIVATE KEY";
constexpr std::size_t kLabelSizeMax = 32;
constexpr std::size_t kDashesMin = 4;  // SSH2 has four, all others five.

bool is_dash(char c) { return c == '-'; }

/// Where the dashes begin before `word` ("BEGIN" or "END"), which stands with a label before the
/// "PRIVATE KEY" at `at`; npos when it doesn't.
std::size_t marker_begin(std::string_view text, std::size_t at, std::string_view word) {
  const std::size_t label = run_begin(
      text, at, [](char c) { return is_upper(c) || is_digit(c) || c == ' '; }, kLabelSizeMax);
  const std::string_view before = text.substr(label, at - label);
  const std::size_t word_at = before.rfind(word);
  if (word_at == std::string_view::npos || !before.substr(word_at + word.size()).starts_with(' ')) {
    return std::string_view::npos;
  }
  std::size_t dashes_end = label + word_at;
  if (byte_before(text, dashes_end) == ' ') {
    --dashes_end;
  }
  const std::size_t begin = run_begin(text, dashes_end, is_dash, 5);
  return dashes_end - begin >= kDashesMin ? begin : std::string_view::npos;
}

/// Behind the dashes that follow the "PRIVATE KEY" at `at`; npos when there are none.
std::size_t marker_end(std::string_view text, std::size_t at) {
  assert(text.substr(at).starts_with(kPrivateKey));
  std::size_t dashes = at + kPrivateKey.size();
  if (text.substr(dashes).starts_with(" BLOCK")) {
    dashes += 6;
  }
  dashes += byte_at(text, dashes) == ' ' ? 1U : 0U;
  const std::size_t end = run_end(text, dashes, is_dash, 5);
  return end - dashes >= kDashesMin ? end : std::string_view::npos;
}

/// Behind the marker that ends a key, the first from `at` on; npos when there is none.
std::size_t end_of_key(std::string_view text, std::size_t at) {
  for (; (at = text.find(kPrivateKey, at)) != std::string_view::npos; at += kPrivateKey.size()) {
    if (marker_begin(text, at, "END") != std::string_view::npos) {
      const std::size_t end = marker_end(text, at);
      return end == std::string_view::npos ? at + kPrivateKey.size() : end;
    }
  }
  return std::string_view::npos;
}

bool is_key_text(std::string_view run, std::size_t size_min) {
  const Shape shape = shape_of(run);
  const bool is_mixed =
      (shape.lower > 0 && shape.upper > 0) || (shape.digits > 0 && shape.turns > 1);
  return run.size() >= size_min && is_mixed;
}

/// Steps over blanks, line ends (also those written as "\n"), quotes and what joins literals.
/// An odd number of quotes leads out of a literal into code.
std::size_t skip_to_body(std::string_view body, std::size_t at) {
  std::size_t quotes = 0;
  for (; at < body.size(); ++at) {
    const char c = body[at];
    if (c == '\\' && at + 1 < body.size() && std::string_view("nrt").contains(body[at + 1])) {
      ++at;
    } else if (is_quote(c)) {
      ++quotes;
    } else if (!is_space(c) && !std::string_view("\\+,.>#*|&()").contains(c)) {
      break;
    }
  }
  assert(at <= body.size());
  return quotes % 2 == 0 ? at : body.size();
}

/// Steps over lines such as "Proc-Type: 4,ENCRYPTED" and "Version: GnuPG v2".
std::size_t skip_key_headers(std::string_view body, std::size_t at) {
  constexpr int kHeadersMax = 8;
  for (int i = 0; i < kHeadersMax; ++i) {
    const std::size_t colon =
        run_end(body, at, [](char c) { return is_alnum(c) || c == '-'; }, kLabelSizeMax);
    if (colon == at || byte_at(body, colon) != ':') {
      break;
    }
    const std::size_t line_end = std::min(
        {body.find('\n', colon), body.find("\\n", colon), body.find("\\r", colon), body.size()});
    at = skip_to_body(body, line_end);
  }
  return at;
}

/// A block that is cut off has no end that proves it: then its first line must be longer.
bool looks_like_key(std::string_view text, std::size_t begin, std::size_t end, bool is_cut) {
  assert(begin <= end && end <= text.size());
  constexpr std::size_t kBodyMax = 600;
  const std::size_t line_min = is_cut ? 24 : 12;
  constexpr std::size_t kLongLineMin = 40;
  const std::string_view body = text.substr(begin, std::min(end - begin, kBodyMax));
  const std::size_t at = skip_key_headers(body, skip_to_body(body, 0));
  const std::size_t first_end = run_end(body, at, is_base64);
  if (is_key_text(body.substr(at, first_end - at), line_min)) {
    return true;
  }
  // Whatever else stands before it: no identifier is as long as a line of a key.
  for (std::size_t run = 0; run < body.size();) {
    const std::size_t stop = run_end(body, run, is_base64);
    if (shape_of(body.substr(run, stop - run)).digits > 0 &&
        is_key_text(body.substr(run, stop - run), kLongLineMin)) {
      return true;
    }
    run = stop + 1;
  }
  return false;
}

constexpr std::size_t kHeaderSizeMax = 8192;
constexpr std::size_t kSignatureSizeMin = 16;
/// In one run of base64url: "a-eyJ…" may be a prefix, more than a few are nobody's.
constexpr std::size_t kTriesMax = 4;

/// A token may stand behind "\n", "%20" and signs, but not in the middle of a word.
bool may_web_token_begin_at(std::string_view text, std::size_t at) {
  if (!is_alnum(byte_before(text, at))) {
    return true;
  }
  return (at >= 2 && text[at - 2] == '\\' && std::string_view("nrt").contains(text[at - 1])) ||
         (at >= 3 && text[at - 3] == '%');
}

bool is_json_object(std::string_view part) {
  const std::string decoded = decode_base64(part);
  const std::size_t last = decoded.find_last_not_of(" \t\r\n");
  return decoded.starts_with('{') && last != std::string::npos && decoded[last] == '}';
}

bool is_token_header(std::string_view part) {
  if (part.size() > kHeaderSizeMax || !is_json_object(part)) {
    return false;
  }
  const std::string decoded = decode_base64(part);
  return decoded.contains("\"alg\"") || decoded.contains("\"typ\"") || decoded.contains("\"enc\"");
}

/// The end of the token whose header is [begin, header_end); `begin` when it is none.
std::size_t token_end(std::string_view text, std::size_t begin, std::size_t header_end) {
  assert(begin < header_end && header_end <= text.size());
  std::array<std::size_t, 5> ends = {header_end};
  std::size_t count = 1;
  while (count < ends.size() && byte_at(text, ends[count - 1]) == '.') {
    ends[count] = run_end(text, ends[count - 1] + 1, is_base64url);
    ++count;
  }
  const auto size_of = [&](std::size_t i) { return ends[i] - ends[i - 1] - 1; };
  if (count == 5 && size_of(2) > 0 && size_of(3) > 0 && size_of(4) > 0) {
    return ends[4];
  }
  if (count < 3) {
    return begin;
  }
  if (size_of(2) >= kSignatureSizeMin) {
    return ends[2];
  }
  const std::string_view payload = text.substr(ends[0] + 1, size_of(1));
  return size_of(2) == 0 && count == 3 && is_json_object(payload) ? ends[2] : begin;
}

}  // namespace

void scan_private_key(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  const std::size_t begin = marker_begin(scan.text, at, "BEGIN");
  const std::size_t body = marker_end(scan.text, at);
  if (begin == std::string_view::npos || body == std::string_view::npos) {
    return;
  }
  // A far end is searched only behind what looks like a key: so each long search but the last pays
  // with a detection.
  constexpr std::size_t kShort = 600;
  std::size_t end = end_of_key(scan.text.substr(0, body + kShort), body);
  bool is_cut = end == std::string_view::npos;
  if (is_cut && looks_like_key(scan.text, body, scan.text.size(), is_cut)) {
    end = end_of_key(scan.text, body);
    is_cut = end == std::string_view::npos;
    end = std::min(end, scan.text.size());
  }
  if (end != std::string_view::npos && looks_like_key(scan.text, body, end, is_cut)) {
    scan.add(begin, end, kKeyRule);
    scan.key_end = end;
  }
}

void scan_putty_key(StructureScan& scan, std::size_t at, std::size_t size) {
  constexpr std::string_view kPrivateLines = "Private-Lines:";
  constexpr std::string_view kCheck = "Private-MAC:";
  constexpr std::size_t kFileSizeMax = 64U << 10U;
  const std::string_view text = scan.text;
  if (scan.private_lines < at + size) {
    scan.private_lines = std::min(text.find(kPrivateLines, at + size), text.size());
  }
  if (scan.private_lines == text.size() || scan.private_lines - at > kFileSizeMax) {
    return;
  }
  std::size_t end = std::min(text.find(kCheck, scan.private_lines), text.size());
  if (end < text.size()) {
    end = blanks_end(text, end + kCheck.size());
    end = run_end(text, end, is_alnum);
  }
  scan.add(at, end, kKeyRule);
  scan.key_end = end;
}

void scan_web_token(StructureScan& scan, std::size_t at, std::size_t /*size*/) {
  if (at >= scan.token_run_end) {
    scan.token_run_end = run_end(scan.text, at, is_base64url);
    scan.token_tries = 0;
  }
  if (!may_web_token_begin_at(scan.text, at) || byte_at(scan.text, scan.token_run_end) != '.' ||
      scan.token_tries++ >= kTriesMax ||
      !is_token_header(scan.text.substr(at, scan.token_run_end - at))) {
    return;
  }
  const std::size_t end = token_end(scan.text, at, scan.token_run_end);
  if (end > at) {
    scan.add(at, end, "jwt");
    scan.token_run_end = end;
    scan.token_tries = kTriesMax;
  }
}

}  // namespace bmad_mem
