-- What PostgreSQL keeps of a hub, and who sees it.
--
-- Every key contains the project, by which a hub can be divided. The numbers in "op" are FeedOp's,
-- those in "log" EntryType's. "who" is the role that pushed a row; rows of version 1 have none.
--
-- There is no index by session: pulls of one session are rare, and it would cost each row 60 bytes.
--
-- Rights are rows of bmad.member: the policies below show a role what its rows say. Only who owns
-- the tables writes bmad.hub, bmad.project and bmad.member: then no policy stands between a mistake
-- and the rights of others. Nobody else writes the feed but by the functions of functions.sql.
-- The policies ask a view, which reads as its owner does: asking bmad.member, its own policy would
-- never end. The view is a barrier: a function of the asker's sees no row of others.
create schema bmad;

create table bmad.hub (
  one boolean primary key default true check (one),
  version int not null,
  min_client int not null,
  policy bytea not null default '');
insert into bmad.hub (version, min_client) values (2, 2);

create table bmad.project (
  project uuid primary key,
  name text not null unique,
  head bigint not null default 0,
  created_at timestamptz not null default now());

create table bmad.member (
  project uuid,
  who text,
  rights text not null check (rights in ('read', 'write', 'forget', 'admin')),
  primary key (project, who));

create table bmad.replica (
  project uuid,
  replica uuid,
  who text not null default current_user,
  host text not null,
  pushed bigint not null default 0,
  cursor bigint not null default 0,
  seen_at timestamptz not null default now(),
  primary key (project, replica));

create table bmad.entry (
  project uuid,
  seq bigint,
  replica uuid not null,
  session text collate "C" not null,
  log smallint not null,
  op smallint not null,
  target bigint not null default 0,
  entry_id text collate "C" not null,
  codec smallint not null default 0,
  line bytea,
  pushed_at timestamptz not null default now(),
  who text,
  primary key (project, seq));
create index entry_id on bmad.entry (project, entry_id, seq);
create index entry_manifest on bmad.entry (project, session) where op = 6 and line is not null;

create table bmad.gone (
  project uuid,
  session text collate "C",
  entry_id text collate "C",
  seq bigint not null,
  primary key (project, session, entry_id));

create view bmad.own with (security_barrier) as
  select project, rights from bmad.member where who = current_user;

alter table bmad.hub enable row level security;
alter table bmad.project enable row level security;
alter table bmad.member enable row level security;
alter table bmad.replica enable row level security;
alter table bmad.entry enable row level security;
alter table bmad.gone enable row level security;

create policy hub_read on bmad.hub for select using (true);

create policy member_read on bmad.member for select
  using (who = current_user or
         project in (select o.project from bmad.own o where o.rights = 'admin'));

create policy project_read on bmad.project for select
  using (project in (select o.project from bmad.own o));

create policy replica_read on bmad.replica for select
  using (project in (select o.project from bmad.own o));
create policy replica_join on bmad.replica for insert
  with check (who = current_user and
              project in (select o.project from bmad.own o));
create policy replica_own on bmad.replica for update
  using (who = current_user);
create policy replica_leave on bmad.replica for delete
  using (who = current_user or
         project in (select o.project from bmad.own o where o.rights = 'admin'));

create policy entry_read on bmad.entry for select
  using (project in (select o.project from bmad.own o));

create policy gone_read on bmad.gone for select
  using (project in (select o.project from bmad.own o));
