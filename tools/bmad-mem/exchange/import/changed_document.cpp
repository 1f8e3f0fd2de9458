// changed_document.cpp - applies changes to a document of requests and their responses.
#include "exchange/import/changed_document.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "bmad_mem/json_copy.hpp"
#include "bmad_mem/json_parser.hpp"
#include "bmad_mem/json_writer.hpp"
#include "cli/json_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kElements = "requests";
constexpr std::string_view kParts = "response";
constexpr std::size_t kElementsMax = 100'000;

/// An object: the JSON of each member.
using Members = std::map<std::string, std::string, std::less<>>;

std::string object_of(const Members& members) {
  std::string out;
  for (const auto& [key, raw] : members) {
    append_part(out, fmt::format("{}:{}", json_quoted(key), raw), ",");
  }
  return fmt::format("{{{}}}", out);
}

struct Element {
  Members members;
  std::vector<std::string> parts;  ///< Of its member kParts.

  void set(std::string_view key, JsonValue value) {
    if (key == kParts) {
      parts.clear();
      push(value, 0);
    } else {
      members[std::string(key)] = json_of(value);
    }
  }
  void push(JsonValue values, std::size_t from) {
    parts.resize(std::min(from, parts.size()));
    for (const JsonValue part : values.elements()) {
      parts.push_back(json_of(part));
    }
  }
  [[nodiscard]] std::string json() const {
    Members all = members;
    std::string list;
    for (const std::string& part : parts) {
      append_part(list, part, ",");
    }
    all[std::string(kParts)] = fmt::format("[{}]", list);
    return object_of(all);
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
    for (const auto& [key, raw] : document_) {
      BMAD_TRY_ASSIGN(const JsonValue value, parser.parse(raw));
      BMAD_TRY(inner_->take_member(key, value, raw));
    }
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const std::string text = elements_[i].json();
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
    std::vector<JsonValue> path;
    for (const JsonValue key : record["k"].elements()) {
      path.push_back(key);
    }
    if (kind == kInitial) {
      for (const JsonMember& member : value.members()) {
        set(member.key, member.value);
      }
      return true;
    }
    const bool is_push = kind == kPush;
    const auto from =
        record["i"].is_number() ? static_cast<std::size_t>(record["i"].integer()) : kElementsMax;
    if (path.empty() || kind > kDelete || kind < kInitial) {
      return false;
    }
    if (path.size() == 1) {
      is_push&& path[0].string() == kElements ? push(value, from) : set(path[0].string(), value);
      return true;
    }
    const auto at = static_cast<std::size_t>(path[1].integer(-1));
    if (path[0].string() != kElements || at >= elements_.size() || path.size() < 3) {
      return false;
    }
    Element& element = elements_[at];
    const std::string_view key = path[2].string();
    if (path.size() == 3) {
      is_push&& key == kParts ? element.push(value, from) : element.set(key, value);
      return true;
    }
    const auto part = static_cast<std::size_t>(path[3].integer(-1));
    return key == kParts && part < element.parts.size() && path.size() <= 5 &&
           change_part(element.parts[part], path, value);
  }

  static bool change_part(std::string& part, const std::vector<JsonValue>& path, JsonValue value) {
    if (path.size() == 4) {
      part = json_of(value);
      return true;
    }
    Members members;
    for (const MemberText& member : json_members(part)) {
      members[std::string(member.key)] = member.value;
    }
    members[std::string(path[4].string())] = json_of(value);
    part = object_of(members);
    return true;
  }

  void set(std::string_view key, JsonValue value) {
    if (key == kElements) {
      elements_.clear();
      push(value, 0);
    } else {
      document_[std::string(key)] = json_of(value);
    }
  }

  void push(JsonValue values, std::size_t from) {
    elements_.resize(std::min(from, elements_.size()));
    for (const JsonValue value : values.elements()) {
      Element& element = elements_.emplace_back();
      for (const JsonMember& member : value.members()) {
        element.set(member.key, member.value);
      }
    }
  }

  std::unique_ptr<RecordImporter> inner_;
  Members document_;
  std::vector<Element> elements_;
};

}  // namespace

std::unique_ptr<RecordImporter> make_changed_document_importer(
    const ImportContext& context, std::unique_ptr<RecordImporter> inner) {
  return std::make_unique<ChangedDocumentImporter>(context, std::move(inner));
}

}  // namespace bmad_mem::cli
