// changed_document.cpp - applies changes to a document of requests and their responses.
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json.hpp"
#include "cli/json_text.hpp"
#include "cli/text.hpp"
#include "exchange/import/document_elements.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kElements = "requests";
constexpr std::string_view kParts = "response";
constexpr std::size_t kElementsMax = 100'000;

/// A value that changes: JSON as it came, which is taken apart where a change goes into it.
struct Node {
  std::string key;  ///< Of a member, as it stands between its quotes.
  std::string json = "null";
  bool is_open = false;          ///< It was taken apart.
  std::vector<Node> parts = {};  ///< Members or elements.

  [[nodiscard]] bool is_list() const { return json.starts_with('['); }
  void open() {
    if (std::exchange(is_open, true)) {
      return;
    }
    if (!is_list()) {
      for (const MemberText& member : json_members(json)) {
        parts.push_back({.key = std::string(member.key), .json = std::string(member.value)});
      }
      return;
    }
    for (const std::string_view element : json_elements(json)) {
      parts.push_back({.key = {}, .json = std::string(element)});
    }
  }
  /// The member of that name, which is made where there is none, or the element of that index.
  Node* at(std::string_view name, std::int64_t index = -1) {
    open();
    if (is_list()) {
      const auto at = static_cast<std::size_t>(index);
      return at < parts.size() ? &parts[at] : nullptr;
    }
    const auto found = std::ranges::find(parts, name, &Node::key);
    return found != parts.end() ? &*found : &parts.emplace_back(std::string(name));
  }
  void set(JsonValue value) { *this = {.key = std::move(key), .json = json_of(value)}; }
  /// Puts `values` after the first `from` elements.
  void push(JsonValue values, std::size_t from) {
    assert(is_list());
    open();
    parts.resize(std::min(from, parts.size()));
    for (const JsonValue value : values.elements()) {
      parts.push_back({.key = {}, .json = json_of(value)});
    }
  }
  [[nodiscard]] std::string text() const {
    assert(is_open || parts.empty());
    std::string out;
    for (const Node& part : parts) {
      const std::string text = part.text();
      append_part(out, is_list() ? text : fmt::format("\"{}\":{}", part.key, text), ",");
    }
    return !is_open ? json : is_list() ? fmt::format("[{}]", out) : fmt::format("{{{}}}", out);
  }
};

class ChangedDocumentImporter final : public RecordImporter {
 public:
  ChangedDocumentImporter(const ImportContext& context, std::unique_ptr<RecordImporter> inner)
      : RecordImporter(context), inner_(std::move(inner)) {}

  Status take(JsonValue record, std::string_view text, std::uint64_t line) override {
    if (!record["kind"].is_number()) {
      return inner_->take(record, text, line);
    }
    if (!change(record)) {
      sink_.skip("changes of chats that are not known");
    }
    return {};
  }

  Status take_member(std::string_view key, JsonValue value, std::string_view text) override {
    return inner_->take_member(key, value, text);
  }

  Status finish() override {
    JsonParser parser;
    Node elements = *document_.at(kElements);
    for (const Node& member : document_.parts) {
      if (member.key != kElements) {
        const std::string text = member.text();
        BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(text));
        BMAD_TRY(inner_->take_member(member.key, value, text));
      }
    }
    elements.open();
    for (std::size_t i = 0; i < elements.parts.size(); ++i) {
      const std::string text = elements.parts[i].text();
      BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(text));
      BMAD_TRY(inner_->take(value, text, i + 1));
    }
    return inner_->finish();
  }

 private:
  /// False: it is none of those that are known.
  bool change(JsonValue record) {
    enum Kind : std::uint8_t { kInitial, kSet, kPush, kDelete };
    const JsonValue value = record["v"];
    const auto kind = record["kind"].integer();
    if (kind == kInitial) {
      for (const JsonMember& member : value.members()) {
        document_.at(member.key)->set(member.value);
      }
      return true;
    }
    const std::vector<JsonValue> path = mapped(record["k"].elements(), std::identity());
    const bool is_known =
        path.size() == 1 || (path.size() > 2 && path.size() <= 5 && path[0].string() == kElements &&
                             (path.size() == 3 || path[2].string() == kParts));
    Node* node = is_known && kind > kInitial && kind <= kDelete ? &document_ : nullptr;
    for (const JsonValue key : path) {
      node = node == nullptr ? nullptr : node->at(key.string(), key.integer(-1));
    }
    if (node != nullptr && kind == kPush && node->is_list()) {
      const JsonValue from = record["i"];
      node->push(value, from.is_number() ? static_cast<std::size_t>(from.integer()) : kElementsMax);
    } else if (node != nullptr) {
      node->set(value);
    }
    return node != nullptr;
  }

  std::unique_ptr<RecordImporter> inner_;
  Node document_ = {.key = {}, .json = "{}"};
};

}  // namespace

std::unique_ptr<RecordImporter> make_changed_document_importer(
    const ImportContext& context, std::unique_ptr<RecordImporter> inner) {
  return std::make_unique<ChangedDocumentImporter>(context, std::move(inner));
}

}  // namespace bmad_mem::cli
