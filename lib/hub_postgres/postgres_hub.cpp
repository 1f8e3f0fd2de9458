// postgres_hub.cpp - connects a PostgresHub, and makes the calls of replicas: head, pull, push.
#include "hub_postgres/postgres_hub.hpp"

#include <array>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "hub_postgres_statements.hpp"
#include "postgres_impl.hpp"

namespace bmad_mem {

using hub_postgres::ArrayParam;
using hub_postgres::bigint_param;
using hub_postgres::int_param;
using hub_postgres::Param;
using hub_postgres::Rows;
using hub_postgres::Statement;
using hub_postgres::text_param;
using hub_postgres::uuid_param;

namespace sql = hub_postgres::sql;

namespace hub_postgres {
namespace {

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

Error too_large(std::string message) {
  return {.code = ErrorCode::E_SIZE_LIMIT, .message = std::move(message)};
}

// Both kinds of batches have the same parameters.
std::vector<Param> push_params(const Param& project, const std::string& replica,
                               const PushBatch& batch, std::size_t bytes) {
  const std::size_t count = batch.rows.size();
  assert(count <= kPushRowsMax);
  ArrayParam sessions(ArrayParam::Of::kText, count);
  ArrayParam logs(ArrayParam::Of::kSmallint, count);
  ArrayParam ops(ArrayParam::Of::kSmallint, count);
  ArrayParam targets(ArrayParam::Of::kBigint, count);
  ArrayParam ids(ArrayParam::Of::kText, count);
  ArrayParam lines(ArrayParam::Of::kBytes, count, bytes);
  for (const FeedRow& row : batch.rows) {
    sessions.add(std::string_view(row.session_id));
    logs.add(number_of_log(row.log));
    ops.add(static_cast<std::int16_t>(row.op));
    targets.add(row.target);
    ids.add(std::string_view(row.entry_id));
    lines.add(row.line);
  }
  return {project,
          uuid_param(replica),
          bigint_param(batch.pushed),
          bigint_param(batch.only_at_head),
          int_param(kHubVersion),
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

}  // namespace

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

}  // namespace hub_postgres

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
  const std::array<Statement, 1> statement{
      {{.text = sql::kOpen, .params = {text_param(std::string_view(options.project))}}}};
  const Result<std::vector<Rows>> answers = connection.run(statement);
  if (!answers) {
    return hub_postgres::with_advice(answers.error(), hub_postgres::kAskForRights);
  }
  assert(answers->size() == 1 && "run() has an answer for each statement");
  const Rows& rows = answers->front();  // Tables without a version read as version 0.
  BMAD_TRY(hub_postgres::check_newer(rows.integer(0, 0), rows.integer(0, 1)));
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
    return hub_postgres::no_project(options.project);
  }
  project = rows.uuid(0, 3);
  return {};
}

Result<Rows> PostgresHub::Impl::ask(Statement statement) {
  const std::array<Statement, 1> statements{std::move(statement)};
  while (true) {
    BMAD_TRY_ASSIGN(const bool is_new, open());
    Result<std::vector<Rows>> answers = connection.run(statements);
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

Result<std::vector<FeedRow>> PostgresHub::Impl::feed(Statement statement) {
  BMAD_TRY_ASSIGN(const Rows rows, ask(std::move(statement)));
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
  BMAD_TRY_ASSIGN(
      const Rows rows,
      impl_->ask({.text = sql::kHead,
                  .params = {impl_->project_param(), uuid_param(impl_->options.replica)}}));
  if (rows.size() == 0) {
    BMAD_TRY(impl_->check());
    return hub_postgres::no_project(impl_->options.project);
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
  BMAD_TRY(hub_postgres::check_newer(head.version, head.min_client));
  return head;
}

Result<std::vector<FeedRow>> PostgresHub::pull(const PullRange& range) {
  const auto ask = [&](std::uint64_t after, std::optional<std::uint64_t> until) {
    return impl_->feed(
        {.text = sql::kPull,
         .params = {impl_->project_param(), bigint_param(after), bigint_param(until),
                    text_param(range.session_id), bigint_param(std::uint64_t{kPullRowsMax}),
                    bigint_param(std::uint64_t{kPullBytesMax})}});
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
  ArrayParam wanted(ArrayParam::Of::kBigint, seqs.size());
  for (const std::uint64_t seq : seqs) {
    wanted.add(seq);
  }
  return impl_->feed(
      {.text = sql::kRows, .params = {impl_->project_param(), std::move(wanted).finish()}});
}

Result<PushAnswer> PostgresHub::push(const PushBatch& batch) {
  std::size_t bytes = 0;
  for (const FeedRow& row : batch.rows) {
    bytes += row.line ? row.line->size() : 0;
  }
  if (batch.rows.size() > kPushRowsMax || (bytes > kPushBytesMax && batch.rows.size() > 1)) {
    return hub_postgres::too_large(
        fmt::format("a push has at most {} rows and {} bytes", kPushRowsMax, kPushBytesMax));
  }
  BMAD_TRY(impl_->open());
  const Param project = impl_->project_param();
  const std::array<Statement, 1> statement{
      {{.text = sql::kPush,
        .params = hub_postgres::push_params(project, impl_->options.replica, batch, bytes)}}};
  BMAD_TRY_ASSIGN(const std::vector<Rows> answers, impl_->ask_once(statement));
  return hub_postgres::push_answer(answers.front(), batch.rows.size());
}

Status PostgresHub::confirm(std::uint64_t cursor) {
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask({.text = sql::kConfirm,
                              .params = {impl_->project_param(), uuid_param(impl_->options.replica),
                                         bigint_param(cursor)}}));
  if (rows.size() == 0) {
    return hub_postgres::no_rights(impl_->options.project, "confirm as this replica to");
  }
  return {};
}

Status PostgresHub::add_replica(const std::string& replica, const std::string& host) {
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask({.text = sql::kAddReplica,
                              .params = {impl_->project_param(), uuid_param(replica),
                                         text_param(std::string_view(host))}}));
  if (rows.size() == 0 || !rows.boolean(0, 0)) {
    return hub_postgres::no_rights(impl_->options.project, "join as that replica of another role");
  }
  impl_->options.replica = replica;
  return {};
}

Status PostgresHub::drop_replica(const std::string& replica) {
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask({.text = sql::kDropReplica,
                              .params = {impl_->project_param(), uuid_param(replica)}}));
  if (rows.boolean(0, 0) && !rows.boolean(0, 1)) {
    return hub_postgres::no_rights(impl_->options.project, "drop replicas of others from");
  }
  return {};
}

Status PostgresHub::drop_row(std::uint64_t seq) {
  BMAD_TRY(
      impl_->ask({.text = sql::kDropRow, .params = {impl_->project_param(), bigint_param(seq)}}));
  return {};
}

Result<std::vector<HubReplica>> PostgresHub::replicas() {
  BMAD_TRY_ASSIGN(const Rows rows,
                  impl_->ask({.text = sql::kReplicas, .params = {impl_->project_param()}}));
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

}  // namespace bmad_mem
