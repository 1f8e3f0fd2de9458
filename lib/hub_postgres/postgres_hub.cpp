// postgres_hub.cpp - connects a PostgresHub, and makes the calls of replicas: head, pull, push; and
// those that are for admins.
#include "hub_postgres/postgres_hub.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bmad_mem/text.hpp"
#include "connection.hpp"
#include "hub_postgres_statements.hpp"
#include "hub_postgres_tables.hpp"

namespace bmad_mem {

using hub_postgres::ArrayParam;
using hub_postgres::bigint_param;
using hub_postgres::Param;
using hub_postgres::Rows;
using hub_postgres::Statement;
using hub_postgres::text_param;
using hub_postgres::uuid_param;

namespace sql = hub_postgres::sql;

struct PostgresHub::Impl {
  explicit Impl(const PostgresOptions& given) : options(given), connection(given) {}

  /// Connects when there is no connection, and looks whether server and tables are fit for us.
  /// Whether it connected just now.
  Result<bool> open();
  /// Whether they are, and the project is there.
  Status check();
  /// One statement that may be done twice: again when the connection turns out to be lost.
  Result<Rows> ask(std::string_view text, std::vector<Param> params = {});
  /// Statements that may not. After an error that is E_HUB_AWAY they may have taken effect.
  Result<std::vector<Rows>> ask_once(std::span<const Statement> statements);
  /// The project's UUID as a parameter. Errors: E_ACCESS_DENIED when there is none.
  [[nodiscard]] Param project_param() const;

  /// "none" takes all rights away. Errors: as PostgresHub::add_member() and drop_member().
  Status set_member(std::string_view who, std::string_view rights);
  /// The rows of kPull or kRows.
  Result<std::vector<FeedRow>> feed(std::string_view text, std::vector<Param> params);

