// mentions.cpp - finds files and symbols that a text names.
#include <algorithm>
#include <array>

#include "bmad_mem/text.hpp"
#include "exchange/workspace_tree.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::size_t kSymbolSizeMin = 4;  // Shorter names are everywhere.

/// Endings of files that a project keeps, sorted.
constexpr auto kEndings = std::to_array<std::string_view>(
    {"am",     "bat",     "bazel", "c",    "cc",   "cfg",   "cjs",    "cmake", "conf",  "cpp",
     "cs",     "css",     "csv",   "cxx",  "dart", "env",   "erl",    "ex",    "exs",   "go",
     "gradle", "graphql", "h",     "hpp",  "hs",   "html",  "hxx",    "ini",   "ipynb", "java",
     "js",     "json",    "jsonl", "jsx",  "kt",   "less",  "lock",   "lua",   "m",     "md",
     "mjs",    "ml",      "mm",    "php",  "pl",   "proto", "ps1",    "py",    "r",     "rb",
     "rs",     "rst",     "scala", "scss", "sh",   "sql",   "svelte", "swift", "tf",    "toml",
     "ts",     "tsx",     "txt",   "vue",  "xml",  "yaml",  "yml",    "zig"});

/// Products that are called as files are.
constexpr auto kProducts = std::to_array<std::string_view>(
    {"alpine.js", "angular.js", "backbone.js", "chart.js", "d3.js", "ember.js", "express.js",
     "moment.js", "nest.js", "next.js", "node.js", "nuxt.js", "p5.js", "react.js", "three.js",
     "vue.js"});

bool is_token_character(char c) {
  return is_word_byte(c) || std::string_view("./-@+~#:$*()[]").contains(c);
}

/// "src/a.ts" of "src/a.ts:12:3".
std::string_view without_line(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  const bool is_number = colon != std::string_view::npos && colon + 1 < word.size() &&
                         std::ranges::all_of(word.substr(colon + 1), is_digit);
  return is_number ? without_line(word.substr(0, colon)) : word;
}

bool is_file(std::string_view word) {
  const std::string_view name = word.substr(word.rfind('/') + 1);
  if (name.empty()) {  // A folder; "and/" is none.
    return std::ranges::count(word, '/') >= 2 || word.starts_with("./");
  }
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || dot + 1 == name.size()) {
    return false;
  }
  const bool has_letter = std::ranges::any_of(
      name.substr(0, dot), [](char c) { return is_word_byte(c) && !is_digit(c); });
  return has_letter && std::ranges::binary_search(kEndings, lower_ascii(name.substr(dot + 1))) &&
         (name.size() != word.size() || !is_among(kProducts, lower_ascii(name)));
}

/// The last name in "a::b", "a.b" and "b"; empty when it is no name.
std::string_view last_name(std::string_view word) {
  const std::string_view name = word.substr(word.find_last_of(":.") + 1);  // npos + 1 is 0.
  const bool is_name = name.size() >= kSymbolSizeMin && !is_digit(name.front()) &&
                       std::ranges::all_of(name, is_word_byte);
  return is_name ? name : std::string_view();
}

/// Whether only code is written so: snake_case, camelCase.
bool looks_like_code(std::string_view name) {
  for (std::size_t i = 1; i < name.size(); ++i) {
    if ((name[i] == '_' && i + 1 < name.size()) || (is_upper(name[i]) && is_lower(name[i - 1]))) {
      return true;
    }
  }
  return false;
}

/// `is_code`: it stands between back-ticks.
void add_word(Mentions& mentions, std::string_view word, bool is_code) {
  if (word.contains("://") || word.find_first_of("@$*~#+") != std::string_view::npos) {
    return;
  }
  const std::size_t call = word.find("()");
  if (call != std::string_view::npos) {
    if (const std::string_view name = last_name(word.substr(0, call)); !name.empty()) {
      add_once(mentions.symbols, name);
    }
    return;
  }
  word.remove_prefix(std::min(word.find_first_not_of("()[]"), word.size()));
  word = without_line(word.substr(0, word.find_last_not_of(".:()[]-") + 1));
  if (is_file(word)) {
    add_once(mentions.files, word);
  } else if (const std::string_view name = last_name(word);
             is_code && !word.contains('/') && !name.empty() &&
             (looks_like_code(name) || word.contains("::"))) {
    add_once(mentions.symbols, name);
  }
}

}  // namespace

Mentions mentions_in(std::string_view text) {
  Mentions mentions;
  bool is_code = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '`') {
      is_code = !is_code;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_token_character(text[end])) {
      ++end;
    }
    if (end > at) {
      add_word(mentions, text.substr(at, end - at), is_code);
    }
    at = std::max(end, at + 1);
  }
  return mentions;
}

}  // namespace bmad_mem::cli
