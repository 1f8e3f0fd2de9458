// document_elements.hpp - one JSON document of any size, element by element, in bounded memory.
//
//   [{…},{…},{…}]                        three elements
//   {"id":"x","messages":[{…},{…}]}      the member "id", then two elements of "messages"
//
// An export of years of conversations is one line of hundreds of megabytes; what is one thing in it
// is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "bmad_mem/result.hpp"
#include "exchange/file_lines.hpp"
#include "exchange/import/importer.hpp"

namespace bmad_mem::cli {

struct DocumentElement {
  std::string key;           ///< Of a member of the outer object; empty for an element.
  std::string_view text;     ///< kJsonPadding bytes behind it can be read. Valid until the next.
  std::uint64_t number = 0;  ///< From 1; members count as well.
  std::uint64_t line = 1;    ///< Of the file, where it begins.
  bool too_long = false;     ///< Longer than DocumentElements::kSizeMax: `text` is empty.
};

/// Where the JSON object begins that `text` ends in; npos when it ends in none. What is in front of
/// it may be cut anywhere. Cost: one step a byte.
std::size_t last_object(std::string_view text);

/// Finds where elements begin and end; whether they are good JSON is for a parser to say.
class DocumentElements {
 public:
  static constexpr std::size_t kSizeMax = std::size_t{32} << 20U;

  /// `array`: the member of an outer object whose elements are wanted one by one.
  DocumentElements(FileLines& file, std::string_view array) : file_(file), array_(array) {}

  /// The next element; false at the end. Errors: E_STORAGE_IO; E_INVALID_FORMAT when the document
  /// is neither array nor object.
  Result<bool> next(DocumentElement& element);

  /// Whether the document ended before its last bracket.
  [[nodiscard]] bool was_cut() const { return was_cut_; }

 private:
  enum class Place : std::uint8_t { kBefore, kObject, kArray, kBehind };

  /// The next byte that is neither blank nor comma, not taken; -1 at the end.
  Result<int> peek();
  Result<int> peek_any();
  void take() { take(1); }
  void take(std::size_t count);
  /// Steps into the brackets of the document.
  Status enter(int first);
  /// A member's key, and its colon. False when its value is the array that is stepped into.
  Result<bool> take_key(std::string& key);
  /// One whole value into text_.
  Status take_value();
  /// Appends what of the value stands in this chunk; true when the value ends there.
  bool scan(char first);
  void append(std::string_view part);

  FileLines& file_;
  std::string array_;
  std::string_view chunk_;  ///< What is read and not looked at yet.
  Place place_ = Place::kBefore;
  bool has_outer_object_ = false;
  bool was_cut_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t line_ = 1;  ///< Where chunk_ begins.
  std::string text_;
  bool too_long_ = false;
  std::size_t depth_ = 0;  ///< Of the value that is being taken.
  bool in_string_ = false;
  bool is_escaped_ = false;
};

// A document that its program writes as changes, as VS Code does its chats:
//
//   {"kind":0,"v":{…}}                               the document
//   {"kind":1,"k":["requests",0,"result"],"v":{…}}   this member of it is that
//   {"kind":2,"k":["requests"],"v":[…],"i":1}        behind the first element of this array come
//   those
//   {"kind":3,"k":["requests",0,"vote"]}             this member is gone
//
// Code, since a table of steps sees a record at a time, and an element of the document is what many
// lines make of it. Changes deeper than in a member of a part of an answer are counted, and left
// out.

/// Hands the document to `inner` as a file of one document is: its members, and the elements of
/// "requests" as records. A document that is none of changes goes through as it comes.
std::unique_ptr<RecordImporter> make_changed_document_importer(
    const ImportContext& context, std::unique_ptr<RecordImporter> inner);

}  // namespace bmad_mem::cli
