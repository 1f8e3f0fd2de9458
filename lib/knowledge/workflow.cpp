// workflow.cpp - what a workflow file says about memory, read with libyaml. JSON is YAML, near
// enough.
#include <yaml.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include <fmt/format.h>

#include "bmad_mem/memory_access.hpp"

namespace bmad_mem {
namespace {

constexpr std::size_t kWorkflowSizeMax = 1U << 20U;
constexpr std::ptrdiff_t kBracketsMax = 4096;
constexpr std::string_view kAll = "all";

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
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0) {
      throw std::bad_alloc();
    }
    const std::unique_ptr<yaml_parser_t, decltype(&yaml_parser_delete)> closer(&parser,
                                                                               yaml_parser_delete);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): libyaml's bytes are unsigned.
    yaml_parser_set_input_string(&parser, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
    is_loaded_ = yaml_parser_load(&parser, &document_) != 0;
    if (is_loaded_) {
      return {};
    }
    return Error{
        .code = ErrorCode::E_INVALID_FORMAT,
        .message = fmt::format("is neither YAML nor JSON: {}",
                               parser.problem == nullptr ? "it can't be read" : parser.problem),
        .path = display_path,
        .line = parser.problem_mark.line + 1,
        .column = parser.problem_mark.column + 1};
  }

  /// Null for an empty document.
  yaml_node_t* root() { return yaml_document_get_root_node(&document_); }
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
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("has {} bytes; a workflow has at most {}", text.size(),
                                        kWorkflowSizeMax),
                 .path = display_path};
  }
  // libyaml's time grows with the square of the depth: 100,000 brackets would take it 12 s.
  const auto brackets = std::ranges::count_if(text, [](char c) { return c == '[' || c == '{'; });
  if (brackets > kBracketsMax) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("has {} opening brackets; a workflow has at most {}",
                                        brackets, kBracketsMax),
                 .path = display_path};
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
  MemoryAccess access{.read = {}, .write = {}, .given_by = display_path};
  BMAD_TRY(read_list(document, requirements, "read_access", display_path, access.read));
  BMAD_TRY(read_list(document, requirements, "write_access", display_path, access.write));
  return access;
}

}  // namespace bmad_mem