  PostgresOptions options;
  hub_postgres::Connection connection;
  std::string project;  ///< Its UUID; empty when only admins' calls are made.
};

namespace {

constexpr std::string_view kAskForRights =
    "an admin gives rights with `bmad-mem hub member ROLE --rights write`";

Error no_rights(const std::string& project, std::string_view what) {
  return {.code = ErrorCode::E_ACCESS_DENIED,
          .message = fmt::format("this role may not {} the project '{}' of the hub; an admin of it "
                                 "can change that",
                                 what, project)};
}

Error no_project(const std::string& project) {
  return {.code = ErrorCode::E_ACCESS_DENIED,
          .message = fmt::format("the hub has no project '{}', or this role may not see it; {}",
                                 project, kAskForRights)};
}

// Both kinds of batches have the same parameters.
std::vector<Param> push_params(const Param& project, const std::string& replica,
                               const PushBatch& batch, std::size_t bytes) {
  const std::size_t count = batch.rows.size();
  assert(count <= kPushRowsMax);
  ArrayParam sessions(ArrayParam::kTexts, count);
  ArrayParam logs(ArrayParam::kSmallints, count);
  ArrayParam ops(ArrayParam::kSmallints, count);
  ArrayParam targets(ArrayParam::kBigints, count);
  ArrayParam ids(ArrayParam::kTexts, count);
  ArrayParam lines(ArrayParam::kByteas, count, bytes);
  for (const FeedRow& row : batch.rows) {
    sessions.add(row.session_id);
    logs.add(static_cast<std::int16_t>(row.log));
    ops.add(static_cast<std::int16_t>(row.op));
    targets.add(row.target);
    ids.add(row.entry_id);
    lines.add(row.line);
  }
  return {project,
          uuid_param(replica),
          bigint_param(batch.pushed),
          bigint_param(batch.only_at_head),
          hub_postgres::int_param(kHubVersion),
          std::move(sessions).finish(),
          std::move(logs).finish(),
          std::move(ops).finish(),
          std::move(targets).finish(),
          std::move(ids).finish(),
          std::move(lines).finish()};
}

// Of the head before the batch, and the seqs of the rows that are stored.
PushAnswer push_answer(const Rows& rows, std::size_t count) {
  PushAnswer answer;
  if (rows.size() == 0) {
    return answer;
  }
  answer.is_stored = true;
  answer.seqs.resize(count);
  const std::uint64_t base = rows.bigint(0, 0);
  for (int row = 1; row < rows.size(); ++row) {
    const std::uint64_t seq = rows.bigint(row, 0);
    if (seq > base && seq - base <= count) {
      answer.seqs[seq - base - 1] = seq;
    }
  }
  return answer;
}

Status check_newer(int version, int min_client) {
  if (version > kHubVersion || min_client > kHubVersion) {
    return Error{.code = ErrorCode::E_HUB_VERSION,
                 .message = fmt::format("the tables of the hub are of version {}, and of programs "
                                        "that know version {} at least; this bmad-mem knows {}: "
                                        "update it",
                                        version, min_client, kHubVersion)};
  }
  return {};
}

Error with_advice(Error error, std::string_view advice) {
  if (error.code == ErrorCode::E_ACCESS_DENIED) {
    error.message += fmt::format("; {}", advice);
  }
  return error;
}

// A vacuum reads the pages that changed since the last one, of all projects.
constexpr std::chrono::minutes kVacuumTimeout{10};

// Each text is several statements. Beside the functions there is only what engines with
// PostgreSQL's protocol have in common: no triggers, sequences, foreign keys or extensions.

/// Makes what `tables` says, and the functions, which are of version kHubVersion.
std::string script_of(std::string_view tables) {
  static_assert(kHubVersion == 2, "each version has a way from the one before");
  return fmt::format("{}{}", tables, kFunctionsTable);
}

constexpr std::string_view kAskTheOwner =
    "only who owns the tables may: the role of `bmad-mem hub init`, or one that is granted it";

template <typename Value>
Result<Value> owners_only(Result<Value> result) {
  if (!result) {
    return with_advice(std::move(result).error(), kAskTheOwner);
  }
  return result;
}

}  // namespace

Result<bool> PostgresHub::Impl::open() {
  BMAD_TRY_ASSIGN(const bool is_new, connection.open());
  if (is_new && !options.project.empty()) {
    if (Status fit = check(); !fit) {
      connection.close();
      return std::move(fit).error();
    }
  }
  return is_new;
}

Status PostgresHub::Impl::check() {
  const Statement statement{.text = sql::kOpen, .params = {text_param(options.project)}};
  const Result<std::vector<Rows>> answers = connection.run({&statement, 1});
  if (!answers) {
    return with_advice(answers.error(), kAskForRights);
  }
  assert(answers->size() == 1 && "run() has an answer for each statement");
  const Rows& rows = answers->front();  // Tables without a version read as version 0.
  BMAD_TRY(check_newer(rows.integer(0, 0), rows.integer(0, 1)));
  if (rows.integer(0, 0) < kHubVersion) {
    return Error{.code = ErrorCode::E_HUB_VERSION,
                 .message =
                     "the tables of the hub are older than this bmad-mem; who owns them runs "
                     "`bmad-mem hub upgrade`"};
  }
  if (rows.raw(0, 2) == "off" && !options.unsafe) {
    return field_error(ErrorCode::E_SCHEMA_INVALID, "synchronous_commit",
                       "the server answers before its disk has what was pushed; set its "
                       "synchronous_commit to on");
  }
  if (rows.is_null(0, 3)) {
    return no_project(options.project);
  }
  project = rows.uuid(0, 3);
  return {};
}

Result<Rows> PostgresHub::Impl::ask(std::string_view text, std::vector<Param> params) {
  const Statement statement{.text = text, .params = std::move(params)};
  while (true) {
    BMAD_TRY_ASSIGN(const bool is_new, open());
    Result<std::vector<Rows>> answers = connection.run({&statement, 1});
    if (answers) {
      assert(answers->size() == 1);
      return std::move(answers->front());
    }
    if (is_new || !connection.was_lost()) {
      return std::move(answers).error();
    }
  }
}

Result<std::vector<Rows>> PostgresHub::Impl::ask_once(std::span<const Statement> statements) {
  BMAD_TRY(open());
  return connection.run(statements);
}

Param PostgresHub::Impl::project_param() const { return uuid_param(project); }

Result<std::vector<FeedRow>> PostgresHub::Impl::feed(std::string_view text,
                                                     std::vector<Param> params) {
  BMAD_TRY_ASSIGN(const Rows rows, ask(text, std::move(params)));
  std::vector<FeedRow> feed;
  feed.reserve(static_cast<std::size_t>(rows.size()));
  for (int row = 0; row < rows.size(); ++row) {
    feed.push_back(hub_postgres::feed_row(rows, row));
  }
  return feed;
}

PostgresHub::PostgresHub(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PostgresHub::~PostgresHub() = default;

Result<std::unique_ptr<PostgresHub>> PostgresHub::connect(const PostgresOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  BMAD_TRY(impl->open());
  return std::unique_ptr<PostgresHub>(new PostgresHub(std::move(impl)));
}

Result<HubHead> PostgresHub::head() {
  BMAD_TRY_ASSIGN(const Rows rows, impl_->ask(sql::kHead, {impl_->project_param(),
                                                           uuid_param(impl_->options.replica)}));
  if (rows.size() == 0) {
    BMAD_TRY(impl_->check());
    return no_project(impl_->options.project);
  }
  HubHead head{
      .head = rows.bigint(0, 0),
      .pushed = rows.bigint(0, 1),
      .is_replica = rows.boolean(0, 2),
      .rights = std::string(rows.raw(0, 3)),
      .version = rows.integer(0, 4),
      .min_client = rows.integer(0, 5),
      .policy = std::string(rows.raw(0, 6)),
      .now = rows.moment(0, 7),
      .seen_at = rows.moment(0, 8),
  };
  BMAD_TRY(check_newer(head.version, head.min_client));
  return head;
}

Result<std::vector<FeedRow>> PostgresHub::pull(const PullRange& range) {
  const auto ask = [&](std::uint64_t after, std::optional<std::uint64_t> until) {
    return impl_->feed(sql::kPull, {impl_->project_param(), bigint_param(after),
                                    bigint_param(until), text_param(range.session_id),
                                    bigint_param(kPullRowsMax), bigint_param(kPullBytesMax)});
  };
  const std::uint64_t page_end = range.after + kPullRowsMax;
  if (range.session_id || !range.until || *range.until <= page_end) {
    return ask(range.after, range.until);
  }
  // A table without statistics, as after a first push, is read as if it were small: all rows behind
  // `after` would be sorted for each page. So the server sees no more of the feed than a page.
  BMAD_TRY_ASSIGN(std::vector<FeedRow> page, ask(range.after, page_end));
  return page.empty() ? ask(page_end, range.until) : std::move(page);
}

Result<std::vector<FeedRow>> PostgresHub::rows(std::span<const std::uint64_t> seqs) {
  ArrayParam wanted(ArrayParam::kBigints, seqs.size());
  for (const std::uint64_t seq : seqs) {
    wanted.add(seq);
  }
  return impl_->feed(sql::kRows, {impl_->project_param(), std::move(wanted).finish()});
}

Result<PushAnswer> PostgresHub::push(const PushBatch& batch) {
  const std::uint64_t bytes =
      sum_of(batch.rows, [](const FeedRow& row) { return row.line ? row.line->size() : 0; });
  if (batch.rows.size() > kPushRowsMax || (bytes > kPushBytesMax && batch.rows.size() > 1)) {
    return Error{.code = ErrorCode::E_SIZE_LIMIT,
                 .message = fmt::format("a push has at most {} rows and {} bytes", kPushRowsMax,
                                        kPushBytesMax)};
  }
  BMAD_TRY(impl_->open());
  const Statement statement{
      .text = sql::kPush,
      .params = push_params(impl_->project_param(), impl_->options.replica, batch, bytes)};
  BMAD_TRY_ASSIGN(const std::vector<Rows> answers, impl_->ask_once({&statement, 1}));
  return push_answer(answers.front(), batch.rows.size());
}

Status PostgresHub::confirm(std::uint64_t cursor) {
  BMAD_TRY_ASSIGN(const Rows rows, impl_->ask(sql::kConfirm, {impl_->project_param(),
                                                              uuid_param(impl_->options.replica),
                                                              bigint_param(cursor)}));
  if (rows.size() == 0) {
    return no_rights(impl_->options.project, "confirm as this replica to");
  }
  return {};
}

Status PostgresHub::add_replica(const std::string& replica, const std::string& host) {
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask(sql::kAddReplica,
                             {impl_->project_param(), uuid_param(replica), text_param(host)}));
  if (rows.size() == 0 || !rows.boolean(0, 0)) {
    return no_rights(impl_->options.project, "join as that replica of another role");
  }
  impl_->options.replica = replica;
  return {};
}

Status PostgresHub::drop_replica(const std::string& replica) {
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask(sql::kDropReplica, {impl_->project_param(), uuid_param(replica)}));
  if (rows.boolean(0, 0) && !rows.boolean(0, 1)) {
    return no_rights(impl_->options.project, "drop replicas of others from");
  }
  return {};
}

