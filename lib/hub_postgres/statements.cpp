// statements.cpp - what a hub is asked.
//
// A push is two statements in one round trip and one transaction, kLockHead and one of the others:
//
//   kLockHead   waits until nobody else pushes to the project
//   kPush       sees all that was pushed before, counts, and adds rows behind the head
//
// One statement alone would see the tables as they were before it waited: a line whose entry was
// purged meanwhile would be stored, and a purge would miss a line that came meanwhile. The lock is
// held until the commit, so the order of seqs is the order of commits, and who reads by cursor
// misses none.
#include "statements.hpp"

#include <algorithm>
#include <array>

namespace bmad_mem::hub_postgres::sql {

// $1 name of the project, which may be null.
constexpr std::string_view kOpen = R"sql(
select h.version, h.min_client, current_setting('synchronous_commit'), p.project
from bmad.hub h left join bmad.project p on p.name = $1
)sql";

constexpr std::string_view kHasTables = "select to_regclass('bmad.hub') is not null";

constexpr std::string_view kVersion = "select version from bmad.hub";

// $1 project, $2 replica, which may be null.
constexpr std::string_view kHead = R"sql(
select p.head, coalesce(r.pushed, 0), r.replica is not null, m.rights, h.version, h.min_client,
  h.policy, now(), coalesce(r.seen_at, now())
from bmad.hub h, bmad.project p
  join bmad.member m on m.project = p.project and m.who = current_user
  left join bmad.replica r on r.project = p.project and r.replica = $2
where p.project = $1
)sql";

// $1 project, $2 after, $3 until or null, $4 session or null, $5 most rows, $6 about most bytes.
// The length of a line is known without reading it, so what is beyond $6 costs nothing. A first row
// comes in any case.
constexpr std::string_view kPull = R"sql(
select seq, replica, op, session, log, target, entry_id, line
from (select *, sum(coalesce(octet_length(line), 0)) over
          (order by seq rows between unbounded preceding and 1 preceding) as before
      from (select seq, replica, op, session, log, target, entry_id, line from bmad.entry
            where project = $1 and seq > $2 and ($3::bigint is null or seq <= $3)
              and ($4::text is null or session = $4)
            order by seq limit $5) as page) as summed
where coalesce(before, 0) < $6
order by seq
)sql";

// $1 project, $2 seqs.
constexpr std::string_view kRows = R"sql(
select seq, replica, op, session, log, target, entry_id, line from bmad.entry
where project = $1 and seq = any ($2)
order by seq
)sql";

// $1 project. Nothing comes when the role may not push.
constexpr std::string_view kLockHead = R"sql(
select h.min_client from bmad.project p, bmad.hub h where p.project = $1 for update of p
)sql";

namespace {

// Texts as one, with a 0 at the end.
template <const std::string_view&... kTexts>
constexpr auto joined() {
  std::array<char, (kTexts.size() + ... + 1)> all{};
  auto to = all.begin();
  ((to = std::ranges::copy(kTexts, to).out), ...);
  return all;
}

// Parameters of both: $1 project, $2 replica, $3 count of rows, $4 pushed before, $5 head or null,
// $6 version of this program, and arrays of $7 sessions, $8 logs, $9 ops, $10 targets, $11 ids,
// $12 lines. Nothing comes when the counter or the head is another; else the head before the rows,
// beside each seq that was stored.
constexpr std::string_view kCount = R"sql(
with h as (
  update bmad.project set head = head + $3
  where project = $1 and ($5::bigint is null or head = $5)
    and exists (select 1 from bmad.replica r
                where r.project = $1 and r.replica = $2 and r.pushed = $4)
    and exists (select 1 from bmad.hub where min_client <= $6)
  returning head - $3 as base),
mine as (
  update bmad.replica set pushed = pushed + $3, seen_at = now()
  where project = $1 and replica = $2 and pushed = $4 and exists (select 1 from h)
  returning 1 as one),
)sql";

