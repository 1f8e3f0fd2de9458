// yaml_writer.cpp - an export as one YAML document, written by libyaml.
#include <yaml.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <new>
#include <string>

#include <fmt/core.h>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/text.hpp"
#include "cli/json_text.hpp"
#include "exchange/export/export_writer.hpp"

namespace bmad_mem::cli {
namespace {

/// Letters first, then what has no meaning anywhere in a plain scalar; no word that YAML 1.1 or 1.2
/// takes for something else than a string.
bool is_plain(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kWords = {"true", "false", "null", "yes", "no",
                                                             "on",   "off",   "y",    "n"};
  return !text.empty() && is_letter(text.front()) && !text.ends_with(' ') &&
         !is_among(kWords, lower_ascii(text)) && std::ranges::all_of(text, [](char c) {
           return is_alnum(c) || std::string_view(" _-./@+()").contains(c);
         });
}

/// Plain where that can mean nothing else; lines below the key where readers give all of them back.
/// Blanks in front would need an indentation indicator, which few readers get right; they read the
/// other line breaks, those of Unicode among them, as '\n'.
yaml_scalar_style_t style_of(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.contains(part); };
  static constexpr std::array<std::string_view, 4> kOtherBreaks = {"\r", "\u0085", "\u2028",
                                                                   "\u2029"};
  if (is_plain(text)) {
    return YAML_PLAIN_SCALAR_STYLE;
  }
  return !has("\n") || std::string_view(" \t\n").contains(text.front()) ||
                 std::ranges::any_of(kOtherBreaks, has)
             ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
             : YAML_LITERAL_SCALAR_STYLE;
}

/// A number of JSON, so that YAML 1.1 takes it for one too: "1e5" lacks point and sign.
std::string yaml_number(std::string_view raw) {
  const std::size_t e = raw.find_first_of("eE");
  if (e == std::string_view::npos) {
    return std::string(raw);
  }
  const std::string_view mantissa = raw.substr(0, e);
  const std::string_view exponent = raw.substr(e + 1);
  assert(!exponent.empty() && "the number was parsed");
  return fmt::format("{}{}e{}{}", mantissa, mantissa.contains('.') ? "" : ".0",
                     is_digit(exponent.front()) ? "+" : "", exponent);
}

int write_to(void* out, unsigned char* bytes, std::size_t size) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml's bytes are unsigned.
  static_cast<Output*>(out)->write({reinterpret_cast<const char*>(bytes), size});
  return 1;  // The output itself notes what could not be written.
}

/// The document that JsonDocumentWriter writes, as YAML 1.2 in block style, so that readers of YAML
/// 1.1 take the values for the same: "yes", "1:30" and times are quoted.
///
///   id: dec-1
///   tags:
///   - db
///   rationale: |-
///     First line
///     second line
class YamlWriter final : public ExportWriter {
 public:
  YamlWriter(Output& out, Timestamp now) : ExportWriter(out, now) {
    yaml_emitter_initialize(&emitter_);
    yaml_emitter_set_output(&emitter_, write_to, &out);
    yaml_emitter_set_unicode(&emitter_, 1);
    yaml_emitter_set_width(&emitter_, -1);
  }
  ~YamlWriter() override { yaml_emitter_delete(&emitter_); }

  void begin() override {
    emit(yaml_stream_start_event_initialize, YAML_UTF8_ENCODING);
    emit(yaml_document_start_event_initialize, nullptr, nullptr, nullptr, 1);
    begin_mapping();
    scalar("version", YAML_PLAIN_SCALAR_STYLE);
    scalar("1", YAML_PLAIN_SCALAR_STYLE);
    text("exported_at");
    text(format_rfc3339(now()));
    begin_sequence("sessions");
  }
  void session(const Session& session) override {
    begin_object(session_identity(session));
    begin_sequence("entries");
  }
  void entry(const Entry& entry) override {
    begin_object(exported_entry_of_session(entry));
    emit(yaml_mapping_end_event_initialize);
  }
  void end_session() override {
    emit(yaml_sequence_end_event_initialize);
    emit(yaml_mapping_end_event_initialize);
  }
  void end() override {
    end_session();
    emit(yaml_document_end_event_initialize, 1);
    emit(yaml_stream_end_event_initialize);
  }

 private:
  /// All texts are JSON's, so valid UTF-8, and write_to() takes all: only memory can be short.
  void emit(auto make, auto... arguments) {
    yaml_event_t event;
    if (make(&event, arguments...) == 0 || yaml_emitter_emit(&emitter_, &event) == 0) {
      throw std::bad_alloc();
    }
  }
  void begin_mapping() {
    emit(yaml_mapping_start_event_initialize, nullptr, nullptr, 1, YAML_BLOCK_MAPPING_STYLE);
  }
  void begin_sequence() {
    emit(yaml_sequence_start_event_initialize, nullptr, nullptr, 1, YAML_BLOCK_SEQUENCE_STYLE);
  }
  void begin_sequence(std::string_view key) {
    text(key);
    begin_sequence();
  }
  void scalar(std::string_view text, yaml_scalar_style_t style) {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml's bytes are unsigned.
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    emit(yaml_scalar_event_initialize, nullptr, nullptr, bytes, static_cast<int>(text.size()), 1, 1,
         style);
  }
  void text(std::string_view text) { scalar(text, style_of(text)); }

  /// Further members may follow.
  void begin_object(std::string_view json) {
    begin_mapping();
    if (const Result<JsonValue> value = parser_.parse(json)) {
      write_members(*value, json);
    }
  }
  /// `raw` is the JSON that `object` was parsed from: numbers keep their form.
  void write_members(JsonValue object, std::string_view raw) {
    auto member = object.members().begin();
    for (const MemberText& text : json_members(raw)) {
      this->text((*member).key);
      write((*member).value, text.value);
      ++member;
    }
  }
  void write(JsonValue value, std::string_view raw) {
    if (value.is_object()) {
      begin_mapping();
      write_members(value, raw);
      emit(yaml_mapping_end_event_initialize);
    } else if (value.is_array()) {
      begin_sequence();
      auto element = value.elements().begin();
      for (const std::string_view text : json_elements(raw)) {
        write(*element, text);
        ++element;
      }
      emit(yaml_sequence_end_event_initialize);
    } else if (value.is_string()) {
      text(value.string());
    } else {
      scalar(value.is_number() ? yaml_number(raw) : raw, YAML_PLAIN_SCALAR_STYLE);
    }
  }

  yaml_emitter_t emitter_{};
  JsonParser parser_;
};

}  // namespace

std::unique_ptr<ExportWriter> make_yaml_writer(Output& out, Timestamp now) {
  return std::make_unique<YamlWriter>(out, now);
}

}  // namespace bmad_mem::cli
