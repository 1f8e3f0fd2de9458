// workflow.cpp - reads with libyaml which types of entries a workflow file allows.
#include <yaml.h>

#include <cassert>
#include <cstddef>
#include <set>
#include <span>
#include <string>

#include <fmt/format.h>

#include "bmad_mem/trust.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kWorkflowSizeMax = 1U << 20U;
constexpr std::size_t kDepthMax = 32;
constexpr std::size_t kAliasesMax = 32;    // As many anchors: libyaml looks through all for each.
constexpr std::size_t kDirectivesMax = 8;  // Lines with '%': the same.
constexpr std::string_view kAll = "all";

/// libyaml at work on one text.
class YamlParser {
 public:
  explicit YamlParser(std::string_view text) {
    if (yaml_parser_initialize(&parser_) == 0) {
      throw std::bad_alloc();
    }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml's bytes are unsigned.
    const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
    yaml_parser_set_input_string(&parser_, bytes, text.size());
  }
  ~YamlParser() { yaml_parser_delete(&parser_); }
  YamlParser(const YamlParser&) = delete;
  YamlParser& operator=(const YamlParser&) = delete;

  yaml_parser_t* get() { return &parser_; }

  [[nodiscard]] Error problem(const std::string& display_path) const {
    return {
        .code = ErrorCode::E_INVALID_FORMAT,
        .message = fmt::format("is neither YAML nor JSON: {}",
                               parser_.problem == nullptr ? "it can't be read" : parser_.problem),
        .path = display_path,
        .line = parser_.problem_mark.line + 1,
        .column = parser_.problem_mark.column + 1};
  }

 private:
  yaml_parser_t parser_{};
};

/// Whether the event has an anchor, or is an alias of one.
bool has_name(const yaml_event_t& event) {
  switch (event.type) {
    case YAML_SEQUENCE_START_EVENT:
      return event.data.sequence_start.anchor != nullptr;
    case YAML_MAPPING_START_EVENT:
      return event.data.mapping_start.anchor != nullptr;
    case YAML_SCALAR_EVENT:
      return event.data.scalar.anchor != nullptr;
    default:
      return event.type == YAML_ALIAS_EVENT;
  }
}

/// Reads the events of the first document: what libyaml would build of it takes time that grows
/// with the square of its depth and of its anchors, so both are bounded before it is built.
Status check_bounds(std::string_view text, const std::string& display_path) {
  const auto too_much = [&](std::string message, std::uint64_t line) -> Status {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("{}; a workflow needs no more", message),
                 .path = display_path,
                 .line = line};
  };
  std::size_t directives = text.starts_with('%') ? 1 : 0;
  for (std::size_t at = text.find("\n%"); at != std::string_view::npos;
       at = text.find("\n%", at + 1)) {
    ++directives;
  }
  if (directives > kDirectivesMax) {
    return too_much(fmt::format("has more than {} lines that begin with %", kDirectivesMax), 0);
  }
  YamlParser parser(text);
  std::size_t depth = 0;
  std::size_t names = 0;
  bool is_done = false;
  while (!is_done) {
    yaml_event_t event;
    if (yaml_parser_parse(parser.get(), &event) == 0) {
      return parser.problem(display_path);
    }
    const yaml_event_type_t type = event.type;
    depth += type == YAML_SEQUENCE_START_EVENT || type == YAML_MAPPING_START_EVENT ? 1 : 0;
    depth -= type == YAML_SEQUENCE_END_EVENT || type == YAML_MAPPING_END_EVENT ? 1 : 0;
    names += has_name(event) ? 1 : 0;
    const std::uint64_t line = event.start_mark.line + 1;
    is_done = type == YAML_DOCUMENT_END_EVENT || type == YAML_STREAM_END_EVENT;
    yaml_event_delete(&event);
    if (depth > kDepthMax) {
      return too_much(fmt::format("is more than {} levels deep", kDepthMax), line);
    }
    if (names > kAliasesMax) {
      return too_much(fmt::format("has more than {} anchors and aliases", kAliasesMax), line);
    }
  }
  return {};
}

/// One document, and who frees it.
class YamlDocument {
 public:
  YamlDocument() = default;
  ~YamlDocument() {
    if (is_loaded_) {
      yaml_document_delete(&document_);
    }
  }
  YamlDocument(const YamlDocument&) = delete;
  YamlDocument& operator=(const YamlDocument&) = delete;

  Status load(std::string_view text, const std::string& display_path) {
    assert(!is_loaded_);
    BMAD_TRY(check_bounds(text, display_path));
    YamlParser parser(text);
    is_loaded_ = yaml_parser_load(parser.get(), &document_) != 0;
    return is_loaded_ ? check_keys(display_path) : Status(parser.problem(display_path));
  }

  /// Null for an empty document.
  yaml_node_t* root() {
    assert(is_loaded_);
    return yaml_document_get_root_node(&document_);
  }
  yaml_node_t* node(int index) { return yaml_document_get_node(&document_, index); }

