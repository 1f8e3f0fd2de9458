// generate.cpp - a program of the build: makes the tables of C++ from the rows in table/*.toml.
//
//   table/*.toml ──> generate ──┬─> operation_rows.hpp    names and rights, for the dispatcher
//                               ├─> operation_calls.hpp   the functions that the rows call
//                               ├─> command_table.cpp     arguments, help, completion, man page
//                               ├─> endpoint_table.cpp    HTTP routes, OpenAPI
//                               ├─> tool_table.cpp        MCP tools with their schemas
//                               ├─> result_shapes.hpp     the members of results in JSON
//                               └─> docs/reference/*.md   the same for people
//
//   generate PART OUTPUT TABLE.toml...      PART: see kParts
//
// What a row may say stands at the head of table/parameters.toml. A mistake in a row ends the build
// with its file and line.
//
// One file, since toml++ takes three seconds to compile for each source.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

namespace {

using Texts = std::vector<std::string>;

[[noreturn]] void fail(const toml::node& at, const std::string& why) {
  const toml::source_region& source = at.source();
  std::fprintf(stderr, "%s:%u: %s\n", source.path ? source.path->c_str() : "?",
               static_cast<unsigned>(source.begin.line), why.c_str());
  std::exit(1);
}

/// The text of member `name`, lines joined and paragraphs kept; `fallback` without it.
std::string text_of(const toml::table& row, std::string_view name, std::string fallback = {}) {
  const toml::node* const node = row.get(name);
  if (node == nullptr) {
    return fallback;
  }
  const auto text = node->value<std::string>();
  if (!text) {
    fail(*node, std::string(name) + " must be a text");
  }
  std::string out;
  for (std::size_t i = 0; i < text->size(); ++i) {
    const bool ends_paragraph = text->compare(i, 2, "\n\n") == 0;
    if (ends_paragraph) {
      out += "\n\n";
      ++i;
    } else {
      out += (*text)[i] == '\n' ? ' ' : (*text)[i];
    }
  }
  return out;
}

bool flag_of(const toml::table& row, std::string_view name) { return row[name].value_or(false); }

const toml::table* table_of(const toml::table& row, std::string_view name) {
  const toml::node* const node = row.get(name);
  if (node != nullptr && !node->is_table()) {
    fail(*node, std::string(name) + " must be a table");
  }
  return node == nullptr ? nullptr : node->as_table();
}

Texts texts_of(const toml::table& row, std::string_view name) {
  Texts out;
  if (const toml::array* const array = row[name].as_array()) {
    for (const toml::node& each : *array) {
      const auto text = each.value<std::string>();
      if (!text) {
        fail(each, std::string(name) + " must be texts");
      }
      out.push_back(*text);
    }
  }
  return out;
}

/// Those of `name`, then those of `more`.
Texts texts_of(const toml::table& row, std::string_view name, std::string_view more) {
  Texts out = texts_of(row, name);
  std::ranges::copy(texts_of(row, more), std::back_inserter(out));
  return out;
}

/// The two numbers of `name`, such as range = [1, 50].
std::array<std::int64_t, 2> pair_of(const toml::table& row, std::string_view name,
                                    std::array<std::int64_t, 2> fallback) {
  const toml::array* const array = row[name].as_array();
  if (array == nullptr) {
    return fallback;
  }
  if (array->size() != 2) {
    fail(*array, std::string(name) + " must be two numbers");
  }
  return {array->at(0).value_or<std::int64_t>(0), array->at(1).value_or<std::int64_t>(0)};
}

/// A C++ or JSON string; both escape alike what stands in the tables.
std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + '"';
}

std::string with_underscores(std::string_view name) {
  std::string out(name);
  std::ranges::replace_if(out, [](char c) { return c == ' ' || c == '-'; }, '_');
  return out;
}

