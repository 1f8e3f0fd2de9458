#include "http/http_message.hpp"

#include <algorithm>

#include "bmad_mem/json_writer.hpp"

namespace bmad_mem::cli {

std::string_view HttpRequest::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &HttpField::name);
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

std::size_t HttpRequest::header_count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count(headers, name, &HttpField::name));
}

HttpResponse json_response(std::string json, std::uint16_t status) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = std::move(json);
  return response;
}

HttpResponse error_response(std::uint16_t status, std::string_view code, std::string_view message) {
  JsonWriter json;
  json.begin_object().key("error").begin_object();
  json.member("code", code);
  json.member("message", message);
  json.end_object().end_object();
  return json_response(json.take(), status);
}

}  // namespace bmad_mem::cli