constexpr std::string_view kAddLines = R"sql(
added as (
  insert into bmad.entry (project, seq, replica, session, log, op, target, entry_id, line)
  select $1, h.base + u.o, $2, u.session, u.log, u.op, u.target, u.entry_id, u.line
  from h, mine, unnest($7::text[], $8::smallint[], $9::smallint[], $10::bigint[], $11::text[],
    $12::bytea[]) with ordinality as u (session, log, op, target, entry_id, line, o)
  where u.op <> 0 or not exists (select 1 from bmad.gone g
                                 where g.project = $1 and g.session = u.session
                                   and g.entry_id = u.entry_id)
  returning seq)
select h.base, added.seq from h cross join mine left join added on true
)sql";

// As kAddLines, for a batch with a purge, a redaction or a manifest. What a later row of the batch
// empties is stored empty, since a statement does not see its own rows.
constexpr std::string_view kAddChanges = R"sql(
u as (
  select u.*, h.base + u.o as seq
  from h, mine, unnest($7::text[], $8::smallint[], $9::smallint[], $10::bigint[], $11::text[],
    $12::bytea[]) with ordinality as u (session, log, op, target, entry_id, line, o)),
purged as (
  insert into bmad.gone (project, session, entry_id, seq)
  select $1, u.session, u.entry_id, min(u.seq) from u
  where u.op = 2 and not exists (select 1 from bmad.gone g
                                 where g.project = $1 and g.session = u.session
                                   and g.entry_id = u.entry_id)
  group by u.session, u.entry_id),
emptied as (
  update bmad.entry e set line = null
  from (select distinct session, entry_id from u where op = 2) as p
  where e.project = $1 and e.session = p.session and e.entry_id = p.entry_id and e.op in (0, 3)
    and e.line is not null),
redacted as (
  update bmad.entry e set line = u.line from u
  where u.op = 3 and e.project = $1 and e.line is not null
    and (e.seq = u.target or (e.entry_id = u.entry_id and e.op = 3 and e.target = u.target))
    and not exists (select 1 from u v where v.op = 3 and v.target = u.target and v.o > u.o)
    and not exists (select 1 from u p where p.op = 2 and p.session = e.session
                                        and p.entry_id = e.entry_id)),
manifests as (
  update bmad.entry e set line = null
  from (select distinct session from u where op = 6) as m
  where e.project = $1 and e.session = m.session and e.op = 6 and e.line is not null),
added as (
  insert into bmad.entry (project, seq, replica, session, log, op, target, entry_id, line)
  select $1, u.seq, $2, u.session, u.log, u.op, u.target, u.entry_id,
    case
      when u.op in (0, 3) and (
        exists (select 1 from u p where p.op = 2 and p.session = u.session
                                    and p.entry_id = u.entry_id)
        or exists (select 1 from bmad.gone g where g.project = $1 and g.session = u.session
                                               and g.entry_id = u.entry_id))
        then null
      when u.op = 3 then (select v.line from u v where v.op = 3 and v.target = u.target
                          order by v.o desc limit 1)
      when u.op = 6 and exists (select 1 from u m
                                where m.op = 6 and m.session = u.session and m.o > u.o) then null
      else u.line
    end
  from u
  where u.op <> 0 or not (
    exists (select 1 from bmad.gone g where g.project = $1 and g.session = u.session
                                        and g.entry_id = u.entry_id)
    or exists (select 1 from u p where p.op = 2 and p.session = u.session
                                   and p.entry_id = u.entry_id and p.o < u.o))
  returning seq)
select h.base, added.seq from h cross join mine left join added on true
)sql";

constexpr auto kPushText = joined<kCount, kAddLines>();
constexpr auto kPushChangesText = joined<kCount, kAddChanges>();

}  // namespace

constexpr std::string_view kPush(kPushText.data(), kPushText.size() - 1);
constexpr std::string_view kPushChanges(kPushChangesText.data(), kPushChangesText.size() - 1);