Status PostgresHub::drop_row(std::uint64_t seq) {
  BMAD_TRY(impl_->ask(sql::kDropRow, {impl_->project_param(), bigint_param(seq)}));
  return {};
}

Result<std::vector<HubReplica>> PostgresHub::replicas() {
  BMAD_TRY_ASSIGN(const Rows rows, impl_->ask(sql::kReplicas, {impl_->project_param()}));
  std::vector<HubReplica> replicas;
  for (int row = 0; row < rows.size(); ++row) {
    replicas.push_back({.replica = rows.uuid(row, 0),
                        .who = std::string(rows.raw(row, 1)),
                        .host = std::string(rows.raw(row, 2)),
                        .cursor = rows.bigint(row, 3),
                        .pushed = rows.bigint(row, 4),
                        .seen_at = rows.moment(row, 5)});
  }
  return replicas;
}

bool PostgresHub::is_tls() const { return impl_->connection.is_tls(); }

// For admins.

Result<std::string> PostgresHub::init(std::string_view project) {
  BMAD_TRY_ASSIGN(const Rows tables, impl_->ask(sql::kHasTables));
  if (!tables.boolean(0, 0)) {
    Status made = impl_->connection.run_script(script_of(kSchemaTable), impl_->options.timeout);
    if (!made) {  // Another may have made them just now.
      BMAD_TRY_ASSIGN(const Rows again, impl_->ask(sql::kHasTables));
      if (!again.boolean(0, 0)) {
        return std::move(made).error();
      }
    }
  }
  BMAD_TRY_ASSIGN(const Rows rows,
                  owners_only(impl_->ask(sql::kAddProject, {text_param(project)})));
  impl_->options.project = project;
  impl_->project = rows.uuid(0, 0);
  return impl_->project;
}

