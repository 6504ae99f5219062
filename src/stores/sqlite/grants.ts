import type { Grant, Granted, GrantHolder, GrantRequest, LimitState } from '../../store.js'
import {
  LEASE_GRACE_MS,
  LEASE_SLACK_MS,
  STARTS_AHEAD_MS,
  STARTS_SLACK_MS,
  UNUSED_MS,
} from '../shared/grants.js'
import type { Connection } from './connection.js'
import { rowsOf } from './rows.js'

const ofLimit = 'source = ?1 and pattern = ?2 and key = ?3'
const readLimit = `select next_start_at, paused_until from hookonce_limits where ${ofLimit}`
const writeLimit = `
  insert into hookonce_limits (source, pattern, key, next_start_at, paused_until) values (?1, ?2, ?3, ?4, ?5)
  on conflict do update set next_start_at = excluded.next_start_at, paused_until = excluded.paused_until`
const dropLimit = `
  delete from hookonce_limits where ${ofLimit} and not exists (select 1 from hookonce_grants where ${ofLimit})`
const dropLapsed = `
  delete from hookonce_grants where ${ofLimit} and holder <> ?4 and (until <= ?5 or until > ?7) and not exists (
    select 1 from hookonce_work w
    where w.source = ?1 and w.token is not null and w.worker = hookonce_grants.worker and w.next_at > ?6)`
const slotsOfOthers = `
  select coalesce(sum(slots), 0) as slots from hookonce_grants where ${ofLimit} and holder <> ?4`
const dropOwn = `delete from hookonce_grants where ${ofLimit} and holder = ?4`
const writeOwn = `
  insert into hookonce_grants (source, pattern, key, holder, worker, slots, until) values (?1, ?2, ?3, ?4, ?5, ?6, ?7)
  on conflict do update set slots = excluded.slots, until = excluded.until`
const unused = `
  select source, pattern, key from hookonce_limits
  where next_start_at < ?1 and paused_until < ?1 order by next_start_at limit 10`
const dropGrants = `delete from hookonce_grants where ${ofLimit} and until < ?4`

type TakeArgs = { readonly holder: GrantHolder; readonly requests: readonly GrantRequest[] }

export function takeGrants(log: Connection, { holder, requests }: TakeArgs): Granted {
  return log.write(() => {
    const grants = requests.map((request) => take(log, holder, request))
    // Limits that a process which died has left behind.
    const before = log.now - UNUSED_MS
    for (const { source, pattern, key } of log.all(unused, before)) {
      const name = [String(source), String(pattern), String(key)] as const
      log.run(dropGrants, ...name, before)
      log.run(dropLimit, ...name)
    }
    return { now: log.now, grants }
  })
}

function take(log: Connection, holder: GrantHolder, request: GrantRequest): Grant {
  const { slots: wantedSlots, starts: wantedStarts, pauseMs = 0 } = request
  const name = [request.source, request.pattern, request.key] as const
  const row = log.get(readLimit, ...name)
  const pausedUntil = Math.max(
    Number(row?.paused_until ?? 0),
    pauseMs > 0 ? log.now + Math.round(pauseMs) : 0,
  )
  const latest = log.now + STARTS_SLACK_MS + 2 * (wantedStarts?.spacingMs ?? Number.POSITIVE_INFINITY)
  const next = Number(row?.next_start_at ?? 0)
  const nextStartAt = next > latest ? log.now : Math.max(log.now, next)
  const slots = wantedSlots ? takeSlots(log, holder, name, wantedSlots) : 0
  const firstStartAt = Math.max(nextStartAt, pausedUntil)
  const starts =
    wantedStarts && firstStartAt <= log.now + STARTS_AHEAD_MS && wantedStarts.wanted > 0
      ? wantedStarts.wanted
      : 0
  const nextFree = starts > 0 ? firstStartAt + starts * wantedStarts!.spacingMs : nextStartAt
  const isUnused = slots === 0 && !wantedStarts && nextFree <= log.now && pausedUntil <= log.now
  if (isUnused) log.run(dropLimit, ...name)
  else log.run(writeLimit, ...name, nextFree, pausedUntil)
  return { slots, starts, firstStartAt, pausedUntil: pausedUntil > log.now ? pausedUntil : 0 }
}

function takeSlots(
  log: Connection,
  { id, worker, leaseMs }: GrantHolder,
  name: readonly [string, string, string],
  { wanted, most }: NonNullable<GrantRequest['slots']>,
): number {
  const latest = log.now + Math.max(LEASE_SLACK_MS, 2 * leaseMs)
  log.run(dropLapsed, ...name, id, log.now, log.now - LEASE_GRACE_MS, latest)
  const others = Number(log.get(slotsOfOthers, ...name, id)!.slots)
  const slots = Math.max(0, Math.min(wanted, most - others))
  if (slots === 0) log.run(dropOwn, ...name, id)
  else log.run(writeOwn, ...name, id, worker, slots, log.now + Math.round(leaseMs))
  return slots
}

const inUse = `
  select source, pattern, key, coalesce((select sum(slots) from hookonce_grants g
      where g.source = l.source and g.pattern = l.pattern and g.key = l.key), 0) as slots,
    next_start_at as nextStartAt, paused_until as pausedUntil
  from hookonce_limits l where ?1 is null or source = ?1
  order by max(paused_until, next_start_at) desc, source, pattern, key limit ?2`

type ListArgs = { readonly source?: string; readonly limit: number }

export function listLimits(log: Connection, { source, limit }: ListArgs): LimitState[] {
  return rowsOf<LimitState>(log.all(inUse, source ?? null, limit))
}
