-- statements.sql - every statement that a hub is asked, beside those that make its tables.
--
-- Each is named by the line "--- kName" before it, and names its parameters; connection.hpp makes them.

--- kOpen
-- $1 name of the project, which may be null.
select h.version, h.min_client, current_setting('synchronous_commit'), p.project
from bmad.hub h left join bmad.project p on p.name = $1

--- kHasTables
select to_regclass('bmad.hub') is not null

--- kVersion
select version from bmad.hub

--- kHead
-- $1 project, $2 replica, which may be null.
select p.head, coalesce(r.pushed, 0), r.replica is not null, m.rights, h.version, h.min_client,
  h.policy, now(), coalesce(r.seen_at, now())
from bmad.hub h, bmad.project p
  join bmad.member m on m.project = p.project and m.who = current_user
  left join bmad.replica r on r.project = p.project and r.replica = $2
where p.project = $1

--- kPull
-- $1 project, $2 after, $3 until or null, $4 session or null, $5 most rows, $6 about most bytes.
-- The length of a line is known without reading it, so what is beyond $6 costs nothing. A first row
-- comes in any case.
select seq, replica, op, session, log, target, entry_id, line, coalesce(who,
  (select r.who from bmad.replica r where r.project = $1 and r.replica = summed.replica), '')
from (select *, sum(coalesce(octet_length(line), 0)) over
          (order by seq rows between unbounded preceding and 1 preceding) as before
      from (select seq, replica, op, session, log, target, entry_id, line, who from bmad.entry
            where project = $1 and seq > $2 and ($3::bigint is null or seq <= $3)
              and ($4::text is null or session = $4)
            order by seq limit $5) as page) as summed
where coalesce(before, 0) < $6
order by seq

--- kRows
-- $1 project, $2 seqs.
select seq, replica, op, session, log, target, entry_id, line, coalesce(who,
  (select r.who from bmad.replica r where r.project = $1 and r.replica = e.replica), '')
from bmad.entry e
where project = $1 and seq = any ($2)
order by seq

--- kLockHead
-- $1 project. For who owns the tables.
select 1 from bmad.project where project = $1 for update

--- kPush
-- The parameters of bmad.push(), in functions.sql.
select bmad.push($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

--- kDropRow
-- $1 project, $2 seq.
select bmad.drop_row($1, $2)

--- kConfirm
-- $1 project, $2 replica, $3 cursor.
update bmad.replica set cursor = $3, seen_at = now() where project = $1 and replica = $2
returning 1

--- kAddReplica
-- $1 project, $2 replica, $3 host. Whether the replica is this role's.
with made as (
  insert into bmad.replica (project, replica, host)
  select $1, $2, $3
  where not exists (select 1 from bmad.replica where project = $1 and replica = $2)
  returning who)
select who = current_user from made
union all
select who = current_user from bmad.replica where project = $1 and replica = $2

--- kDropReplica
-- $1 project, $2 replica. Whether it was there, and whether it went.
with dropped as (
  delete from bmad.replica where project = $1 and replica = $2 returning 1 as one)
select exists (select 1 from bmad.replica where project = $1 and replica = $2),
  exists (select 1 from dropped)

--- kReplicas
-- $1 project.
select replica, who, host, cursor, pushed, seen_at from bmad.replica where project = $1
order by replica

--- kAddProject
-- $1 name.
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

--- kSetMember
-- $1 project, $2 who, $3 rights or 'none', behind kLockHead. Whether nothing was done since that is
-- the last admin, and whether something was.
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

--- kMembers
-- $1 project.
select who, rights from bmad.member where project = $1 order by who

--- kIsReserved
-- $1 who. Whether that is a role, not the asker's, which no policy holds, or which is or may become
-- one of the server's own: it would see all projects, and other than by the functions.
select exists (
  select 1 from pg_roles r join pg_roles b on pg_has_role(r.oid, b.oid, 'member')
  where r.rolname = $1 and r.rolname <> current_user
    and (b.rolsuper or b.rolbypassrls or b.rolcreaterole or b.rolreplication
         or left(b.rolname, 3) = 'pg_'))

--- kNow
select now()

--- kVacuum
vacuum bmad.entry

--- kRewrite
vacuum full bmad.entry

--- kIsVacuumed
-- $1 when it began. A vacuum tells what it had to leave.
select coalesce(last_vacuum >= $1 and n_dead_tup = 0, false) from pg_stat_all_tables
where schemaname = 'bmad' and relname = 'entry'

--- kForgotten
-- $1 project. How many rows of purged entries have a line, and the seq of the last purge.
select count(e.seq), coalesce(max(g.seq), 0)
from bmad.gone g
  left join bmad.entry e on e.project = g.project and e.session = g.session
    and e.entry_id = g.entry_id and e.op in (0, 3) and e.line is not null
where g.project = $1

--- kPolicy
select policy from bmad.hub

--- kSetPolicy
-- $1 policy.
update bmad.hub set policy = $1

--- kGrants
-- {0} is a role. Which columns it may touch at all; what it writes beside them is the functions'
-- matter.
grant usage on schema bmad to {0};
grant select on bmad.hub, bmad.project, bmad.member, bmad.own, bmad.replica, bmad.entry,
  bmad.gone to {0};
grant insert, delete on bmad.replica to {0};
grant update (cursor, seen_at) on bmad.replica to {0}
