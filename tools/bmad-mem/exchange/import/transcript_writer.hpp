// transcript_writer.hpp - the entries that importers of transcripts make: messages, tool calls and
// tool results. All transcripts look alike once they are imported.
//
//   message      conversation: role, content, the message it answers
//   tool call    event tool_use: tool, path, a snippet of the input, the message it belongs to
//   tool result  event tool_result: tool, path, a snippet of the output, the call it answers
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "exchange/import/import_sink.hpp"

namespace bmad_mem::cli {

/// Empty members are left out of the entry.
struct TranscriptMessage {
  std::string id;
  std::string session;
  std::string agent;
  std::string timestamp;
  std::string parent;  ///< The id of the message that it answers.
  std::string_view role;
  std::string_view text;
  std::string_view topic = {};
  std::uint64_t line = 0;
  bool from_agent = false;      ///< Whatever its role says, an agent wrote it.
  bool sidechain = false;       ///< It belongs to a subagent.
  bool may_have_grown = false;  ///< What was imported before may be an older version of it.
};

struct TranscriptToolEvent {
  std::string id;
  std::string session;
  std::string agent;
  std::string timestamp;
  std::string_view tool;
  std::string_view path = {};
  std::string_view text;
  std::string reference;  ///< A call: the message it belongs to. A result: the call.
  std::uint64_t line = 0;
  bool is_error = false;  ///< Of a result.
  std::size_t size = 0;   ///< Of a result's whole text, where `text` is the beginning of it.
};

class TranscriptWriter {
 public:
  /// `format` and `file` are the provenance of all entries; `agent` is whose transcript it is.
  /// `project`: where no record says in which folder it was made; may be empty.
  TranscriptWriter(ImportSink& sink, std::string_view format, const std::string& file,
                   std::string_view agent, std::string_view project);

  /// The folder in which the agent works from here on.
  void set_folder(std::string_view folder);

  /// The id under which the message is kept: its own, or that of the entry which a hook made of it
  /// when it was said. That one counts as known. Errors: those of ImportSink::add().
  Result<std::string> add_message(const TranscriptMessage& message);
  // Errors: those of ImportSink::add().
  Status add_tool_call(const TranscriptToolEvent& call);
  Status add_tool_result(const TranscriptToolEvent& result);

  [[nodiscard]] ImportSink& sink() const { return sink_; }

 private:
  Status put(const std::string& session, EntryType type, std::string json, KnownEntries known,
             std::uint64_t line);
  Status need_session(const std::string& session);
  [[nodiscard]] std::string provenance(std::uint64_t line) const;

  ImportSink& sink_;
  std::string format_;
  std::string path_;
  std::string provenance_;  ///< Up to the number of the line.
  std::string agent_;
  std::string project_;
};

}  // namespace bmad_mem::cli