// $1 project, $2 replica, $3 cursor.
constexpr std::string_view kConfirm = R"sql(
update bmad.replica set cursor = $3, seen_at = now() where project = $1 and replica = $2
returning 1
)sql";

// $1 project, $2 replica, $3 host. Whether the replica is this role's.
constexpr std::string_view kAddReplica = R"sql(
with made as (
  insert into bmad.replica (project, replica, host)
  select $1, $2, $3
  where not exists (select 1 from bmad.replica where project = $1 and replica = $2)
  returning who)
select who = current_user from made
union all
select who = current_user from bmad.replica where project = $1 and replica = $2
)sql";

// $1 project, $2 replica. Whether it was there, and whether it went.
constexpr std::string_view kDropReplica = R"sql(
with dropped as (
  delete from bmad.replica where project = $1 and replica = $2 returning 1 as one)
select exists (select 1 from bmad.replica where project = $1 and replica = $2),
  exists (select 1 from dropped)
)sql";

// $1 project.
constexpr std::string_view kReplicas = R"sql(
select replica, who, host, cursor, pushed, seen_at from bmad.replica where project = $1
order by replica
)sql";

// $1 name.
constexpr std::string_view kAddProject = R"sql(
with made as (
  insert into bmad.project (project, name)
  select gen_random_uuid(), $1
  where not exists (select 1 from bmad.project where name = $1)
  returning project),
mine as (
  insert into bmad.member (project, who, rights)
  select project, current_user, 'admin' from made)
select project from made
union all
select project from bmad.project where name = $1
)sql";

// $1 name.
// $1 project, $2 who, $3 rights or 'none', behind kLockHead. Whether nothing was done since that is
// the last admin, and whether something was.
constexpr std::string_view kSetMember = R"sql(
with last as (
  select 1 as one from bmad.member m
  where m.project = $1 and m.who = $2 and m.rights = 'admin' and $3 <> 'admin'
    and not exists (select 1 from bmad.member o
                    where o.project = $1 and o.who <> $2 and o.rights = 'admin')),
dropped as (
  delete from bmad.member where project = $1 and who = $2 and $3 = 'none'
    and not exists (select 1 from last)
  returning 1 as one),
changed as (
  update bmad.member set rights = $3 where project = $1 and who = $2 and $3 <> 'none'
    and not exists (select 1 from last)
  returning 1 as one),
added as (
  insert into bmad.member (project, who, rights)
  select $1, $2, $3
  where $3 <> 'none' and not exists (select 1 from changed) and not exists (select 1 from last)
  returning 1 as one)
select exists (select 1 from last),
  exists (select 1 from dropped) or exists (select 1 from changed) or exists (select 1 from added)
)sql";

// $1 project.
constexpr std::string_view kMembers = R"sql(
select who, rights from bmad.member where project = $1 order by who
)sql";

// $1 version.
constexpr std::string_view kSetVersion = "update bmad.hub set version = $1";

constexpr std::string_view kNow = "select now()";

constexpr std::string_view kVacuum = "vacuum bmad.entry";

constexpr std::string_view kRewrite = "vacuum full bmad.entry";

// $1 when it began. A vacuum tells what it had to leave.
constexpr std::string_view kIsVacuumed = R"sql(
select coalesce(last_vacuum >= $1 and n_dead_tup = 0, false) from pg_stat_all_tables
where schemaname = 'bmad' and relname = 'entry'
)sql";

// $1 project. How many rows of purged entries have a line, and the seq of the last purge.
constexpr std::string_view kForgotten = R"sql(
select count(e.seq), coalesce(max(g.seq), 0)
from bmad.gone g
  left join bmad.entry e on e.project = g.project and e.session = g.session
    and e.entry_id = g.entry_id and e.op in (0, 3) and e.line is not null
where g.project = $1
)sql";

constexpr std::string_view kPolicy = "select policy from bmad.hub";

// $1 policy.
constexpr std::string_view kSetPolicy = "update bmad.hub set policy = $1";

}  // namespace bmad_mem::hub_postgres::sql
