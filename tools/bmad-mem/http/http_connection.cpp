// http_connection.cpp - reads requests of one connection, has them answered, and writes responses.
#include "http/http_connection.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "http/endpoint.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kReadSize = 4096;
constexpr std::size_t kBodyReadSize = std::size_t{64} << 10U;
/// How much is read, and for how long, of a client that sends on after it was refused: without that
/// it would see a broken connection, not the answer.
constexpr std::size_t kLingerSizeMax = std::size_t{8} << 20U;
constexpr std::chrono::seconds kLingerTime{2};

/// Bytes of a body in pieces that wait for the client.
constexpr std::size_t kPipeSizeMax = std::size_t{256} << 10U;

HttpResponse put_off(std::string_view code, std::string_view message, std::string_view seconds) {
  return error_response(503, code, message, {{"retry-after", std::string(seconds)}});
}

std::shared_ptr<const std::string> shared(std::string_view text) {
  return std::make_shared<const std::string>(text);
}

HttpConnection::Time now() { return std::chrono::steady_clock::now(); }

}  // namespace

HttpConnection::HttpConnection(HttpServer& server, std::unique_ptr<IoSocket> socket)
    : server_(&server), socket_(std::move(socket)), progress_(now()) {}

HttpConnection::~HttpConnection() {
  if (outlet_) {
    outlet_->on_client_gone();  // Others may hold it for longer than the server lives.
  }
}

void HttpConnection::start() { next_request(); }

void HttpConnection::turn_away() {
  refuse(put_off("too_many_connections", "too many connections are open; close some of them", "1"));
}

// Reading.

void HttpConnection::next_request() {
  reader_ = std::make_unique<RequestReader>(server_->options.request, server_->port);
  state_ = State::kReading;
  closes_ = server_->is_stopping;
  since_ = now();
  deadline_ = wait_until(server_->options.idle_time);
  process();
}

/// When `time` is over; earlier for a client of which nothing is known.
HttpConnection::Time HttpConnection::wait_until(std::chrono::milliseconds time) const {
  return now() + (is_known_ ? time : std::min(time, server_->options.stranger_time));
}

/// Counts bytes of the body. False when all bodies together have too many.
bool HttpConnection::hold_body(std::size_t size) {
  body_held_ += size;
  server_->bodies += size;
  return server_->bodies <= server_->options.bodies_size_max;
}

void HttpConnection::release_body() { server_->bodies -= std::exchange(body_held_, 0); }

void HttpConnection::read() {
  if (is_reading_ || state_ == State::kClosed) {
    return;
  }
  is_reading_ = true;
  std::span<char> room = scrap_;  // What a client says during events is of no interest.
  if (state_ != State::kEvents) {
    const bool is_large =
        state_ == State::kLingering || (reader_ && reader_->state() == RequestReader::State::kBody);
    if (input_size_ == 0) {
      input_ = std::string();  // Gives the room of an earlier body back.
    }
    input_.resize(input_size_ + (is_large ? kBodyReadSize : kReadSize));
    room = std::span<char>(input_).subspan(input_size_);
  }
  socket_->read_some(room, [self = shared_from_this()](bool is_ok, std::size_t size) {
    self->on_read(is_ok, size);
  });
}

void HttpConnection::on_read(bool is_ok, std::size_t size) {
  is_reading_ = false;
  if (state_ == State::kClosed) {
    return;
  }
  lingered_ += state_ == State::kLingering ? size : 0;
  if (!is_ok || lingered_ > kLingerSizeMax) {
    close();  // The client has gone, or should have.
  } else if (state_ == State::kEvents || state_ == State::kLingering) {
    read();  // Nothing more is expected of it; let it talk.
  } else {
    input_size_ += size;
    process();
  }
}

/// Makes of what was read what it is.
void HttpConnection::process() {
  using ReaderState = RequestReader::State;
  while (state_ == State::kReading) {
    if (input_size_ != 0 && reader_->state() == ReaderState::kNothing) {
      deadline_ = wait_until(server_->options.head_time);
    }
    const bool is_body = reader_->state() == ReaderState::kBody;
    const std::size_t used = reader_->take(std::string_view(input_).substr(0, input_size_));
    input_.erase(0, used);
    input_size_ -= used;
    if (is_body && !hold_body(used)) {
      refuse(put_off("too_many_bodies", "the bodies of all requests together are too large", "1"));
      return;
    }
    switch (reader_->state()) {
      case ReaderState::kRefused:
        refuse(reader_->take_refusal());
        return;
      case ReaderState::kHeadDone:
        on_head();
        break;
      case ReaderState::kDone:
        hand_over();
        return;
      default:
        if (used == 0 && input_size_ > kBodyReadSize) {
          refuse(error_response(400, "bad_request", "a line of the body is too long"));
        } else {
          read();
        }
        return;
    }
  }
}

