/**
 * The floor on PostgreSQL: the least work that records an event once and durably. One statement for all deliveries that
 * arrived while the previous commit ran, one commit under way, ledger, body and work row.
 *
 * Duties of hookonce that it omits: limits of body size, time and memory; every sender but one; conflicts and
 * replayed content; several events in a delivery; references and lanes; partitions of payloads; counters for statistics;
 * the audit of duplicates; recognising its own rows after a resend; a batch that fails because of one row; reconnecting;
 * the spool; encryption; metrics, traces and logs; a graceful end.
 */
import type { Server } from 'node:http'
import pg from 'pg'
import { type Checked, checkedServer } from '../sides/http.js'
import { gather } from './gather.js'

const schema = `
  create schema floor;
  create table floor.ledger (seq bigint generated always as identity primary key, event_id text collate "C" not null unique,
    event_type text not null, content_hash bytea not null, received_at timestamptz not null default now());
  create table floor.bodies (seq bigint primary key, body bytea not null);
  create table floor.work (seq bigint primary key, next_at timestamptz not null);
  create index on floor.work (next_at, seq)`

const insert = `
  with given as (select * from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[]) as g (event_id, event_type, content_hash, body)),
  ledger as (
    insert into floor.ledger (event_id, event_type, content_hash) select event_id, event_type, content_hash from given
    on conflict do nothing returning seq, event_id
  ),
  bodies as (insert into floor.bodies select seq, body from ledger join given using (event_id)),
  work as (insert into floor.work select seq, now() from ledger)
  select event_id from ledger`

export async function postgresFloor(): Promise<Server> {
  const client = new pg.Client({ connectionString: process.env.BENCH_POSTGRES! })
  await client.connect()
  await client.query(schema)
  const record = gather(async (events: readonly Checked[]) => {
    await client.query({
      name: 'floor',
      text: insert,
      values: [
        events.map((event) => event.id),
        events.map((event) => event.type),
        events.map((event) => event.contentHash),
        events.map((event) => event.body),
      ],
    })
  })
  return checkedServer(record)
}