  /// The value of `key` in the mapping `node`; null when there is none.
  yaml_node_t* member(yaml_node_t* node, std::string_view key) {
    if (node == nullptr || node->type != YAML_MAPPING_NODE) {
      return nullptr;
    }
    for (const yaml_node_pair_t& pair :
         std::span(node->data.mapping.pairs.start, node->data.mapping.pairs.top)) {
      if (text(this->node(pair.key)) == key) {
        return this->node(pair.value);
      }
    }
    return nullptr;
  }

  /// The text of a scalar; empty for anything else.
  static std::string_view text(const yaml_node_t* node) {
    if (node == nullptr || node->type != YAML_SCALAR_NODE) {
      return {};
    }
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml's bytes are unsigned.
    return {reinterpret_cast<const char*>(node->data.scalar.value), node->data.scalar.length};
  }

 private:
  /// A key that stands twice would be read in one way here and in another one elsewhere.
  Status check_keys(const std::string& display_path) {
    for (const yaml_node_t& node : std::span(document_.nodes.start, document_.nodes.top)) {
      if (node.type != YAML_MAPPING_NODE) {
        continue;
      }
      std::set<std::string_view> keys;
      for (const yaml_node_pair_t& pair :
           std::span(node.data.mapping.pairs.start, node.data.mapping.pairs.top)) {
        const yaml_node_t* const key = this->node(pair.key);
        if (key != nullptr && key->type == YAML_SCALAR_NODE && !keys.insert(text(key)).second) {
          return Error{.code = ErrorCode::E_INVALID_FORMAT,
                       .message = fmt::format("has the key \"{}\" twice", text(key)),
                       .path = display_path,
                       .line = key->start_mark.line + 1,
                       .column = key->start_mark.column + 1};
        }
      }
    }
    return {};
  }

  yaml_document_t document_{};
  bool is_loaded_ = false;
};

Error schema_error(const std::string& path, const yaml_node_t* node, std::string field,
                   std::string message) {
  return {.code = ErrorCode::E_SCHEMA_INVALID,
          .message = std::move(message),
          .path = path,
          .line = node == nullptr ? 0 : node->start_mark.line + 1,
          .column = node == nullptr ? 0 : node->start_mark.column + 1,
          .field = std::move(field)};
}

Status allow(std::string_view name, const yaml_node_t* node, const std::string& path,
             std::string_view field, std::array<bool, kEntryTypeCount>& allowed) {
  if (name == kAll) {
    allowed.fill(true);
    return {};
  }
  const Result<EntryType> type = parse_entry_type(name);
  if (!type) {
    return schema_error(path, node, std::string(field), type.error().message);
  }
  assert(static_cast<std::size_t>(*type) < allowed.size());
  allowed[static_cast<std::size_t>(*type)] = true;
  return {};
}

/// Allows what the list `field` of `requirements` names.
Status read_list(YamlDocument& document, yaml_node_t* requirements, std::string_view field,
                 const std::string& path, std::array<bool, kEntryTypeCount>& allowed) {
  yaml_node_t* list = document.member(requirements, field);
  if (list == nullptr) {
    return {};
  }
  if (list->type == YAML_SCALAR_NODE && YamlDocument::text(list) == kAll) {
    allowed.fill(true);
    return {};
  }
  if (list->type != YAML_SEQUENCE_NODE) {
    return schema_error(path, list, std::string(field),
                        R"(must be a list of types, such as ["decisions","findings"])");
  }
  for (const yaml_node_item_t item :
       std::span(list->data.sequence.items.start, list->data.sequence.items.top)) {
    const yaml_node_t* name = document.node(item);
    BMAD_TRY(allow(YamlDocument::text(name), name, path, field, allowed));
  }
  return {};
}

}  // namespace

Result<MemoryAccess> parse_workflow(std::string_view text, const std::string& display_path) {
  if (text.size() > kWorkflowSizeMax) {
    return path_error(
        ErrorCode::E_SIZE_LIMIT, display_path,
        fmt::format("has {} bytes; a workflow has at most {}", text.size(), kWorkflowSizeMax));
  }
  YamlDocument document;
  BMAD_TRY(document.load(text, display_path));
  yaml_node_t* root = document.root();
  yaml_node_t* workflow = document.member(root, "workflow");
  yaml_node_t* requirements =
      document.member(workflow == nullptr ? root : workflow, "memory_requirements");
  if (requirements == nullptr || requirements->type != YAML_MAPPING_NODE) {
    return schema_error(display_path, requirements, "workflow.memory_requirements",
                        "is missing; it says which types may be read and written: "
                        "{read_access: [decisions], write_access: [findings]}");
  }
  MemoryAccess access{.given_by = display_path};
  BMAD_TRY(read_list(document, requirements, "read_access", display_path, access.read));
  BMAD_TRY(read_list(document, requirements, "write_access", display_path, access.write));
  return access;
}

}  // namespace bmad_mem