void HttpConnection::on_head() {
  is_head_method_ = reader_->is_head_method();
  is_http_1_0_ = reader_->is_http_1_0();
  closes_ = closes_ || is_http_1_0_ || !reader_->keeps_alive();
  const HttpAdmission admission = server_->handler.admit(reader_->head());
  is_known_ = is_known_ || admission.is_known;
  if (admission.refusal) {
    refuse(*admission.refusal);
    return;
  }
  reader_->take_body(admission.body_size_max);
  if (reader_->state() == RequestReader::State::kBody) {
    deadline_ = now() + server_->options.body_time;
    if (reader_->expects_continue() && input_size_ == 0) {
      send(shared("HTTP/1.1 100 Continue\r\n\r\n"));
    }
  } else if (reader_->state() == RequestReader::State::kDone) {
    hand_over();
  }
}

/// Lets a worker find the answer.
void HttpConnection::hand_over() {
  state_ = State::kHandling;
  deadline_ = Time::max();
  auto request = std::make_shared<const HttpRequest>(reader_->take_request());
  reader_.reset();
  server_->workers.add([self = shared_from_this(), request = std::move(request)] {
    auto response = std::make_shared<HttpResponse>();
    try {
      *response = self->server_->handler.handle(*request);
    } catch (const std::exception& failure) {
      *response = failure_response(error_of_exception(failure));
    }
    self->server_->loop.post([self, response] {
      self->release_body();
      self->answer(std::move(*response));
    });
  });
}

// Answering.

void HttpConnection::answer(HttpResponse response) {
  if (state_ != State::kHandling) {
    return;  // The client has gone.
  }
  closes_ = closes_ || server_->is_stopping;
  if (response.open_events) {
    start_events(std::move(response));
  } else if (response.write_body) {
    start_pipe(std::move(response));
  } else {
    send_whole(response);
  }
}

void HttpConnection::refuse(const HttpResponse& response) {
  closes_ = true;
  release_body();
  send_whole(response);
}

void HttpConnection::send_head(const HttpResponse& response, BodyFraming framing,
                               std::string_view body) {
  std::string text = response_head(response, framing, !closes_);
  text += body;
  send(std::make_shared<const std::string>(std::move(text)));
}

void HttpConnection::send_whole(const HttpResponse& response) {
  state_ = State::kAnswering;
  deadline_ = Time::max();
  reader_.reset();
  const bool has_none = response.status == 204 || response.status == 304;
  send_head(response, has_none ? BodyFraming::kNone : BodyFraming::kLength,
            has_none || is_head_method_ ? std::string_view() : response.body);
}

void HttpConnection::start_pipe(HttpResponse response) {
  if (server_->pipes >= server_->options.writers) {
    send_whole(put_off("too_many_connections",
                       "too many exports are under way; try again in a moment", "1"));
    return;
  }
  send_head(response, is_http_1_0_ ? BodyFraming::kUntilEnd : BodyFraming::kChunked);
  if (is_head_method_) {
    state_ = State::kAnswering;
    return;
  }
  state_ = State::kPiping;
  is_over_ = false;
  ++server_->pipes;
  outlet_ =
      std::make_shared<Outlet>(shared_from_this(), server_->loop, kPipeSizeMax, !is_http_1_0_);
  server_->writers.add([self = shared_from_this(), outlet = outlet_,
                        make = std::make_shared<HttpResponse>(std::move(response))] {
    bool is_whole = false;
    try {
      is_whole = make->write_body(*outlet);
    } catch (const std::exception&) {
      is_whole = false;
    }
    make->write_body = nullptr;  // What it holds goes on the thread that used it.
    self->server_->loop.post([self, is_whole] { self->end_pipe(is_whole); });
  });
}

void HttpConnection::end_pipe(bool is_whole) {
  --server_->pipes;
  if (state_ != State::kPiping) {
    return;
  }
  if (!is_whole) {
    // Without the last chunk, or with a reset, the client knows that something is missing.
    socket_->reset();
    close();
    return;
  }
  is_over_ = true;
  if (!is_http_1_0_) {
    send(shared(kLastChunk));
  } else if (output_.empty()) {
    on_drained();
  }
}

