// connection.cpp - connects to PostgreSQL, and runs statements within a time limit.
#include "connection.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"

namespace bmad_mem::hub_postgres {
namespace {

constexpr int kTries = 6;
constexpr std::chrono::milliseconds kFirstPause{2};

// What libpq says, as one line. It ends lines, and puts several.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c != '\n' && c != '\t') {
      line.push_back(c);
    } else if (!line.empty() && !line.ends_with(' ')) {
      line += c == '\n' ? "; " : " ";
    }
  }
  assert(!line.contains('\n'));
  return std::string(trimmed(line, " ;"));
}

using Keywords = std::vector<std::pair<const char*, std::string>>;

PGconn* connect(const Keywords& keywords) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : keywords) {
    names.push_back(name);
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectdbParams(names.data(), values.data(), 1);
}

Keywords keywords_of(const PostgresOptions& options) {
  Keywords keywords = {{"dbname", options.conninfo}, {"service", options.service}};
  std::erase_if(keywords, [](const auto& each) { return each.second.empty(); });
  keywords.insert(keywords.end(),
                  {{"fallback_application_name", "bmad-mem"},
                   {"client_encoding", "UTF8"},
                   {"connect_timeout", "3"},
                   // Bounds asking the server to stop, too, when it can't be reached any more.
                   {"tcp_user_timeout", "10000"}});
  return keywords;
}

bool is_local(std::string_view host) {
  return host.empty() || host.starts_with('/') || host.starts_with('@') || host == "localhost" ||
         host.starts_with("127.") || host == "::1";
}

bool are_local(std::string_view hosts) {
  while (true) {
    const std::size_t comma = hosts.find(',');
    if (!is_local(hosts.substr(0, comma))) {
      return false;
    }
    if (comma == std::string_view::npos) {
      return true;
    }
    hosts.remove_prefix(comma + 1);
  }
}

// Adds what libpq would decide otherwise, where nobody has said it: whether the server must show
// who it is, and no GSSAPI, which libpq would try first, read five files for, and take for
// encryption enough. libpq tells what a service means only by a connection, which a value that it
// refuses keeps from being made.
void add_defaults(Keywords& to) {
  Keywords keywords = to;
  keywords.emplace_back("channel_binding", "-");
  const std::unique_ptr<PGconn, void (*)(PGconn*)> connection{connect(keywords), PQfinish};
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options{
      PQconninfo(connection.get()), PQconninfoFree};
  std::string_view mode;
  std::string_view gss;
  std::string_view hosts;
  for (const PQconninfoOption* option = options.get(); option != nullptr && option->keyword;
       ++option) {
    const std::string_view name = option->keyword;
    const std::string_view value = option->val != nullptr ? option->val : "";
    if (name == "sslmode") {
      mode = value;
    } else if (name == "gssencmode") {
      gss = value;
    } else if ((name == "host" && hosts.empty()) || (name == "hostaddr" && !value.empty())) {
      hosts = value;
    }
  }
  if (mode == "prefer" && !are_local(hosts)) {
    to.emplace_back("sslmode", "verify-full");
  }
  if (gss == "prefer") {
    to.emplace_back("gssencmode", "disable");
  }
}

// The server's sentence alone: its details quote what was sent.
Error error_of_result(const PGresult* result, std::string_view state) {
  const char* sentence = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return {.code = code_of_sql_state(state),
          .message = fmt::format(
              "the hub did not take it: {} ({})",
              one_line(sentence != nullptr ? sentence : PQresultErrorMessage(result)), state)};
}

