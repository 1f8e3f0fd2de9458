// assignment_finder.hpp - the walk of find_assigned() over a text.
//
//   text ── sieve ──► '=', ':', '>' … ──► name before it, value after it ──► judge_value()
//              ├────► a blank after some words ──► "the password is", "--password", "IDENTIFIED BY"
//              └────► " -p", " -u" ──► options of known commands
//
// Each step looks at a bounded number of bytes, or moves on past what it took.
#pragma once

#include <cstddef>
#include <string_view>

#include "assignment_parts.hpp"

namespace bmad_mem {

class AssignmentFinder {
 public:
  AssignmentFinder(std::string_view text, Detections& out) : text_(text), out_(out) {}

  void run();

 private:
  [[nodiscard]] char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  // assignments.cpp

  /// Looks at the byte at at_, and moves it on past what was understood.
  void step();
  /// Judges and, when it is a secret, adds the value to its real end and goes on after it.
  bool judge(std::string_view name, const ValuePart& value, ValueForm form);
  /// The same for all up to the next blank, when that is as mixed as generated passwords are.
  bool judge_word(const NamePart& name, std::string_view word, std::size_t begin, ValueForm form);

  /// `name = value`, `name: value`, `name => value`, `<name>value<`.
  void assignment();
  void value_after(const NamePart& name, std::string_view marks);
  void quoted_value(const NamePart& name, const ValuePart& value, bool may_be_secret);
  /// Where the value begins: after blanks, one line break, and what wraps literals.
  [[nodiscard]] std::size_t value_begin() const;
  /// `NAME=value` and `name: value` at the beginning of a line, an option or a query are literals.
  [[nodiscard]] ValueForm form_of(const NamePart& name, std::string_view marks,
                                  std::size_t begin) const;
  /// `<password>value</password>`, `<string name="password">value</string>`.
  void element(const NamePart& name);
  /// `password: |` and the lines of its block.
  bool block(const NamePart& name, std::size_t begin);
  /// `passwords: ["…", "…"]`, `"passwords": {"db": "…"}`, and the list of YAML.
  bool container(const NamePart& name, std::size_t begin);
  bool list_of_lines(std::string_view name, std::size_t begin);
  /// `("name", "value")` after `{"name": "DB_PASSWORD",`: the next value is what it names.
  void remember(std::string_view word, const ValuePart& value);
  bool judge_pair(std::string_view word, const ValuePart& value);
  /// `setPassword("…")`, `secret{"…"}`.
  void call();
  /// `put("password", "…")`, `{"password", "…"}`, `["--password", "…"]`.
  void pair_of_arguments();

  // said_assignments.cpp

  /// `key = read() || "…"`, and a row of a table: `| password | … |`.
  void alternative();
  /// Judges the literal at `begin` that stands for what is called `name` where that isn't set.
  bool fallback(const NamePart& name, std::size_t begin);
  /// Whether what follows the blank at at_ may be the value of the word before it: a quick look.
  [[nodiscard]] bool may_follow_word() const;
  /// After a blank: `--password x`, `PASSWORD 'x'`, `the password is x`, `password x`.
  void after_word();
  /// `mysql -pSECRET`, `sshpass -p SECRET`, `curl -u user:SECRET`, `redis-cli -a SECRET`.
  void short_option();
  void option_value(std::size_t begin, std::string_view how);

  std::string_view text_;
  Detections& out_;
  std::size_t at_ = 0;
  NamePart fallback_name_;  ///< The last name whose value was an expression.
  ValuePart pair_name_;     ///< The last value of a member such as "name": "DB_PASSWORD".
};

}  // namespace bmad_mem
