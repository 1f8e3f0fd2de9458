-- The tables of a hub of version 1, as 0.1 made them, and what it granted to who may read, and to who may write.
create schema bmad;

create table bmad.hub (
  one boolean primary key default true check (one),
  version int not null,
  min_client int not null,
  policy bytea not null default '');
insert into bmad.hub (version, min_client) values (1, 1);

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
  primary key (project, seq));
create index entry_id on bmad.entry (project, entry_id, seq);
create index entry_manifest on bmad.entry (project, session) where op = 6 and line is not null;

create table bmad.gone (
  project uuid,
  session text collate "C",
  entry_id text collate "C",
  seq bigint not null,
  primary key (project, session, entry_id));

create view bmad.own as
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
create policy project_push on bmad.project for update
  using (project in (select o.project from bmad.own o where o.rights <> 'read'));

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
create policy entry_push on bmad.entry for insert
  with check (project in (select o.project from bmad.own o where o.rights in ('forget', 'admin'))
              or (op not in (2, 3) and
                  project in (select o.project from bmad.own o where o.rights = 'write')));
create policy entry_forget on bmad.entry for update
  using (project in (select o.project from bmad.own o where o.rights in ('forget', 'admin')));
create policy entry_manifest on bmad.entry for update
  using (op = 6 and project in (select o.project from bmad.own o where o.rights = 'write'))
  with check (op = 6 and line is null);

create policy gone_read on bmad.gone for select
  using (project in (select o.project from bmad.own o));
create policy gone_forget on bmad.gone for insert
  with check (project in (select o.project from bmad.own o where o.rights in ('forget', 'admin')));

grant usage on schema bmad to reader, writer, forgetter, admin;
grant select on bmad.hub, bmad.project, bmad.member, bmad.own, bmad.replica, bmad.entry,
  bmad.gone to reader, writer, forgetter, admin;
grant insert, delete on bmad.replica to reader, writer, forgetter, admin;
grant update (pushed, cursor, seen_at) on bmad.replica to reader, writer, forgetter, admin;

grant insert on bmad.entry, bmad.gone to writer, forgetter, admin;
grant update (line) on bmad.entry to writer, forgetter, admin;
grant update (head) on bmad.project to writer, forgetter, admin;