Status PostgresHub::add_member(std::string_view who, std::string_view rights) {
  constexpr std::array<std::string_view, 4> kRights = {"read", "write", "forget", "admin"};
  if (std::ranges::find(kRights, rights) == kRights.end()) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "rights",
                       fmt::format("rights are read, write, forget or admin, not '{}'", rights));
  }
  if (who.empty() || who == "public") {  // Even in quotes that means everybody.
    return field_error(ErrorCode::E_INVALID_FORMAT, "who",
                       fmt::format("a member is one role of the database, not '{}'", who));
  }
  BMAD_TRY_ASSIGN(const Rows reserved, impl_->ask(sql::kIsReserved, {text_param(who)}));
  if (reserved.boolean(0, 0)) {
    return field_error(
        ErrorCode::E_INVALID_FORMAT, "who",
        fmt::format(
            "{} is a role of the server's own, or has a superuser's rights or a part of them, "
            "which no rights of a hub hold back; give each member a role of its own",
            who));
  }
  BMAD_TRY_ASSIGN(const std::string role, impl_->connection.quoted(who));
  Status granted =
      impl_->connection.run_script(fmt::format(sql::kGrants, role), impl_->options.timeout);
  if (!granted) {
    if (granted.error().code == ErrorCode::E_INVALID_FORMAT) {
      granted.error().field = "who";
    }
    return owners_only(std::move(granted));
  }
  return impl_->set_member(who, rights);
}