// The code of states by how they begin: the first row that fits counts.
constexpr std::pair<std::string_view, ErrorCode> kStates[] = {
    {"08", ErrorCode::E_HUB_AWAY},           // The connection.
    {"57014", ErrorCode::E_HUB_AWAY},        // It took too long.
    {"57P", ErrorCode::E_HUB_AWAY},          // Stopped, crashed, starting, dropped, idle.
    {"25006", ErrorCode::E_HUB_AWAY},        // A standby, which can't write.
    {"40", ErrorCode::E_HUB_AWAY},           // Others were in its way, again and again.
    {"55P03", ErrorCode::E_HUB_AWAY},        // A lock was not had in time.
    {"53", ErrorCode::E_HUB_FULL},           // Disk, memory, connections.
    {"42501", ErrorCode::E_ACCESS_DENIED},   // Privileges, policies.
    {"28", ErrorCode::E_ACCESS_DENIED},      // Who it is.
    {"3F000", ErrorCode::E_HUB_VERSION},     // No schema,
    {"42P01", ErrorCode::E_HUB_VERSION},     // no table,
    {"42703", ErrorCode::E_HUB_VERSION},     // no column.
    {"22", ErrorCode::E_INVALID_FORMAT},     // A value that is none,
    {"23", ErrorCode::E_INVALID_FORMAT},     // or that a column does not take.
    {"42704", ErrorCode::E_INVALID_FORMAT},  // A role that is none.
    {"54", ErrorCode::E_SIZE_LIMIT},         // Too large for an index.
};

}  // namespace

Result<bool> Connection::open() {
  if (connection_ != nullptr && PQstatus(connection_.get()) != CONNECTION_BAD) {
    return false;
  }
  Keywords keywords = keywords_of(options_);
  add_defaults(keywords);
  connection_.reset(connect(keywords));
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    const std::string why = one_line(PQerrorMessage(connection_.get()));
    connection_.reset();
    return Error{.code = code_of_lost_connection(why),
                 .message = fmt::format("the hub can't be reached: {}", why)};
  }
  PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
  BMAD_TRY(expect(PQsetnonblocking(connection_.get(), 1) == 0));
  return true;
}

bool Connection::is_tls() const {
  return connection_ != nullptr && PQsslInUse(connection_.get()) == 1;
}

Result<std::vector<Rows>> Connection::run(std::span<const Statement> statements) {
  assert(is_open() && !statements.empty());
  const Deadline deadline = std::chrono::steady_clock::now() + options_.timeout;
  for (int tried = 1;; ++tried) {
    was_lost_ = false;
    BMAD_TRY(send(statements));
    BMAD_TRY(flush(deadline));
    std::string state;
    Result<std::vector<Rows>> rows = answers(/*in_pipeline=*/true, deadline, state);
    if (rows && rows->size() != statements.size()) {
      return lose();
    }
    if (rows || tried == kTries || !is_worth_repeating(state) || !is_open()) {
      return rows;
    }
    std::this_thread::sleep_for(kFirstPause * (1 << tried));
  }
}

Status Connection::send(std::span<const Statement> statements) {
  BMAD_TRY(expect(PQenterPipelineMode(connection_.get()) == 1));
  for (const Statement& statement : statements) {
    std::vector<Oid> types;
    std::vector<const char*> values;
    std::vector<int> sizes;
    std::vector<int> formats;
    for (const Param& param : statement.params) {
      types.push_back(param.type);
      values.push_back(param.bytes ? param.bytes->c_str() : nullptr);
      sizes.push_back(param.bytes ? static_cast<int>(param.bytes->size()) : 0);
      formats.push_back(param.is_binary ? 1 : 0);
    }
    const std::string text(statement.text);
    BMAD_TRY(expect(PQsendQueryParams(connection_.get(), text.c_str(),
                                      static_cast<int>(types.size()), types.data(), values.data(),
                                      sizes.data(), formats.data(), 1) == 1));
  }
  return expect(PQpipelineSync(connection_.get()) == 1);
}

Status Connection::flush(Deadline deadline) {
  while (true) {
    const int left = PQflush(connection_.get());
    if (left <= 0) {
      return expect(left == 0);
    }
    BMAD_TRY(wait(true, deadline));
    // The server may wait for us to read before it reads on.
    BMAD_TRY(expect(PQconsumeInput(connection_.get()) == 1));
  }
}

