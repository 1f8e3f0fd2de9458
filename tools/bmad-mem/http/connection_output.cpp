#include "http/connection_output.hpp"

#include <algorithm>
#include <utility>

#include "http/http_connection.hpp"
#include "http/response_text.hpp"

namespace bmad_mem::cli {
namespace {

/// Bytes of a body in pieces that wait for the client.
constexpr std::size_t kPipeSizeMax = std::size_t{256} << 10U;
constexpr std::size_t kPieceSizeMax = std::size_t{64} << 10U;

}  // namespace

BodyPipe::BodyPipe(std::shared_ptr<HttpConnection> connection, IoLoop& loop, bool is_chunked)
    : connection_(std::move(connection)), loop_(&loop), is_chunked_(is_chunked) {}

bool BodyPipe::write(std::string_view piece) {
  while (!piece.empty()) {
    const std::string_view part = piece.substr(0, kPieceSizeMax);
    piece.remove_prefix(part.size());
    if (!write_part(is_chunked_ ? chunk(part) : std::string(part))) {
      return false;
    }
  }
  const std::scoped_lock lock(mutex_);
  return !is_gone_;
}

bool BodyPipe::write_part(std::string text) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_ < kPipeSizeMax || is_gone_; });
  if (is_gone_) {
    return false;
  }
  waiting_ += text.size();
  auto shared = std::make_shared<const std::string>(std::move(text));
  loop_->post([connection = connection_, shared = std::move(shared)]() mutable {
    connection->send(std::move(shared));
  });
  return true;
}

void BodyPipe::on_gone_out(std::size_t size) {
  const std::scoped_lock lock(mutex_);
  waiting_ -= std::min(waiting_, size);
  changed_.notify_all();
}

void BodyPipe::on_client_gone() {
  const std::scoped_lock lock(mutex_);
  is_gone_ = true;
  changed_.notify_all();
}

EventSink::EventSink(const std::shared_ptr<HttpConnection>& connection, IoLoop& loop,
                     std::size_t size_max)
    : connection_(connection), size_max_(size_max), loop_(&loop) {}

void EventSink::send(std::shared_ptr<const std::string> text) {
  const std::scoped_lock lock(mutex_);
  if (loop_ == nullptr || text->empty()) {
    return;
  }
  waiting_ += text->size();
  if (waiting_ > size_max_) {
    loop_->post([connection = connection_] {
      if (const auto it = connection.lock()) {
        it->close();
      }
    });
    loop_ = nullptr;
    return;
  }
  loop_->post([connection = connection_, text = std::move(text)]() mutable {
    if (const auto it = connection.lock()) {
      it->send(std::move(text));
    }
  });
}

void EventSink::close() {
  const std::scoped_lock lock(mutex_);
  if (loop_ != nullptr) {
    loop_->post([connection = connection_] {
      if (const auto it = connection.lock()) {
        it->end_events();
      }
    });
    loop_ = nullptr;
  }
}

void EventSink::on_gone_out(std::size_t size) {
  const std::scoped_lock lock(mutex_);
  waiting_ -= std::min(waiting_, size);
}

void EventSink::on_client_gone() {
  const std::scoped_lock lock(mutex_);
  loop_ = nullptr;
}

}  // namespace bmad_mem::cli