/// "kSessionNew" for "session new".
std::string enumerator(std::string_view name) {
  std::string out = "k";
  bool begins = true;
  for (const char c : name) {
    const bool is_letter = c != ' ' && c != '-';
    if (is_letter) {
      out += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    begins = !is_letter;
  }
  return out;
}

/// "not after" as the sentence "Not after.".
std::string sentence(std::string text) {
  if (!text.empty()) {
    text[0] = text[0] >= 'a' && text[0] <= 'z' ? static_cast<char>(text[0] - 'a' + 'A') : text[0];
    text += text.ends_with('.') ? "" : ".";
  }
  return text;
}

/// All that the files say.
class Tables {
 public:
  explicit Tables(const Texts& files) {
    for (const std::string& file : files) {
      try {
        documents_.push_back(toml::parse_file(file));
      } catch (const toml::parse_error& error) {
        std::fprintf(stderr, "%s:%u: %s\n", file.c_str(),
                     static_cast<unsigned>(error.source().begin.line),
                     std::string(error.description()).c_str());
        std::exit(1);
      }
    }
    std::set<std::string> names;
    for (const toml::table& document : documents_) {
      if (const toml::table* const shared = table_of(document, "parameter")) {
        shared_ = shared;
      }
      for (const auto& [kind, all] : {std::pair("operation", &rows_), {"result", &results_}}) {
        if (const toml::array* const rows = document[kind].as_array()) {
          for (const toml::node& row : *rows) {
            all->push_back(row.as_table());
            if (!names.insert(kind + text_of(*all->back(), "name")).second) {
              fail(row, std::string("there are two rows of this name, each an ") + kind);
            }
          }
        }
      }
    }
  }

  [[nodiscard]] const std::vector<const toml::table*>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<const toml::table*>& results() const { return results_; }

  /// Parameter `name` of `row`: what all operations share, changed by what the row says.
  [[nodiscard]] toml::table parameter(const toml::table& row, const std::string& name) const {
    const toml::table* own = table_of(row, "parameter");
    own = own == nullptr ? nullptr : table_of(*own, name);
    toml::table merged;
    const toml::table* const shared = shared_ == nullptr ? nullptr : table_of(*shared_, name);
    if (shared != nullptr && (own == nullptr || !flag_of(*own, "alone"))) {
      merged = *shared;
    } else if (own == nullptr) {
      fail(row, text_of(row, "name") + " takes " + name + ", which is not described");
    }
    if (own != nullptr) {
      for (const auto& [key, value] : *own) {
        merged.insert_or_assign(key, value);
      }
    }
    return merged;
  }

 private:
  std::vector<toml::table> documents_;
  std::vector<const toml::table*> rows_;
  std::vector<const toml::table*> results_;
  const toml::table* shared_ = nullptr;
};

/// How an interface sees a parameter: its own words, else those of all.
class View {
 public:
  View(const toml::table& parameter, std::string_view interface)
      : common_(parameter), own_(table_of(parameter, interface)) {}

  [[nodiscard]] std::string text(std::string_view name, std::string fallback = {}) const {
    return own_ != nullptr && own_->contains(name) ? text_of(*own_, name)
                                                   : text_of(common_, name, std::move(fallback));
  }
  [[nodiscard]] std::string name(const std::string& key) const {
    return own_ != nullptr ? text_of(*own_, "name", with_underscores(key)) : with_underscores(key);
  }
  [[nodiscard]] std::string help() const { return sentence(text("help")); }
  /// Whether `name` is set: for the interface, where it says so.
  [[nodiscard]] bool flag(std::string_view name) const {
    return own_ != nullptr && own_->contains(name) ? flag_of(*own_, name) : flag_of(common_, name);
  }
  [[nodiscard]] Texts texts(std::string_view name) const {
    return own_ != nullptr && own_->contains(name) ? texts_of(*own_, name)
                                                   : texts_of(common_, name);
  }
  [[nodiscard]] std::array<std::int64_t, 2> pair(std::string_view name) const {
    return pair_of(own_ != nullptr && own_->contains(name) ? *own_ : common_, name, {0, 0});
  }
  [[nodiscard]] std::int64_t number(std::string_view name) const {
    return own_ == nullptr ? 0 : (*own_)[name].value_or<std::int64_t>(0);
  }
  /// What the interface says itself.
  [[nodiscard]] std::string own_text(std::string_view name) const {
    return own_ == nullptr ? std::string() : text_of(*own_, name);
  }
  [[nodiscard]] bool own_flag(std::string_view name) const {
    return own_ != nullptr && flag_of(*own_, name);
  }
  /// The kind of a member of JSON.
  [[nodiscard]] std::string argument_kind() const {
    const std::string kind = own_text("kind");
    return kind.empty() ? "text" : kind;
  }

 private:
  const toml::table& common_;
  const toml::table* own_;
};

/// Writes the C++ of arrays that rows point to; equal ones once.
class Source {
 public:
  /// The name of an array of `type` with these elements; "{}" for none.
  std::string array(const std::string& type, const Texts& elements) {
    if (elements.empty()) {
      return "{}";
    }
    std::string body = "constexpr " + type + " @[] = {\n";
    for (const std::string& element : elements) {
      body += "    " + element + ",\n";
    }
    body += "};\n";
    const auto [known, is_new] = names_.try_emplace(body, "kArray" + std::to_string(names_.size()));
    if (is_new) {
      text_ += std::string(body).replace(body.find('@'), 1, known->second);
    }
    return known->second;
  }
  std::string words(const Texts& texts) {
    Texts elements;
    std::ranges::transform(texts, std::back_inserter(elements), literal);
    return array("std::string_view", elements);
  }
  /// Pairs of texts, as of examples.
  std::string pairs(const std::string& type, const toml::table& row, std::string_view name) {
    Texts elements;
    if (const toml::array* const all = row[name].as_array()) {
      for (const toml::node& each : *all) {
        const toml::array* const two = each.as_array();
        if (two == nullptr || two->size() != 2) {
          fail(each, std::string(name) + " must be pairs of texts");
        }
        elements.push_back("{" + literal(two->at(0).value_or<std::string>("")) + ", " +
                           literal(two->at(1).value_or<std::string>("")) + "}");
      }
    }
    return array(type, elements);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::map<std::string, std::string> names_;
  std::string text_;
};

std::string function_name(std::string_view interface, const toml::table& row) {
  return std::string(interface) + '_' + with_underscores(text_of(row, "name"));
}

std::string completion_of(const toml::table& parameter) {
  const std::string named = text_of(parameter, "complete");
  if (!named.empty()) {
    return named == "nothing" ? "Completion::kNone" : "Completion::" + enumerator(named);
  }
  // A flag with choices takes --name=CHOICE, which shells don't complete.
  const bool takes_value = parameter.contains("value") || parameter.contains("argument");
  return takes_value && parameter.contains("choices") ? "Completion::kChoice" : "Completion::kNone";
}

std::string positional(Source& source, const toml::table& parameter) {
  const auto count = pair_of(parameter, "count", {1, 1});
  return "{.name = " + literal(text_of(parameter, "argument")) +
         ", .help = " + literal(text_of(parameter, "help")) +
         ", .min = " + std::to_string(count[0]) + ", .max = " + std::to_string(count[1]) +
         ", .completion = " + completion_of(parameter) +
         ", .choices = " + source.words(texts_of(parameter, "choices")) + "}";
}

std::string option(Source& source, const std::string& name, const toml::table& parameter) {
  const std::string letter = text_of(parameter, "letter");
  return "{.name = " + literal(name) +
         ", .letter = " + (letter.empty() ? "'\\0'" : "'" + letter + "'") +
         ", .value = " + literal(text_of(parameter, "value")) +
         ", .help = " + literal(text_of(parameter, "help")) +
         ", .repeatable = " + (flag_of(parameter, "repeatable") ? "true" : "false") +
         ", .fallback = " + literal(text_of(parameter, "default")) +
         ", .completion = " + completion_of(parameter) +
         ", .choices = " + source.words(texts_of(parameter, "choices")) + "}";
}

std::string commands(const Tables& tables) {
  Source source;
  std::string rows;
  std::string synonyms;
  std::size_t count = 0;
  for (const toml::table* const row : tables.rows()) {
    const toml::table* const cli = table_of(*row, "cli");
    if (cli == nullptr) {
      continue;
    }
    Texts positionals;
    Texts options;
    for (const std::string& name : texts_of(*cli, "takes")) {
      const toml::table parameter = tables.parameter(*row, name);
      if (parameter.contains("argument")) {
        positionals.push_back(positional(source, parameter));
      } else {
        options.push_back(option(source, name, parameter));
      }
    }
    const std::string name = text_of(*row, "name");
    rows += "    {.name = " + literal(name) +
            ",\n     .group = Group::" + enumerator(text_of(*cli, "group")) +
            ",\n     .everyday = " + literal(text_of(*cli, "everyday")) +
            ",\n     .everyday_place = " +
            std::to_string((*cli)["everyday_place"].value_or<std::int64_t>(0)) +
            ",\n     .summary = " + literal(text_of(*row, "summary")) +
            ",\n     .description = " + literal(text_of(*cli, "description")) +
            ",\n     .positionals = " + source.array("Positional", positionals) +
            ",\n     .options = " + source.array("Option", options) +
            ",\n     .glossary_title = " + literal(text_of(*cli, "glossary_title")) +
            ",\n     .glossary = " + source.pairs("Explained", *cli, "glossary") +
            ",\n     .examples = " + source.pairs("Example", *cli, "examples") +
            ",\n     .refusals = " + source.pairs("Explained", *cli, "refusals") +
            ",\n     .exit_status = " + literal(text_of(*cli, "exit_status")) +
            ",\n     .options_of = " + (flag_of(*cli, "fields") ? "options_of_entry" : "nullptr") +
            ",\n     .run = " + function_name("run", *row) +
            ",\n     .reads = " + (flag_of(*cli, "reads") ? "true" : "false") + "},\n";
    for (const std::string& alias : texts_of(*cli, "aliases")) {
      synonyms += "    {.word = " + literal(alias) + ", .command = &kCommands[" +
                  std::to_string(count) + "]},\n";
    }
    if (const toml::array* const advice = (*cli)["advice"].as_array()) {
      for (const toml::node& each : *advice) {
        const toml::array& two = *each.as_array();
        synonyms += "    {.word = " + literal(two.at(0).value_or<std::string>("")) +
                    ", .command = &kCommands[" + std::to_string(count) +
                    "], .advice = " + literal(two.at(1).value_or<std::string>("")) + "},\n";
      }
    }
    ++count;
  }
  return "#include \"cli/command.hpp\"\n#include \"operation_calls.hpp\"\n\n"
         "namespace bmad_mem::cli {\nnamespace {\n\n" +
         source.text() + "constexpr Command kCommands[] = {\n" + rows +
         "};\n\nconstexpr Synonym kSynonyms[] = {\n" + synonyms +
         "};\n\n}  // namespace\n\nstd::span<const Command> all_commands() { return kCommands; }\n"
         "std::span<const Synonym> all_synonyms() { return kSynonyms; }\n\n"
         "}  // namespace bmad_mem::cli\n";
}

std::string json_list(const Texts& texts) {
  std::string out;
  for (const std::string& text : texts) {
    out += (out.empty() ? "" : ", ") + literal(text);
  }
  return "[" + out + "]";
}

/// The help of an argument in JSON; models read the default in it.
std::string argument_help(const View& view) {
  const std::string fallback = view.own_text("default");
  return fallback.empty()
             ? view.help()
             : view.help() + (view.help().empty() ? "" : " ") + "Default: " + fallback + ".";
}

/// The type in a JSON Schema of a number, a share, a flag or a text.
std::string type_schema(const View& view, std::string_view kind, bool is_brief) {
  if (kind == "number" || kind == "share") {
    const auto range = kind == "share" ? std::array<std::int64_t, 2>{0, 1} : view.pair("range");
    return "\"type\": " + std::string(kind == "share" ? "\"number\"" : "\"integer\"") +
           (is_brief ? std::string()
                     : ", \"minimum\": " + std::to_string(range[0]) +
                           ", \"maximum\": " + std::to_string(range[1]));
  }
  return kind == "flag" ? "\"type\": \"boolean\"" : "\"type\": \"string\"";
}

/// The JSON Schema of one member of a tool's arguments or of a request's body; a brief one without
/// bounds.
std::string argument_schema(const View& view, bool is_brief) {
  const std::string description = "\"description\": " + literal(argument_help(view));
  if (const std::string schema = view.own_text("schema"); !schema.empty()) {
    return schema.substr(0, schema.rfind('}')) + ", " + description + "}";
  }
  const std::string kind = view.argument_kind();
  const Texts choices = view.texts("choices");
  const auto limit = [&](std::string_view key, std::string_view name) {
    const std::int64_t number = view.number(name);
    return number == 0 || is_brief ? std::string()
                                   : ", \"" + std::string(key) + "\": " + std::to_string(number);
  };
  std::string schema = type_schema(view, kind, is_brief);
  if (kind == "texts") {
    schema = "\"type\": \"array\", \"items\": {\"type\": \"string\"" +
             (choices.empty() ? std::string() : ", \"enum\": " + json_list(choices)) + "}" +
             limit("minItems", "count_min") + limit("maxItems", "count_max");
  } else if (kind != "number" && kind != "share" && kind != "flag") {
    schema += (kind == "choice" ? ", \"enum\": " + json_list(choices) : std::string()) +
              (view.flag("not_empty") && !is_brief ? ", \"minLength\": 1" : "") +
              limit("maxLength", "length_max");
  }
  return "{" + schema + ", " + description + "}";
}

/// The row by which a member of JSON is read, or a parameter of a query.
std::string argument_row(Source& source, const View& view, const std::string& key,
                         const std::string& kind, bool is_required, const std::string& fallback,
                         bool not_empty = false) {
  const bool is_list = kind == "texts" || kind == "types";
  const std::int64_t count_max = view.number("count_max");
  const auto range = view.pair("range");
  return "{.name = " + literal(view.name(key)) + ", .key = " + literal(with_underscores(key)) +
         ", .kind = ArgumentKind::" + enumerator(kind) +
         ", .required = " + (is_required ? "true" : "false") +
         ", .not_empty = " + (not_empty ? "true" : "false") +
         ", .min = " + std::to_string(is_list ? view.number("count_min") : range[0]) + ", .max = " +
         std::to_string(!is_list         ? range[1]
                        : count_max == 0 ? 1000000
                                         : count_max) +
         ", .fallback = " + literal(fallback) + ", .choices = " +
         source.words(kind == "choice" || kind == "texts" ? view.texts("choices") : Texts()) + "}";
}

/// The members that `takes` lists, as a JSON Schema and as the rows by which they are read.
struct Arguments {
  std::string schema;
  Texts rows;
};

Arguments arguments_of(const Tables& tables, const toml::table& row, const Texts& takes,
                       std::string_view interface, Source& source, bool is_brief = false) {
  std::string properties;
  Texts required;
  Arguments out;
  for (const std::string& key : takes) {
    const toml::table parameter = tables.parameter(row, key);
    const View view(parameter, interface);
    const std::string name = view.name(key);
    const bool is_required = view.own_flag("required");
    properties +=
        (properties.empty() ? "" : ", ") + literal(name) + ": " + argument_schema(view, is_brief);
    if (is_required) {
      required.push_back(name);
    }
    out.rows.push_back(argument_row(source, view, key,
                                    view.own_text("schema").empty() ? view.argument_kind() : "json",
                                    is_required, view.own_text("default")));
  }
  out.schema = "{\"type\": \"object\", \"properties\": {" + properties + "}" +
               (required.empty() ? std::string() : ", \"required\": " + json_list(required)) +
               ", \"additionalProperties\": false}";
  return out;
}

bool has_hint(const toml::table& mcp, std::string_view name) {
  const Texts hints = texts_of(mcp, "hints");
  return std::ranges::find(hints, name) != hints.end();
}

/// The tool object of tools/list. A brief one has what a model needs: each byte is sent with each
/// of its requests.
std::string tool_json(const toml::table& mcp, const std::string& input, bool is_brief) {
  const std::string output = is_brief ? std::string() : text_of(mcp, "output");
  const bool writes = has_hint(mcp, "writes");
  const auto hint = [](std::string_view member, bool value) {
    return "\"" + std::string(member) + "\": " + (value ? "true" : "false");
  };
  std::string hints = ", " + hint("openWorldHint", false);
  if (writes || !is_brief) {  // They say nothing of a tool that only reads.
    hints += ", " + hint("destructiveHint", has_hint(mcp, "destructive")) + ", " +
             hint("idempotentHint", has_hint(mcp, "idempotent"));
  }
  return "{\"name\": " + literal(text_of(mcp, "tool")) +
         (is_brief ? std::string() : ", \"title\": " + literal(text_of(mcp, "title"))) +
         ", \"description\": " + literal(text_of(mcp, "description")) +
         ", \"inputSchema\": " + input +
         (output.empty() ? std::string() : ", \"outputSchema\": " + output) +
         ", \"annotations\": {" + hint("readOnlyHint", !writes) + hints + "}" +
         // Claude Code shows a model the names of tools alone until it asks for one, but for these.
         (has_hint(mcp, "always_loaded") ? R"(, "_meta": {"anthropic/alwaysLoad": true}})" : "}");
}

std::string tools(const Tables& tables) {
  Source source;
  std::string rows;
  std::vector<const toml::table*> all = tables.rows();
  std::ranges::stable_sort(all, {}, [](const toml::table* row) {
    return (*row)["mcp"]["place"].value_or<std::int64_t>(0);
  });
  for (const toml::table* const row : all) {
    if (const toml::table* const mcp = table_of(*row, "mcp")) {
      const std::string core =
          arguments_of(tables, *row, texts_of(*mcp, "takes"), "mcp", source, /*is_brief=*/true)
              .schema;
      const Arguments arguments =
          arguments_of(tables, *row, texts_of(*mcp, "takes", "takes_more"), "mcp", source);
      const std::string full = tool_json(*mcp, arguments.schema, /*is_brief=*/false);
      rows +=
          "    {.name = " + literal(text_of(*mcp, "tool")) +
          ",\n     .operation = " + literal(text_of(*row, "name")) +
          ",\n     .summary = " + literal(sentence(text_of(*row, "summary"))) +
          ",\n     .writes = " + (has_hint(*mcp, "writes") ? "true" : "false") +
          ",\n     .core = " +
          literal(has_hint(*mcp, "core") ? tool_json(*mcp, core, /*is_brief=*/true)
                                         : std::string()) +
          ",\n     .description = " + literal(has_hint(*mcp, "core_only") ? std::string() : full) +
          ",\n     .parameters = " + source.array("JsonParameter", arguments.rows) +
          ",\n     .run = " + function_name("mcp", *row) + "},\n";
    }
  }
  return "#include \"mcp/memory_tools.hpp\"\n#include \"operation_calls.hpp\"\n\n"
         "namespace bmad_mem::cli {\nnamespace {\n\n" +
         source.text() + "constexpr MemoryTool kTools[] = {\n" + rows +
         "};\n\n}  // namespace\n\nstd::span<const MemoryTool> all_memory_tools() { return kTools; "
         "}\n\n}  // namespace bmad_mem::cli\n";
}

/// A parameter of a query as OpenAPI describes it.
std::string parameter_json(const View& view, const std::string& name, const std::string& kind) {
  const std::string fallback = view.text("default");
  const bool is_choice = kind == "choice";
  const std::string schema =
      kind == "type"
          ? R"({"$ref": "#/components/schemas/EntryTypeOrGroup"})"
          : "{" + type_schema(view, kind, /*is_brief=*/false) +
                (kind == "text" && !view.flag("may_be_empty") ? ", \"minLength\": 1" : "") +
                (is_choice ? ", \"enum\": " + json_list(view.texts("choices")) : "") +
                (fallback.empty()
                     ? ""
                     : ", \"default\": " + (is_choice ? literal(fallback) : fallback)) +
                "}";
  return "{\"name\": " + literal(name) +
         ", \"in\": \"query\", \"description\": " + literal(view.help()) +
         ", \"required\": " + (view.flag("required") ? "true" : "false") +
         (view.flag("repeatable") ? R"(, "style": "form", "explode": true, "schema": )"
                                    R"({"type": "array", "items": )" +
                                        schema + "}"
                                  : ", \"schema\": " + schema) +
         "}";
}

/// The parameters of a request: rows for those of its query, and all as OpenAPI has them.
Arguments parameters_of(const Tables& tables, const toml::table& row, const toml::table& http,
                        const std::string& path, Source& source) {
  Arguments out;
  Texts all;
  for (std::size_t open = path.find('{'); open != std::string::npos;
       open = path.find('{', open + 1)) {
    all.push_back("{\"name\": \"" + path.substr(open + 1, path.find('}', open) - open - 1) +
                  R"(", "in": "path", "required": true, "schema": )"
                  R"({"type": "string", "minLength": 1}})");
  }
  for (const std::string& key : texts_of(http, "takes")) {
    const toml::table parameter = tables.parameter(row, key);
    const View view(parameter, "http");
    const std::string kind = view.text("kind", "text");
    const bool is_text = kind == "text" || kind == "choice" || kind == "time";
    all.push_back(parameter_json(view, view.name(key), kind));
    out.rows.push_back(argument_row(source, view, key,
                                    kind == "type"                       ? "types"
                                    : is_text && view.flag("repeatable") ? "texts"
                                                                         : kind,
                                    view.flag("required"), view.text("default"),
                                    is_text && !view.flag("may_be_empty")));
  }
  for (const std::string& each : all) {
    out.schema += (out.schema.empty() ? "[" : ", ") + each;
  }
  out.schema += out.schema.empty() ? "[]" : "]";
  return out;
}

/// An operation as OpenAPI describes it.
std::string operation_json(const toml::table& row, const toml::table& http,
                           const Arguments& parameters, const Arguments& body) {
  const auto reference = [](const std::string& name) {
    return R"({"$ref": "#/components/schemas/)" + name + "\"}";
  };
  std::string named = text_of(http, "route");
  named.erase(named.find(' '), std::string_view(" /memory").size());
  std::string id;  // "get_record_id_history" for GET /memory/record/{id}/history: each once.
  for (const char c : named) {
    if (c != '{' && c != '}') {
      id += c == '/' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  const std::string request = text_of(http, "request");
  const bool needs_body = !request.empty() ||
                          body.schema.find("\"required\": [") < body.schema.size() ||
                          flag_of(http, "needs_body");
  const std::string answer = text_of(http, "answer");
  std::string content;
  std::istringstream types(text_of(http, "media_type", "application/json"));
  for (std::string type; std::getline(types >> std::ws, type, ',');) {
    content += (content.empty() ? "" : ", ") + literal(type) +
               ": {\"schema\": " + (answer.empty() ? R"({"type": "string"})" : reference(answer)) +
               "}";
  }
  const std::string headers = text_of(http, "headers");
  return "{\"operationId\": " + literal(id) +
         ", \"summary\": " + literal(text_of(http, "summary", sentence(text_of(row, "summary")))) +
         ", \"parameters\": " + parameters.schema +
         (request.empty() && body.rows.empty()
              ? ""
              : ", \"requestBody\": {\"required\": " + std::string(needs_body ? "true" : "false") +
                    ", \"content\": {\"application/json\": {\"schema\": " +
                    (request.empty() ? body.schema : reference(request)) + "}}}") +
         ", \"responses\": {\"" + std::to_string(http["status"].value_or<std::int64_t>(200)) +
         "\": {\"description\": \"Done.\"" + (headers.empty() ? "" : ", \"headers\": " + headers) +
         ", \"content\": {" + content +
         R"(}}, "default": {"$ref": "#/components/responses/Failure"}}})";
}

std::string endpoints(const Tables& tables) {
  Source source;
  std::string rows;
  for (const toml::table* const row : tables.rows()) {
    const toml::table* const http = table_of(*row, "http");
    if (http == nullptr) {
      continue;
    }
    Arguments body = arguments_of(tables, *row, texts_of(*http, "body"), "http", source);
    if (flag_of(*http, "needs_body")) {  // One of the members, whichever.
      body.schema.insert(body.schema.size() - 1, ", \"minProperties\": 1");
    }
    const std::string route = text_of(*http, "route");
    const std::size_t space = route.find(' ');
    const Arguments parameters =
        parameters_of(tables, *row, *http, route.substr(space + 1), source);
    rows += "    {.method = " + literal(route.substr(0, space)) +
            ",\n     .path = " + literal(route.substr(space + 1)) +
            ",\n     .operation = " + literal(text_of(*row, "name")) +
            ",\n     .query = " + source.array("JsonParameter", parameters.rows) +
            ",\n     .body = " + source.array("JsonParameter", body.rows) +
            ",\n     .request = " + literal(text_of(*http, "request")) +
            ",\n     .description = " + literal(operation_json(*row, *http, parameters, body)) +
            ",\n     .status = " + std::to_string((*http)["status"].value_or<std::int64_t>(200)) +
            ",\n     .run = " + function_name("http", *row) + "},\n";
  }
  return "#include \"http/endpoint.hpp\"\n#include \"operation_calls.hpp\"\n\n"
         "namespace bmad_mem::cli {\nnamespace {\n\n" +
         source.text() + "constexpr Endpoint kEndpoints[] = {\n" + rows +
         "};\n\n}  // namespace\n\nstd::span<const Endpoint> all_endpoints() { return kEndpoints; "
         "}\n\n}  // namespace bmad_mem::cli\n";
}

std::string calls(const Tables& tables) {
  std::string out =
      "#pragma once\n\n#include <span>\n#include <string_view>\n\n#include "
      "\"bmad_mem/result.hpp\"\n#include \"cli/command.hpp\"\n\nnamespace bmad_mem::cli {\n\n"
      "class EndpointCall;\nclass Tool;\nstruct ApiContext;\nstruct HttpResponse;\n"
      "struct McpToolResult;\nstruct MemoryToolCall;\n\n"
      "std::span<const Option> options_of_entry(std::string_view type_name);\n\n";
  for (const toml::table* const row : tables.rows()) {
    if (row->contains("cli")) {
      out += "Result<ExitStatus> " + function_name("run", *row) + "(Tool& tool);\n";
    }
    if (row->contains("http")) {
      out += "Result<HttpResponse> " + function_name("http", *row) +
             "(ApiContext& context, const EndpointCall& call);\n";
    }
    if (row->contains("mcp")) {
      out += "Result<McpToolResult> " + function_name("mcp", *row) + "(MemoryToolCall& call);\n";
    }
  }
  return out + "\n}  // namespace bmad_mem::cli\n";
}

std::string rows(const Tables& tables) {
  static const std::set<std::string> kRights = {"none", "read", "write", "change", "manage"};
  std::string names;
  std::string rights;
  for (const toml::table* const row : tables.rows()) {
    const std::string name = text_of(*row, "name");
    const std::string said = text_of(*row, "rights");
    const std::string right = said.substr(0, said.find(' '));
    if (!kRights.contains(right)) {
      fail(*row, name + " needs rights: none, read, write, change or manage");
    }
    names += "  " + enumerator(name) + ",\n";
    rights += "    {" + literal(name) + ", Right::" + enumerator(right) + ", " +
              literal(right == said ? "" : said.substr(right.size() + 1)) + "},\n";
  }
  return "#pragma once\n\n#include \"store/operation.hpp\"\n\nnamespace bmad_mem {\n\n"
         "enum class Operation : std::uint8_t {\n" +
         names + "};\n\ninline constexpr OperationRow kOperations[] = {\n" + rights +
         "};\n\n}  // namespace bmad_mem\n";
}

/// What `path` of a result is in C++: see the head of results.toml.
std::string value_of(const Texts& with, const std::string& path) {
  if (path.starts_with("'") && path.size() > 1) {
    return literal(path.substr(1, path.size() - 2));
  }
  const std::string first = path.substr(0, path.find_first_of(".[("));
  const bool is_known = first == "it" || first == "true";
  return is_known || std::ranges::find(with, first) != with.end() ? path : "it." + path;
}

/// Cuts `text` at the first `mark`, and returns what was after it.
std::string cut_at(std::string& text, char mark) {
  const std::size_t at = std::min(text.find(mark), text.size());
  const std::string after = text.substr(std::min(at + 1, text.size()));
  text.resize(at);
  return after;
}

/// "PATH|FORM" in C++.
std::string formed_value(const Texts& with, std::string path, std::string_view usual = {}) {
  const std::string form = cut_at(path, '|');
  const std::string value = value_of(with, path.empty() ? std::string(usual) : path);
  return form.empty() ? value : form + "(" + value + ")";
}

/// The statement that writes one member of a result.
std::string member_statement(const Texts& with, std::string text) {
  const bool may_be_left_out = text.find('?') != std::string::npos;
  const std::string condition = cut_at(text, '?');
  const std::string form = cut_at(text, '|');
  const std::string shape = cut_at(text, ':');
  const std::string path = cut_at(text, '=');
  if (text.starts_with('&')) {
    return "    " + text.substr(1) + "(json, " + value_of(with, path.empty() ? "it" : path) +
           ");\n";
  }
  const std::string value = formed_value(with, path + (form.empty() ? "" : "|" + form), text);
  const std::string statement = "put(json, " + literal(text) + ", " +
                                (shape.empty() ? value : "shaped(" + shape + ", " + value + ")") +
                                ");\n";
  return !may_be_left_out
             ? "    " + statement
             : "    if (is_some(" + (condition.empty() ? value : formed_value(with, condition)) +
                   ")) {\n      " + statement + "    }\n";
}

std::string results(const Tables& tables) {
  std::string out;
  for (const toml::table* const row : tables.results()) {
    const std::string name = text_of(*row, "name");
    const Texts with = texts_of(*row, "with");
    out += "struct " + name + "_t {\n  void operator()(JsonWriter& json, const auto& it";
    for (const std::string& each : with) {
      out += ", const auto& " + each;
    }
    out += ") const {\n";
    for (const std::string& member : texts_of(*row, "members")) {
      out += member_statement(with, member);
    }
    out += "  }\n};\ninline constexpr " + name + "_t " + name + ";\n\n";
  }
  return "#pragma once\n\n#include \"cli/results.hpp\"\n\nnamespace bmad_mem::cli::shape {\n\n" +
         out + "}  // namespace bmad_mem::cli::shape\n";
}

/// A cell of a table of Markdown.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '|' ? std::string("\\|") : c == '\n' ? std::string(" ") : std::string(1, c);
  }
  return out;
}

std::string code(std::string_view text) { return "`" + cell(text) + "`"; }

/// The begin of a page: title and what it is about.
std::string page_head(std::string_view title, std::string_view about) {
  return "<!-- Made by `./dev reference` from lib/operations/table/. Edits here are lost. "
         "-->\n\n# " +
         std::string(title) + "\n\n" + std::string(about) + "\n";
}

/// What is said of a parameter beside its help.
std::string remarks(std::string help, const Texts& choices, bool repeatable,
                    std::string_view fallback) {
  const bool names_them = std::ranges::all_of(
      choices, [&](const std::string& choice) { return help.find(choice) != std::string::npos; });
  for (std::size_t i = 0; i < choices.size() && !names_them; ++i) {
    help += (i == 0 ? ": " : ", ") + choices[i];
  }
  std::string more = repeatable ? "repeatable" : "";
  if (!fallback.empty()) {
    more += (more.empty() ? "default: " : "; default: ") + std::string(fallback);
  }
  return more.empty() ? help : help + " (" + more + ")";
}

std::string usage(const Tables& tables, const toml::table& row, const toml::table& cli) {
  std::string out = "bmad-mem " + text_of(row, "name");
  std::string positionals;
  bool has_options = false;
  for (const std::string& name : texts_of(cli, "takes")) {
    const toml::table parameter = tables.parameter(row, name);
    const auto count = pair_of(parameter, "count", {1, 1});
    const std::string more = count[1] == 0 ? "..." : "";
    if (!parameter.contains("argument")) {
      has_options = true;
    } else {
      const std::string word = text_of(parameter, "argument") + more;
      positionals += count[0] == 0 ? " [" + word + "]" : " " + word;
    }
  }
  return out + (has_options ? " [OPTION]..." : "") + positionals;
}

std::string commands_page(const Tables& tables) {
  std::string out = page_head("Commands",
                              "All commands of `bmad-mem`, with their arguments and options. "
                              "`bmad-mem help COMMAND` prints the same.");
  for (const toml::table* const row : tables.rows()) {
    const toml::table* const cli = table_of(*row, "cli");
    if (cli == nullptr || text_of(*cli, "group") == "hidden") {
      continue;
    }
    out += "\n## " + text_of(*row, "name") + "\n\n    " + usage(tables, *row, *cli) + "\n\n" +
           text_of(*cli, "description") + "\n";
    std::string table;
    for (const std::string& name : texts_of(*cli, "takes")) {
      const toml::table parameter = tables.parameter(*row, name);
      const std::string letter = text_of(parameter, "letter");
      const std::string value = text_of(parameter, "value");
      const std::string word = parameter.contains("argument")
                                   ? text_of(parameter, "argument")
                                   : (letter.empty() ? "" : "-" + letter + ", ") + "--" + name +
                                         (value.empty() ? "" : " " + value);
      table += "| " + code(word) + " | " +
               cell(remarks(text_of(parameter, "help"), texts_of(parameter, "choices"),
                            flag_of(parameter, "repeatable"), text_of(parameter, "default"))) +
               " |\n";
    }
    out += table.empty() ? "" : "\n| argument | |\n|---|---|\n" + table;
    if (const toml::array* const glossary = (*cli)["glossary"].as_array()) {
      out += "\n" + text_of(*cli, "glossary_title") + "\n\n| | |\n|---|---|\n";
      for (const toml::node& each : *glossary) {
        const toml::array& two = *each.as_array();
        out += "| " + code(two.at(0).value_or<std::string>("")) + " | " +
               cell(two.at(1).value_or<std::string>("")) + " |\n";
      }
    }
    const std::string status = text_of(*cli, "exit_status");
    out += status.empty() ? "" : "\nExit status: " + status + "\n";
    if (const toml::array* const examples = (*cli)["examples"].as_array()) {
      out += "\n```\n";
      for (const toml::node& example : *examples) {
        const toml::array& two = *example.as_array();
        out += "# " + two.at(1).value_or<std::string>("") + "\n" +
               two.at(0).value_or<std::string>("") + "\n";
      }
      out += "```\n";
    }
  }
  return out;
}

std::string tools_page(const Tables& tables) {
  std::string out = page_head(
      "MCP tools", "The tools that `bmad-mem mcp` and `/mcp` of `bmad-mem serve` offer to models.");
  for (const toml::table* const row : tables.rows()) {
    const toml::table* const mcp = table_of(*row, "mcp");
    if (mcp == nullptr) {
      continue;
    }
    out += "\n## " + text_of(*mcp, "tool") + "\n\n" + text_of(*mcp, "description") +
           "\n\n| argument | |\n|---|---|\n";
    for (const std::string& name : texts_of(*mcp, "takes", "takes_more")) {
      const toml::table parameter = tables.parameter(*row, name);
      const View view(parameter, "mcp");
      out += "| " + code(view.name(name)) + (view.own_flag("required") ? ", required" : "") +
             " | " + cell(argument_help(view)) + " |\n";
    }
  }
  return out;
}

std::string endpoints_page(const Tables& tables) {
  std::string out = page_head("HTTP endpoints",
                              "The endpoints of `bmad-mem serve`. `GET /openapi.json` describes "
                              "them and their shapes for programs.");
  for (const toml::table* const row : tables.rows()) {
    const toml::table* const http = table_of(*row, "http");
    if (http == nullptr) {
      continue;
    }
    out += "\n## " + text_of(*http, "route") + "\n\n" +
           text_of(*http, "summary", sentence(text_of(*row, "summary")));
    const std::string request = text_of(*http, "request");
    const std::string answer = text_of(*http, "answer");
    out += (request.empty() ? "" : " Takes " + code(request) + ".") +
           (answer.empty() ? "" : " Answers with " + code(answer) + ".") + "\n";
    std::string table;
    for (const std::string& name : texts_of(*http, "takes", "body")) {
      const toml::table parameter = tables.parameter(*row, name);
      const View view(parameter, "http");
      table += "| " + code(view.name(name)) + " | " +
               cell(remarks(view.help(), {}, view.flag("repeatable"), view.text("default"))) +
               " |\n";
    }
    out += table.empty() ? "" : "\n| parameter | |\n|---|---|\n" + table;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("usage: generate PART OUTPUT TABLE.toml...\n", stderr);
    return 2;
  }
  static const std::map<std::string, std::string (*)(const Tables&)> kParts = {
      {"rows", rows},
      {"calls", calls},
      {"commands", commands},
      {"endpoints", endpoints},
      {"tools", tools},
      {"commands_page", commands_page},
      {"endpoints_page", endpoints_page},
      {"results", results},
      {"tools_page", tools_page},
  };
  if (std::string_view(argv[1]) == "json") {  // Any tables, as they are, one after the other.
    toml::table all;
    for (const std::string& path : Texts(argv + 3, argv + argc)) {
      for (auto&& [key, value] : toml::parse_file(path)) {
        const toml::array* more = value.as_array();
        toml::array* there = all[key].as_array();
        if (more == nullptr || there == nullptr) {
          all.insert_or_assign(key, value);
          continue;
        }
        for (const toml::node& row : *more) {
          there->push_back(row);
        }
      }
    }
    std::ofstream file(argv[2], std::ios::binary);
    file << toml::json_formatter(all) << '\n';
    return file ? 0 : 1;
  }
  const auto part = kParts.find(argv[1]);
  if (part == kParts.end()) {
    std::fprintf(stderr, "generate: there is no part '%s'\n", argv[1]);
    return 2;
  }
  const std::string head =
      part->first.ends_with("_page")
          ? std::string()
          : "// Made by lib/operations/generate.cpp from lib/operations/table/.\n";
  const std::string text = head + part->second(Tables(Texts(argv + 3, argv + argc)));
  {  // What is the same stays as old as it is: a change of a text builds no room again.
    std::ifstream there(argv[2], std::ios::binary);
    if (there && std::string(std::istreambuf_iterator<char>(there), {}) == text) {
      return 0;
    }
  }
  std::ofstream file(argv[2], std::ios::binary);
  file << text;
  file.close();
  return file ? 0 : 1;
}
