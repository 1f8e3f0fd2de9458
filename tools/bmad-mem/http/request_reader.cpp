// request_reader.cpp - parses requests with Beast, within limits of size.
#include "http/request_reader.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/core.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::cli {
namespace {

namespace http = boost::beast::http;

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// What is wrong with the lines of the head that `bytes` begin with; empty when nothing is. A line
/// that ends in a line feed alone: the parser waits for more then, where others see the end of the
/// head. A line that begins with a blank: the parser adds it to the one above, where others see a
/// header of its own, or none.
std::string_view line_problem(std::string_view bytes, bool is_first) {
  static constexpr std::string_view kFolded = "no line of the head begins with a blank";
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  const std::string_view head = bytes.substr(0, bytes.find("\r\n\r\n"));
  if (!is_first && is_blank(bytes.front())) {
    return kFolded;
  }
  for (std::size_t at = head.find('\n'); at != std::string_view::npos;
       at = head.find('\n', at + 1)) {
    if (at == 0 || head[at - 1] != '\r') {
      return "lines end with CR LF";
    }
    if (at + 1 < head.size() && is_blank(head[at + 1])) {
      return kFolded;
    }
  }
  return {};
}

/// `text` with its %XX decoded, and each '+' as a blank if `plus_is_blank`. False when an escape is
/// broken, or the result is no UTF-8 or contains NUL.
bool decode(std::string_view text, bool plus_is_blank, std::string& out) {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 3)) {
    if (at + 2 >= text.size() || !is_hex_digit(text[at + 1]) || !is_hex_digit(text[at + 2])) {
      return false;
    }
  }
  std::string plain(text);
  if (plus_is_blank) {
    std::ranges::replace(plain, '+', ' ');
  }
  out = percent_decoded(plain);
  return !out.contains('\0') && utf8_valid_size(out) == out.size();
}

/// The fields of `query`, in order. False when one can't be decoded.
bool read_query(std::string_view query, std::vector<HttpField>& out) {
  while (!query.empty()) {
    const std::string_view field = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), field.size() + 1));
    const std::size_t end = std::min(field.find('='), field.size());
    HttpField decoded;
    if (!decode(field.substr(0, end), true, decoded.name) ||
        !decode(field.substr(std::min(end + 1, field.size())), true, decoded.value)) {
      return false;
    }
    if (!field.empty()) {
      out.push_back(std::move(decoded));
    }
  }
  return true;
}

}  // namespace

struct RequestReader::Impl {
  http::request_parser<http::string_body> parser;
};

RequestReader::RequestReader(const RequestLimits& limits, std::uint16_t port)
    : limits_(limits), impl_(std::make_unique<Impl>()) {
  request_.port = port;
  impl_->parser.header_limit(static_cast<std::uint32_t>(limits.head_size_max));
  // Known only when the head is; until then the parser must not judge.
  impl_->parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  impl_->parser.eager(false);
}

RequestReader::~RequestReader() = default;

void RequestReader::refuse(std::uint16_t status, std::string_view code, std::string_view message) {
  state_ = State::kRefused;
  refusal_ = error_response(status, code, message);
  impl_.reset();
}

std::size_t RequestReader::take(std::string_view bytes) {
  if (bytes.empty() || state_ == State::kHeadDone || state_ == State::kDone ||
      state_ == State::kRefused) {
    return 0;
  }
  const bool is_body = state_ == State::kBody;
  if (!is_body) {
    state_ = State::kHead;
    if (const std::string_view wrong = line_problem(bytes, head_size_ == 0); !wrong.empty()) {
      refuse(400, "bad_request", fmt::format("not a proper request: {}", wrong));
      return 0;
    }
  }
  boost::system::error_code problem;
  std::size_t used = 0;
  // One step of the parser may leave whole lines or chunks behind.
  while (used < bytes.size() && !problem && !impl_->parser.is_done() &&
         (is_body || !impl_->parser.is_header_done())) {
    used += impl_->parser.put(boost::asio::const_buffer(bytes.data() + used, bytes.size() - used),
                              problem);
  }
  if (!is_body) {
    head_size_ += used;
    const std::size_t seen =
        impl_->parser.is_header_done() ? head_size_ : head_size_ + bytes.size() - used;
    if (problem == http::error::header_limit || seen > limits_.head_size_max) {
      // npos is more than any limit.
      const bool is_target =
          impl_->parser.get().target().empty() && bytes.find('\n') > limits_.target_size_max;
      refuse(is_target ? 414 : 431, is_target ? "uri_too_long" : "headers_too_large",
             fmt::format("the head of a request may have {} bytes", limits_.head_size_max));
      return used;
    }
  }
  if (problem == http::error::body_limit) {
    refuse(413, "too_large", "the body of the request is too large");
  } else if (problem == http::error::bad_version) {
    refuse(505, "bad_request", "this server speaks HTTP/1.1 and HTTP/1.0");
  } else if (problem && problem != http::error::need_more) {
    refuse(400, "bad_request", fmt::format("not a proper request: {}", problem.message()));
  } else if (!is_body && impl_->parser.is_header_done()) {
    finish_head();
  } else if (is_body && impl_->parser.is_done()) {
    request_.body = std::move(impl_->parser.get().body());
    state_ = State::kDone;
  }
  return used;
}

