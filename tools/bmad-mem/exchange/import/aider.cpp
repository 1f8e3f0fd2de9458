// aider.cpp - the chat history of Aider (.aider.chat.history.md).
//
//   line                                   becomes
//   # aider chat started at DATE TIME      nothing: a new session, in local time
//   #### text, #### /ask text              conversation, role user; lines that follow are joined
//   #### /command, and text that follows   nothing; counted
//   #### Add file …? (Y)es/(N)o … : all    nothing: Aider asked it
//   > output of Aider, lines right below   nothing; counted
//   <thinking-content-…> … </…>            nothing; counted
//   other lines                            conversation, role assistant
//
// Of output with several lines only the first has the ">"; an answer begins below an empty line.
// Messages have the time at which their chat began: the file has no other.
#include <cassert>
#include <chrono>
#include <ctime>
#include <utility>

#include "bmad_mem/clock.hpp"
#include "bmad_mem/text.hpp"
#include "exchange/ids.hpp"
#include "exchange/import/importer.hpp"
#include "exchange/transcript_text.hpp"

namespace bmad_mem::cli {
namespace {

constexpr std::string_view kStart = "# aider chat started at ";
constexpr std::string_view kUser = "####";
constexpr std::string_view kThoughtBegin = "<thinking-content-";
constexpr std::string_view kThoughtEnd = "</thinking-content-";

/// Commands in front of what a person says, and others that the model answers.
constexpr std::string_view kSaying[] = {"/ask", "/code", "/architect", "/context"};
constexpr std::string_view kAnswered[] = {"/help", "/test", "/lint", "/web", "/voice"};

bool looks_like_aider(std::string_view beginning) {
  return stripped(beginning.substr(0, 4096)).starts_with(kStart);
}

/// Local time; empty for what is no time.
std::string local_time(const std::string& text) {
  std::tm parts{};
  if (::strptime(text.c_str(), "%Y-%m-%d %H:%M:%S", &parts) == nullptr) {
    return {};
  }
  parts.tm_isdst = -1;
  const std::time_t time = std::mktime(&parts);
  return time < 0 ? "" : format_rfc3339(Timestamp(std::chrono::seconds(time)));
}

class AiderImport final : public TranscriptImporter {
 public:
  explicit AiderImport(const ImportContext& context)
      : TranscriptImporter(context, "aider", "aider"), has_session_(!session_.empty()) {
    if (!has_session_) {
      session_ = "aider";
    }
  }

  Status take(JsonValue /*record*/, std::string_view text, std::uint64_t line) override {
    const bool is_user =
        text.starts_with(kUser) && (part_ != Part::kThought || text.ends_with("  "));
    if (text.starts_with(kStart)) {
      BMAD_TRY(end_message());
      const std::string_view start = stripped(text.substr(kStart.size()));
      time_ = local_time(std::string(start));
      last_message_.clear();
      part_ = Part::kAnswer;
      if (!has_session_) {
        session_ = session_id_from("aider-", start);
      }
      return {};
    }
    if (is_user) {
      return take_line(Part::kPrompt, text.substr(kUser.size()), line);
    }
    if (part_ == Part::kPrompt) {
      BMAD_TRY(end_message());
    }
    if (part_ == Part::kThought || text.starts_with(kThoughtBegin)) {
      BMAD_TRY(end_message());
      part_ = text.starts_with(kThoughtEnd) ? Part::kAnswer : Part::kThought;
      sink_.skip("lines of thinking");
      return {};
    }
    if (text.starts_with('>') || (part_ == Part::kOutput && !is_blank(text))) {
      const Part next = part_ == Part::kCommand ? Part::kCommand : Part::kOutput;
      BMAD_TRY(end_message());
      part_ = next;
      sink_.skip("lines of Aider's own output");
      return {};
    }
    if (part_ == Part::kCommand) {
      sink_.skip("lines of commands' output", is_blank(text) ? 0 : 1);
      return {};
    }
    return take_line(Part::kAnswer, text, line);
  }

  Status finish() override { return end_message(); }

 private:
  /// What the line before was.
  enum class Part : std::uint8_t { kAnswer, kPrompt, kCommand, kOutput, kThought };

  /// Another line of a message.
  Status take_line(Part part, std::string_view text, std::uint64_t line) {
    assert(part == Part::kPrompt || part == Part::kAnswer);
    if (part != part_) {
      BMAD_TRY(end_message());
    }
    part_ = part;
    line_ = text_.empty() ? line : line_;
    text_ += part == Part::kPrompt ? stripped(text) : text;
    text_ += '\n';
    return {};
  }

  Status end_message() {
    const std::string text = std::exchange(text_, {});
    std::string_view said = stripped(text);
    const bool is_user = std::exchange(part_, Part::kAnswer) == Part::kPrompt;
    if (said.empty()) {
      return {};
    }
    if (is_user && said.contains("(Y)es/(N)o") && said.contains("]: ")) {
      sink_.skip("questions of Aider");
      return {};
    }
    const std::string_view command = said.substr(0, said.find_first_of(" \n"));
    if (is_user && is_among(kSaying, command)) {
      said = stripped(said.substr(command.size()));
    }
    if (is_user && (said.empty() || std::string_view("/!").contains(said.front()))) {
      part_ = is_among(kAnswered, command) || said.empty() ? Part::kAnswer : Part::kCommand;
      sink_.skip("commands");
      return {};
    }
    return put(TranscriptMessage{.speaker = is_user ? Speaker::kPerson : Speaker::kAgent,
                                 .timestamp = time_,
                                 .text = std::string(said),
                                 .salt = last_message_,
                                 .line = line_});
  }

  bool has_session_;
  Part part_ = Part::kAnswer;
  std::string text_;  ///< Of the message whose lines come.
  std::string time_;
  std::uint64_t line_ = 0;
};

}  // namespace

const ImportReader kAiderReader = {
    .looks_like = looks_like_aider, .make = make_importer<AiderImport>, .is_text = true};

}  // namespace bmad_mem::cli
