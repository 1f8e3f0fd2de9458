
-- The feed is written by these functions alone, which look at the rights of the role that calls. A
-- function runs as who owns the tables, so that no policy holds it; who may call it is decided in
-- it. "role" is set where a role acts as another one.

-- $1 project, $2 replica, $3 pushed before, $4 head or null, $5 version of the program, and arrays
-- of $6 sessions, $7 logs, $8 ops, $9 targets, $10 ids, $11 lines. Nothing comes when the counter
-- or the head is another; else the head before the rows, then each seq that was stored.
--
-- The lock on the project is held until the commit, so the order of seqs is the order of commits,
-- and who reads by cursor misses none. Each statement behind it sees all that was pushed before:
-- no line of an entry that was purged meanwhile is stored, and a purge misses no line. A statement
-- of an older snapshot would not, so that isolation is refused.
create function bmad.push(uuid, uuid, bigint, bigint, int, text[], smallint[], smallint[], bigint[],
                          text[], bytea[])
  returns setof bigint language plpgsql security definer set search_path = pg_catalog, pg_temp
as $push$
declare
  my_role text := coalesce(nullif(current_setting('role'), 'none'), session_user);
  my_rights text;
  my_base bigint;
  redacted record;
begin
  perform 1 from bmad.project p where p.project = $1 for update;
  select m.rights into my_rights from bmad.member m where m.project = $1 and m.who = my_role;
  if coalesce(my_rights, 'read') = 'read'
     or current_setting('transaction_isolation') <> 'read committed'
     or (my_rights = 'write' and $8 && '{2, 3}')
     or exists (select 1 from bmad.replica r
                where r.project = $1 and r.replica = $2 and r.who <> my_role) then
    raise insufficient_privilege using message =
      'this role may not push these rows as this replica; an admin of the project can change that';
  end if;
  if exists (select 1 from unnest($7, $8, $9, $11) as u (log, op, target, line)
             where u.log not between 0 and 7 or u.op not between 0 and 6
               or (u.op in (0, 3, 6) and u.line is null) or (u.op = 3 and u.target < 1)) then
    raise invalid_parameter_value using message =
      'a row is of no known kind, or lacks its line or its target';
  end if;
  update bmad.replica r set pushed = r.pushed + cardinality($6), seen_at = now()
  where r.project = $1 and r.replica = $2 and r.pushed = $3
    and exists (select 1 from bmad.hub h where h.min_client <= $5)
    and exists (select 1 from bmad.project p where p.project = $1 and p.head = coalesce($4, p.head));
  if not found then
    return;
  end if;
  update bmad.project p set head = p.head + cardinality($6) where p.project = $1
  returning p.head - cardinality($6) into my_base;
  return next my_base;
  if $8 && '{2}' then
    insert into bmad.gone (project, session, entry_id, seq)
    select $1, u.session, u.entry_id, min(my_base + u.o)
    from unnest($6, $8, $10) with ordinality as u (session, op, entry_id, o)
    where u.op = 2 and not exists (select 1 from bmad.gone g
                                   where g.project = $1 and g.session = u.session
                                     and g.entry_id = u.entry_id)
    group by u.session, u.entry_id;
  end if;
  return query
    insert into bmad.entry (project, seq, replica, session, log, op, target, entry_id, line, who)
    select $1, my_base + u.o, $2, u.session, u.log, u.op, u.target, u.entry_id,
      case when g.seq is null or u.op not in (0, 3) then u.line end, my_role
    from unnest($6, $7, $8, $9, $10, $11) with ordinality
        as u (session, log, op, target, entry_id, line, o)
      left join bmad.gone g on g.project = $1 and g.session = u.session and g.entry_id = u.entry_id
    where u.op <> 0 or coalesce(g.seq > my_base + u.o, true)
    returning seq;
  if $8 && '{2}' then
    update bmad.entry e set line = null
    from bmad.entry u
    where u.project = $1 and u.seq > my_base and u.op = 2 and e.project = $1
      and e.session = u.session and e.entry_id = u.entry_id and e.op in (0, 3)
      and e.line is not null;
  end if;
  if $8 && '{3}' then  -- In the order of the feed: the last one stays.
    for redacted in select u.* from bmad.entry u
                    where u.project = $1 and u.seq > my_base and u.op = 3 and u.line is not null
                    order by u.seq loop
      update bmad.entry e set line = redacted.line, who = my_role
      where e.project = $1 and e.line is not null and e.seq < redacted.seq
        and (e.seq = redacted.target or (e.entry_id = redacted.entry_id and e.op = 3
                                         and e.target = redacted.target));
    end loop;
  end if;
  if $8 && '{6}' then
    update bmad.entry e set line = null
    from bmad.entry u
    where u.project = $1 and u.seq > my_base and u.op = 6 and e.project = $1
      and e.session = u.session and e.op = 6 and e.seq < u.seq and e.line is not null;
  end if;
end
$push$;

-- $1 project, $2 seq of a row that no mirror can apply. Whether it was there.
create function bmad.drop_row(uuid, bigint)
  returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp
as $drop$
begin
  if not exists (select 1 from bmad.member m
                 where m.project = $1 and m.rights = 'admin'
                   and m.who = coalesce(nullif(current_setting('role'), 'none'), session_user)) then
    raise insufficient_privilege using message = 'only an admin of the project drops rows';
  end if;
  delete from bmad.entry e where e.project = $1 and e.seq = $2;
  return found;
end
$drop$;
