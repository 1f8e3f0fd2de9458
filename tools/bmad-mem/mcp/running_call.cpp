#include "mcp/running_call.hpp"

#include <array>
#include <cmath>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 8> kLevelNames = {
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"};

}  // namespace

std::string_view mcp_log_level_name(McpLogLevel level) {
  return kLevelNames.at(static_cast<std::size_t>(level));
}

std::optional<McpLogLevel> try_parse_mcp_log_level(std::string_view name) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
    if (name == kLevelNames.at(i)) {
      return static_cast<McpLogLevel>(i);
    }
  }
  return std::nullopt;
}

bool RunningCall::cancelled() const {
  const std::scoped_lock lock(mutex_);
  return is_cancelled_;
}

void RunningCall::progress(double done, std::optional<double> total, std::string_view message) {
  const std::optional<std::string> token = mcp_id_text(message_->meta["progressToken"]);
  if (!token || !std::isfinite(done)) {
    return;
  }
  JsonWriter json;
  json.begin_object().key("progressToken").raw(*token).member("progress", done);
  if (total && std::isfinite(*total)) {
    json.member("total", *total);
  }
  if (!message.empty()) {
    json.member("message", message);
  }
  json.end_object();
  const std::string_view params = json.text();
  const std::string text =
      mcp_notification("notifications/progress", params.substr(1, params.size() - 2));
  const std::scoped_lock lock(mutex_);
  if (is_over_ || (last_progress_ && done <= *last_progress_)) {
    return;
  }
  last_progress_ = done;
  sink_->send(text);
}

void RunningCall::log(McpLogLevel level, std::string_view message) {
  if (!log_level || level < *log_level) {
    return;
  }
  JsonWriter json;
  json.begin_object().member("level", mcp_log_level_name(level)).member("logger", "bmad-mem");
  json.member("data", message).end_object();
  const std::string_view params = json.text();
  send(mcp_notification("notifications/message", params.substr(1, params.size() - 2)));
}

void RunningCall::resource_updated(std::string_view uri) {
  if (on_resource_updated && !cancelled()) {
    on_resource_updated(uri);
  }
}

void RunningCall::cancel() {
  const std::scoped_lock lock(mutex_);
  is_cancelled_ = true;
  is_over_ = true;
}

void RunningCall::answer(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (!is_over_) {
    is_over_ = true;
    sink_->send(text);
  }
}

void RunningCall::send(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (!is_over_ && !is_held_back_) {
    sink_->send(text);
  }
}

void RunningCall::hold_back() {
  const std::scoped_lock lock(mutex_);
  is_held_back_ = true;
}

void RunningCall::send_first(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  is_held_back_ = false;
  if (!is_over_) {
    sink_->send(text);
  }
}

}  // namespace bmad_mem::cli