void HttpConnection::start_events(HttpResponse response) {
  if (server_->streams >= server_->options.streams_max) {
    refuse(put_off("too_many_connections", "too many streams are open", "5"));
    return;
  }
  closes_ = true;
  send_head(response, BodyFraming::kUntilEnd);
  if (is_head_method_) {
    state_ = State::kAnswering;
    return;
  }
  state_ = State::kEvents;
  is_over_ = false;
  ++server_->streams;
  input_ = std::string();
  input_size_ = 0;
  outlet_ = std::make_shared<Outlet>(shared_from_this(), server_->loop,
                                     server_->options.stream_size_max, /*is_chunked=*/false);
  server_->workers.add(
      [self = shared_from_this(), outlet = outlet_, open = std::move(response.open_events)] {
        std::shared_ptr<void> kept;
        try {
          kept = open(outlet);
        } catch (const std::exception&) {
          outlet->close();  // The client tries again.
        }
        self->server_->loop.post([self, kept = std::move(kept)]() mutable {
          if (self->state_ == State::kEvents) {
            self->kept_ = std::move(kept);
          }
        });
      });
  read();
}

void HttpConnection::end_events() {
  is_over_ = true;
  if (state_ == State::kEvents && output_.empty()) {
    on_drained();
  }
}

/// Waits until the client has seen all and closes its end.
void HttpConnection::linger() {
  if (state_ == State::kEvents) {
    --server_->streams;
  }
  state_ = State::kLingering;
  kept_.reset();
  input_size_ = 0;
  deadline_ = now() + kLingerTime;
  socket_->end_sending();
  read();
}

void HttpConnection::close() {
  if (state_ == State::kClosed) {
    return;
  }
  if (state_ == State::kEvents) {
    --server_->streams;
  }
  if (state_ != State::kHandling) {
    release_body();  // Otherwise the one who works on it still holds it.
  }
  state_ = State::kClosed;
  const auto self = shared_from_this();  // Until the end of this function.
  socket_->close();
  if (outlet_) {
    outlet_->on_client_gone();
  }
  kept_.reset();
  output_.clear();
  server_->connections.erase(self);
  if (server_->is_stopping && server_->connections.empty()) {
    server_->loop.finish();
  }
}

// Writing.

void HttpConnection::send(std::shared_ptr<const std::string> text) {
  if (state_ == State::kClosed || state_ == State::kLingering) {
    return;
  }
  output_.push_back(std::move(text));
  flush();
}

void HttpConnection::flush() {
  if (is_writing_ || output_.empty()) {
    return;
  }
  std::array<std::string_view, IoSocket::kPiecesMax> pieces;
  std::size_t count = 0;
  for (; count < std::min(pieces.size(), output_.size()); ++count) {
    pieces.at(count) = std::string_view(*output_[count]).substr(count == 0 ? output_offset_ : 0);
  }
  is_writing_ = true;
  progress_ = now();
  socket_->write_some(
      std::span(pieces).first(count),
      [self = shared_from_this()](bool is_ok, std::size_t size) { self->on_written(is_ok, size); });
}

void HttpConnection::on_written(bool is_ok, std::size_t size) {
  is_writing_ = false;
  if (state_ == State::kClosed) {
    return;
  }
  if (!is_ok) {
    close();
    return;
  }
  if (outlet_) {
    outlet_->on_gone_out(size);
  }
  std::size_t rest = size + output_offset_;
  while (!output_.empty() && rest >= output_.front()->size()) {
    rest -= output_.front()->size();
    output_.pop_front();
  }
  output_offset_ = rest;
  if (output_.empty()) {
    on_drained();
  } else {
    flush();
  }
}

/// All that was sent has gone out.
void HttpConnection::on_drained() {
  const bool is_answered = state_ == State::kAnswering || (state_ == State::kPiping && is_over_);
  if (!is_answered && !(state_ == State::kEvents && is_over_)) {
    return;
  }
  outlet_.reset();
  if (closes_) {
    linger();
  } else {
    next_request();
  }
}

// Ending.

void HttpConnection::on_tick(Time now_is) {
  if (is_writing_ && now_is - progress_ > server_->options.stuck_time) {
    close();
  } else if (now_is > deadline_) {
    const bool has_begun =
        state_ == State::kReading && reader_->state() != RequestReader::State::kNothing;
    if (has_begun) {
      refuse(error_response(408, "timeout", "the request took too long to arrive"));
    } else {
      close();
    }
  } else if (state_ == State::kEvents && !is_writing_ && !is_over_ &&
             now_is - progress_ >= server_->options.heartbeat) {
    static const auto kHeartbeat = shared(": ka\n\n");
    send(kHeartbeat);
  }
}

void HttpConnection::wind_down() {
  closes_ = true;
  if (state_ != State::kHandling && state_ != State::kAnswering) {
    close();
  }
}

}  // namespace bmad_mem::cli