Status Connection::wait(bool to_write, Deadline deadline) {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return give_up();
    }
    pollfd socket{.fd = PQsocket(connection_.get()),
                  .events = static_cast<short>(to_write ? POLLIN | POLLOUT : POLLIN),
                  .revents = 0};
    const int ready = ::poll(&socket, 1, static_cast<int>(std::min<long>(left.count(), 60'000)));
    if (ready > 0) {
      return {};
    }
    if (ready < 0 && errno != EINTR) {
      return lose();
    }
  }
}

Result<Rows> Connection::next(Deadline deadline) {
  while (PQisBusy(connection_.get()) == 1) {
    BMAD_TRY(wait(false, deadline));
    BMAD_TRY(expect(PQconsumeInput(connection_.get()) == 1));
  }
  return Rows(PQgetResult(connection_.get()));
}

Result<std::vector<Rows>> Connection::answers(bool in_pipeline, Deadline deadline,
                                              std::string& state) {
  std::vector<Rows> all;
  std::optional<Error> failure;
  while (true) {
    BMAD_TRY_ASSIGN(Rows rows, next(deadline));
    const ExecStatusType status = PQresultStatus(rows.result());
    const bool is_end = rows.result() == nullptr;  // Of an answer, or of a lost connection.
    if (is_end && PQstatus(connection_.get()) == CONNECTION_BAD) {
      return lose();
    }
    if (in_pipeline ? status == PGRES_PIPELINE_SYNC : is_end) {
      break;
    }
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
      all.push_back(std::move(rows));
    } else if (!is_end && status != PGRES_PIPELINE_ABORTED && !failure) {
      const char* known = PQresultErrorField(rows.result(), PG_DIAG_SQLSTATE);
      state = known != nullptr ? known : "";
      failure = error_of_result(rows.result(), state);
    }
  }
  BMAD_TRY(expect(!in_pipeline || PQexitPipelineMode(connection_.get()) == 1));
  if (failure) {
    return *std::move(failure);
  }
  return all;
}

Status Connection::run_script(const std::string& text, std::chrono::milliseconds timeout) {
  assert(is_open());
  const Deadline deadline = std::chrono::steady_clock::now() + timeout;
  was_lost_ = false;
  BMAD_TRY(expect(PQsendQuery(connection_.get(), text.c_str()) == 1));
  BMAD_TRY(flush(deadline));
  std::string state;
  BMAD_TRY(answers(/*in_pipeline=*/false, deadline, state));
  return {};
}

Result<std::string> Connection::quoted(std::string_view name) {
  assert(is_open());
  char* text = PQescapeIdentifier(connection_.get(), name.data(), name.size());
  if (text == nullptr) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "who",
                       "the name of a role is UTF-8, without a byte 0");
  }
  std::string result = text;
  PQfreemem(text);
  return result;
}

Error Connection::lose() {
  assert(is_open() && "a connection is lost once");
  was_lost_ = true;
  const std::string why = one_line(PQerrorMessage(connection_.get()));
  connection_.reset();
  return {.code = code_of_lost_connection(why),
          .message =
              fmt::format("the connection to the hub was lost{}{}", why.empty() ? "" : ": ", why)};
}

Error Connection::give_up() {
  if (PGcancel* cancel = PQgetCancel(connection_.get()); cancel != nullptr) {
    std::array<char, 256> why{};
    PQcancel(cancel, why.data(), static_cast<int>(why.size()));
    PQfreeCancel(cancel);
  }
  connection_.reset();
  return {.code = ErrorCode::E_HUB_AWAY, .message = "the hub did not answer in time"};
}

// See Appendix A of PostgreSQL's manual, "Error Codes".

ErrorCode code_of_sql_state(std::string_view state) {
  if (state.empty()) {
    return ErrorCode::E_HUB_AWAY;
  }
  for (const auto& [prefix, code] : kStates) {
    if (state.starts_with(prefix)) {
      return code;
    }
  }
  return ErrorCode::E_STORAGE_IO;
}

ErrorCode code_of_lost_connection(std::string_view why) {
  const bool is_full =
      why.contains("No space left on device") || why.contains("could not write init file");
  return is_full ? ErrorCode::E_HUB_FULL : ErrorCode::E_HUB_AWAY;
}

bool is_worth_repeating(std::string_view state) {
  // The last: another has made the same row just now.
  return state == "40001" || state == "40P01" || state == "23505";
}

}  // namespace bmad_mem::hub_postgres