Status PostgresHub::drop_member(std::string_view who) {
  // No grant is taken back: other projects may need it, and without a right it shows no row.
  return impl_->set_member(who, "none");
}

Status PostgresHub::Impl::set_member(std::string_view who, std::string_view rights) {
  BMAD_TRY(open());
  const std::array<Statement, 2> statements{
      {{.text = sql::kLockHead, .params = {project_param()}},
       {.text = sql::kSetMember,
        .params = {project_param(), text_param(who), text_param(rights)}}}};
  BMAD_TRY_ASSIGN(const std::vector<Rows> answers, owners_only(ask_once(statements)));
  assert(answers.size() == statements.size());
  if (answers.back().boolean(0, 0)) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "who",
                       fmt::format("{} is the last admin of the project '{}'; make another "
                                   "role an admin first",
                                   who, options.project));
  }
  if (!answers.back().boolean(0, 1)) {
    return field_error(ErrorCode::E_INVALID_FORMAT, "who",
                       fmt::format("{} has no rights in the project '{}'; `bmad-mem hub "
                                   "status` lists who has some",
                                   who, options.project));
  }
  return {};
}

Result<std::vector<HubMember>> PostgresHub::members() {
  BMAD_TRY_ASSIGN(const Rows rows, impl_->ask(sql::kMembers, {impl_->project_param()}));
  std::vector<HubMember> members;
  for (int row = 0; row < rows.size(); ++row) {
    members.push_back(
        {.who = std::string(rows.raw(row, 0)), .rights = std::string(rows.raw(row, 1))});
  }
  return members;
}

Result<int> PostgresHub::upgrade() {
  BMAD_TRY_ASSIGN(const Rows rows, impl_->ask(sql::kVersion));
  const int version = rows.integer(0, 0);
  BMAD_TRY(check_newer(version, 0));
  if (version < kHubVersion) {
    BMAD_TRY(owners_only(
        impl_->connection.run_script(script_of(kUpgrade_2Table), impl_->options.timeout)));
  }
  return version;
}

Result<ForgottenRows> PostgresHub::verify_forgotten(HubVacuum vacuum) {
  BMAD_TRY_ASSIGN(const Rows began, impl_->ask(sql::kNow));
  ForgottenRows forgotten;
  // Without the right to it, the server warns and does nothing.
  Status vacuumed;
  if (vacuum == HubVacuum::kRewrite) {
    vacuumed = impl_->connection.run_script(std::string(sql::kRewrite), kVacuumTimeout);
  }
  if (vacuumed) {  // The usual one alone notes when it was, and what it had to leave.
    vacuumed = impl_->connection.run_script(std::string(sql::kVacuum), kVacuumTimeout);
  }
  if (!vacuumed && vacuumed.error().code == ErrorCode::E_HUB_AWAY) {
    return std::move(vacuumed).error();
  }
  BMAD_TRY_ASSIGN(
      const Rows looked,
      impl_->ask(sql::kIsVacuumed, {hub_postgres::moment_param(std::string(began.raw(0, 0)))}));
  forgotten.is_vacuumed = looked.size() == 1 && looked.boolean(0, 0);
  BMAD_TRY_ASSIGN(const Rows rows, impl_->ask(sql::kForgotten, {impl_->project_param()}));
  forgotten.with_content = rows.bigint(0, 0);
  forgotten.last_purge = rows.bigint(0, 1);
  return forgotten;
}

Result<std::string> PostgresHub::policy() {
  const Result<Rows> rows = impl_->ask(sql::kPolicy);
  if (!rows) {
    return with_advice(rows.error(), kAskForRights);
  }
  return std::string(rows->raw(0, 0));
}

Status PostgresHub::set_policy(std::string_view policy) {
  BMAD_TRY(owners_only(impl_->ask(sql::kSetPolicy, {hub_postgres::bytes_param(policy)})));
  return {};
}

}  // namespace bmad_mem