void RequestReader::finish_head() {
  const auto& message = impl_->parser.get();
  state_ = State::kHeadDone;
  request_.method = view(message.method_string());
  is_head_method_ = request_.method == "HEAD";
  if (is_head_method_) {
    request_.method = "GET";
  }
  is_http_1_0_ = message.version() < 11;
  keeps_alive_ = impl_->parser.keep_alive();
  for (const auto& field : message) {
    request_.headers.push_back(
        {lower_ascii(view(field.name_string())), std::string(view(field.value()))});
  }
  expects_continue_ = !is_http_1_0_ && lower_ascii(request_.header("expect")) == "100-continue";
  check_headers(message.version());
  if (state_ == State::kHeadDone) {
    read_target(view(message.target()));
  }
}

void RequestReader::check_headers(unsigned version) {
  const std::size_t hosts = request_.header_count("host");
  const std::size_t lengths = request_.header_count("content-length");
  const std::size_t codings = request_.header_count("transfer-encoding");
  const bool is_chunked = lower_ascii(request_.header("transfer-encoding")) == "chunked";
  const bool has_two_ends = codings != 0 && (codings > 1 || is_http_1_0_ || lengths != 0);
  if (version != 11 && version != 10) {
    refuse(505, "bad_request", "this server speaks HTTP/1.1 and HTTP/1.0");
  } else if (request_.headers.size() > limits_.fields_max) {
    refuse(431, "headers_too_large",
           fmt::format("a request may have {} headers", limits_.fields_max));
  } else if (hosts > 1 || (hosts == 0 && !is_http_1_0_)) {
    refuse(400, "bad_request", "a request needs one Host header");
  } else if (request_.header_count("authorization") > 1) {
    refuse(400, "bad_request", "a request can have only one Authorization header");
  } else if (has_two_ends || lengths > 1 ||
             request_.header("content-length").contains(',')) {  // The parser takes "5, 5".
    refuse(400, "bad_request", "the length of the body is given twice");
  } else if (codings == 1 && !is_chunked) {
    refuse(501, "bad_request", "of the transfer codings this server knows chunked only");
  } else if (request_.header_count("expect") != 0 && !expects_continue_ && !is_http_1_0_) {
    refuse(417, "bad_request", "nothing but 100-continue can be expected");
  }
}

/// Reads "/path?query", "http://host/path?query" or "*".
void RequestReader::read_target(std::string_view target) {
  static constexpr std::string_view kScheme = "http://";
  if (target.size() > limits_.target_size_max) {
    refuse(414, "uri_too_long",
           fmt::format("path and query may have {} bytes", limits_.target_size_max));
    return;
  }
  if (target.starts_with(kScheme)) {
    target.remove_prefix(kScheme.size());
    const std::string_view host = target.substr(0, target.find_first_of("/?"));
    if (host != request_.header("host")) {
      refuse(400, "bad_request", "the address and the Host header name different hosts");
      return;
    }
    target.remove_prefix(host.size());
    target = target.empty() ? "/" : target;
  }
  const std::size_t path_size = std::min(target.find('?'), target.size());
  if (target != "*" && !target.starts_with('/')) {
    refuse(400, "bad_request", "the address must be a path");
  } else if (!decode(target.substr(0, path_size), false, request_.path) ||
             !read_query(target.substr(std::min(path_size + 1, target.size())), request_.query)) {
    refuse(400, "bad_request", "the address has a broken escape or is not UTF-8");
  } else if (request_.path.size() > limits_.path_size_max) {
    refuse(414, "uri_too_long", fmt::format("a path may have {} bytes", limits_.path_size_max));
  }
}

void RequestReader::take_body(std::size_t size_max) {
  const auto announced = impl_->parser.content_length();
  if (announced && *announced > size_max) {
    refuse(413, "too_large", fmt::format("the body of this request may have {} bytes", size_max));
    return;
  }
  impl_->parser.body_limit(size_max);
  state_ = State::kBody;
  if (impl_->parser.is_done() || (!impl_->parser.chunked() && announced.value_or(0) == 0)) {
    state_ = State::kDone;
  }
}

HttpRequest RequestReader::take_request() {
  impl_.reset();
  return std::move(request_);
}

HttpResponse RequestReader::take_refusal() { return std::move(refusal_); }

}  // namespace bmad_mem::cli
