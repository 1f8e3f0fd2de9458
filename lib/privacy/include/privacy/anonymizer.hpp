// anonymizer.hpp - entries without the people, hosts and places in them.
//
//   1. learn() from everything: who is a person, who an agent
//   2. json() and text(): each gets its pseudonym, wherever it is named
//
//   "marit"          person-3f2a91c0          "db1.corp"     host-77e01b2a
//   "m@corp.example" user-5b0c…@example.invalid    "10.1.2.3"   ip-0a9f3c11
//
// References, types and times stay, so the entries still fit together and are still entries.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bmad_mem/entry_type.hpp"
#include "bmad_mem/exports.hpp"
#include "bmad_mem/json.hpp"
#include "bmad_mem/reports.hpp"
#include "privacy/redactor.hpp"

namespace bmad_mem {

/// Names that stand for people, hosts and places, and tell nothing about them. A keyed hash: the
/// same thing has the same pseudonym under one key, and who hasn't the key can't try out guesses.
/// 32 bits: among 1,000 people two share a pseudonym once in 8,600 stores.
class Pseudonyms {
 public:
  explicit Pseudonyms(const RedactionKey& key) : key_(key) {}

  /// "{kind}-{hash}", of 8 hexadecimal digits. Upper and lower case are the same thing. What is
  /// such a pseudonym already stays as it is.
  std::string name(std::string_view kind, std::string_view original);
  /// "user-{hash}@example.invalid", which no mail reaches.
  std::string email(std::string_view address);

  /// How many different things got a pseudonym, by kind.
  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const;

 private:
  RedactionKey key_;
  std::map<std::string, std::map<std::string, std::string>, std::less<>> given_;  // By kind.
};

/// Digits of the hash in a pseudonym.
inline constexpr std::size_t kPseudonymDigits = 8;

/// Whether `text` is what name() makes of that kind.
bool is_pseudonym(std::string_view kind, std::string_view text);

struct AnonymizerOptions {
  RedactionKey key{};
  /// The folder of the project, absolute: below it names stay readable. May be empty.
  std::string workspace;
  bool all_paths = false;  ///< Below the workspace too.
  bool ids = false;        ///< Names in ids and in references to them, too.
};

class Anonymizer {
 public:
  explicit Anonymizer(AnonymizerOptions options);

  void learn(const Session& session);
  void learn(EntryType type, JsonValue entry);
  /// Must follow the last learn() and come before what is below.
  void finish_learning();

  /// A JSON object with pseudonyms in its strings; what needs none keeps its bytes.
  std::string json(std::string_view json);
  std::string text(std::string_view text);
  /// `session` with pseudonyms in all that describes it; in its id only with `ids`.
  Session session(const Session& session);
  /// An id without the names that are parts of it: "marit-1" as "person-3f2a91c0-1".
  std::string id(std::string_view id);

  /// What may name somebody and stayed: for a person's eye. The most frequent of each kind.
  [[nodiscard]] std::vector<AnonymizeLeft> left() const;

  [[nodiscard]] const Pseudonyms& pseudonyms() const { return pseudonyms_; }

 private:
  using Change = Detection;  ///< Its rule: "email", "path", or the kind of a pseudonym.

  void learn_members(JsonValue value, std::string_view name);
  void add_person(std::string_view name);
  [[nodiscard]] bool is_person(std::string_view name) const;
  std::string person(std::string_view name);
  /// Who is called so; null when nobody is.
  [[nodiscard]] const std::string* person_called(std::string_view name) const;
  std::string retained_id(std::string_view id);
  void note_names(std::string_view text);
  void note_name(std::string_view kind, std::string_view text);
  void find_homes(std::string_view text, std::vector<Change>& changes) const;
  void find_unspaced(std::string_view text, std::vector<Change>& changes) const;
  void find_inside(std::string_view text, std::size_t begin, std::size_t end,
                   std::vector<Change>& changes) const;
  void find_paths(std::string_view text, std::vector<Change>& changes) const;
  void find_people(std::string_view text, std::vector<Change>& changes) const;
  /// Whether path() changes it.
  [[nodiscard]] bool names_place(std::string_view path) const;
  std::string path(std::string_view path);
  std::string pseudonym(const Change& change, std::string_view part);
  std::string segments(std::string_view path);

  AnonymizerOptions options_;
  Pseudonyms pseudonyms_;
  std::set<std::string, std::less<>> candidates_;
  std::set<std::string, std::less<>> agents_;
  /// What people are called in texts, in lower case, and who it is.
  std::map<std::string, std::string, std::less<>> aliases_;
  /// The same for words of their names, which are names only with a capital.
  std::map<std::string, std::string, std::less<>> parts_;
  std::map<std::string, std::map<std::string, std::uint64_t>, std::less<>> left_;  // By kind.
};

}  // namespace bmad_mem
