// outlet.cpp - what other threads write to a connection; see http_connection.hpp.
#include <algorithm>
#include <utility>

#include "http/http_connection.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kPieceSizeMax = std::size_t{64} << 10U;

}  // namespace

Outlet::Outlet(const std::shared_ptr<HttpConnection>& connection, IoLoop& loop,
               std::size_t size_max, bool is_chunked)
    : connection_(connection), size_max_(size_max), is_chunked_(is_chunked), loop_(&loop) {}

void Outlet::add(std::shared_ptr<const std::string> text) {
  waiting_ += text->size();
  loop_->post([connection = connection_, text = std::move(text)]() mutable {
    if (const auto it = connection.lock()) {
      it->send(std::move(text));
    }
  });
}

void Outlet::end(void (HttpConnection::*how)()) {
  loop_->post([connection = connection_, how] {
    if (const auto it = connection.lock()) {
      ((*it).*how)();
    }
  });
  loop_ = nullptr;
}

bool Outlet::write(std::string_view piece) {
  std::unique_lock lock(mutex_);
  while (!piece.empty() && loop_ != nullptr) {
    const std::string_view part = piece.substr(0, kPieceSizeMax);
    changed_.wait(lock, [&] { return waiting_ < size_max_ || loop_ == nullptr; });
    if (loop_ != nullptr) {
      add(std::make_shared<const std::string>(is_chunked_ ? chunk(part) : std::string(part)));
    }
    piece.remove_prefix(part.size());
  }
  return loop_ != nullptr;
}

void Outlet::send(std::shared_ptr<const std::string> text) {
  const std::scoped_lock lock(mutex_);
  if (loop_ == nullptr || text->empty()) {
    return;
  }
  if (waiting_ + text->size() > size_max_) {
    end(&HttpConnection::close);
  } else {
    add(std::move(text));
  }
}

void Outlet::close() {
  const std::scoped_lock lock(mutex_);
  if (loop_ != nullptr) {
    end(&HttpConnection::end_events);
  }
}

void Outlet::on_gone_out(std::size_t size) {
  const std::scoped_lock lock(mutex_);
  waiting_ -= std::min(waiting_, size);
  changed_.notify_all();
}

void Outlet::on_client_gone() {
  const std::scoped_lock lock(mutex_);
  loop_ = nullptr;
  changed_.notify_all();
}

}  // namespace bmad_mem::cli
