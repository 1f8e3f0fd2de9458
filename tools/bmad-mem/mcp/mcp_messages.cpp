// mcp_messages.cpp - reads and writes messages of JSON-RPC 2.0.
#include "mcp/mcp_messages.hpp"

#include <array>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "cli/results.hpp"
#include "mcp/mcp_service.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::array<std::string_view, 5> kLegacyVersions = {
    "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"};

constexpr std::size_t kReasonSizeMax = 400;

/// Short, and valid UTF-8 whatever it quotes.
std::string short_reason(std::string_view text) {
  const std::string whole = utf8_repaired(text.substr(0, 4 * kReasonSizeMax));
  return std::string(utf8_prefix(whole, kReasonSizeMax));
}

/// The id of a request that is JSON but holds what our parser refuses: a NUL, a key twice, nesting
/// beyond its bounds. Its sender gets an answer and needn't wait. Empty when there is none.
std::string salvaged_id(std::string_view text) {
  if (!is_well_formed_json(text)) {
    return {};
  }
  const std::size_t start = skip_json_blanks(text, 0);
  if (start == text.size() || text[start] != '{') {
    return {};
  }
  for (const MemberText& member : json_members(text.substr(start))) {
    if (member.key == "id") {
      const ParsedJson id(member.value);
      return id ? mcp_id_text(*id).value_or("") : "";
    }
  }
  return {};
}

}  // namespace

McpError internal_error(const Error& error) {
  return McpError{
      McpError::Kind::kInternal,
      fmt::format("{}: {}", error_code_name(error.code), utf8_prefix(error.to_string(), 1000)),
      {}};
}

McpError invalid_params(std::string_view problem) {
  return McpError{McpError::Kind::kInvalidParams, fmt::format("Invalid params: {}", problem)};
}

std::vector<std::string> mcp_described(std::string_view name) {
  std::vector<std::string> out;
  for (const MemberText& list : json_members(mcp_descriptions())) {
    if (list.key == name) {
      std::ranges::transform(json_elements(list.value), std::back_inserter(out), json_compact);
    }
  }
  return out;
}

std::span<const std::string_view> mcp_legacy_versions() { return kLegacyVersions; }

std::string mcp_supported_versions() {
  return fmt::format(R"(["{}","{}"])", kMcpModernVersion, kLegacyVersions.front());
}

std::optional<std::string> mcp_id_text(JsonValue value) {
  switch (value.kind()) {
    case JsonKind::kString:
      return json_quoted(value.string());
    case JsonKind::kInteger:
      return std::to_string(value.integer());
    default:
      return std::nullopt;
  }
}

McpMessageKind read_mcp_message(std::string_view text, McpMessage& message, std::string& refusal) {
  using enum McpErrorCode;
  const auto refuse = [&](McpErrorCode code, std::string_view reason) {
    refusal = mcp_error(message.id, code, reason);
    return McpMessageKind::kRefused;
  };
  const Result<JsonValue> parsed = message.parser.parse(text);
  if (!parsed) {
    const std::string reason = short_reason(parsed.error().message);
    message.id = salvaged_id(text);
    return message.id.empty() ? refuse(kParseError, "Parse error: " + reason)
                              : refuse(kInvalidRequest, "Invalid request: " + reason);
  }
  const JsonValue root = *parsed;
  if (!root.is_object()) {
    return refuse(kInvalidRequest,
                  root.is_array()
                      ? "Invalid request: batches are not supported; send one message a line"
                      : "Invalid request: a message is an object");
  }
  if (!root["method"].present() && (root["result"].present() || root["error"].present())) {
    return McpMessageKind::kIgnored;
  }
  const std::optional<std::string> id = mcp_id_text(root["id"]);
  message.id = id.value_or("");
  if (root["jsonrpc"].string() != "2.0") {
    return refuse(kInvalidRequest, "Invalid request: \"jsonrpc\" must be \"2.0\"");
  }
  if (root["id"].present() && !id) {
    return refuse(kInvalidRequest, "Invalid request: the id must be a string or an integer");
  }
  if (!root["method"].is_string()) {
    return refuse(kInvalidRequest, "Invalid request: \"method\" must be a string");
  }
  message.method = root["method"].string();
  message.params = root["params"];
  message.meta = message.params["_meta"];
  if ((message.params.present() && !message.params.is_object()) ||
      (message.meta.present() && !message.meta.is_object())) {
    return id ? refuse(kInvalidParams,
                       "Invalid params: \"params\" and its \"_meta\" must be objects")
              : McpMessageKind::kIgnored;
  }
  return id ? McpMessageKind::kRequest : McpMessageKind::kNotification;
}

std::string mcp_result(std::string_view id, std::string_view members) {
  std::string out;
  out.reserve(members.size() + id.size() + 48);
  out.append(R"({"jsonrpc":"2.0","id":)").append(id).append(R"(,"result":{)");
  out.append(members).append("}}");
  return out;
}

std::string mcp_error(std::string_view id, McpErrorCode code, std::string_view message,
                      std::string_view data) {
  return json_object("jsonrpc", "2.0", "id", only_if(!id.empty(), raw_json(id)), "error",
                     object_of("code", static_cast<int>(code), "message", message, "data",
                               only_if(!data.empty(), raw_json(data))));
}

std::string mcp_unsupported_version(std::string_view id, std::string_view requested) {
  const std::string valid = utf8_repaired(requested.substr(0, 400));
  return mcp_error(id, McpErrorCode::kUnsupportedProtocolVersion, "Unsupported protocol version",
                   fmt::format(R"({{"supported":{},"requested":{}}})", mcp_supported_versions(),
                               json_quoted(utf8_prefix(valid, 200))));
}

std::string mcp_notification(std::string_view method, std::string_view params) {
  return fmt::format(R"({{"jsonrpc":"2.0","method":{},"params":{{{}}}}})", json_quoted(method),
                     params);
}

}  // namespace bmad_mem::cli
