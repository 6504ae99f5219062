/** Faults that once kept a node on its spool: a disk that is full, a delivery that cannot be recorded, a wrong clock. */

import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type InboxOptions, systemClock } from 'hookonce'
import { postgres } from 'hookonce/postgres'
import { metricsText } from 'hookonce/telemetry'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { freshDatabase, once } from '../support/database.js'
import { loggedInbox } from '../support/inboxes.js'
import { type Line, startLine } from '../support/line.js'
import { post, shop, until } from '../support/processing.js'

const DAY_MS = 24 * 60 * 60 * 1_000
const closing: (() => unknown)[] = []
let folder: string
let database: { url: string; drop(): Promise<unknown> }
let line: Line

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hookonce-stuck-'))
  chmodSync(folder, 0o755)
  closing.push(() => rmSync(folder, { recursive: true, force: true }))
  database = await freshDatabase()
  closing.push(() => database.drop())
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** An inbox on PostgreSQL whose connections can be cut: `line`. */
async function make(path: string, options: Partial<InboxOptions> = {}) {
  line = await startLine(database.url)
  closing.push(() => line.close())
  const store = postgres({ url: line.url })
  const made = loggedInbox({
    sources: { shop: shop(), other: shop() },
    spool: { path, after: 1_000 },
    ...options,
    store,
  })
  closing.push(
    () => store.close(),
    () => made.inbox.stop({ deadline: 0 }),
  )
  await store.migrate()
  return { ...made, store }
}

/** A folder on a disk of `size`; null where this is not allowed. */
function smallDisk(size: string): string | null {
  const path = join(folder, 'disk')
  try {
    execFileSync('mkdir', [path])
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    return null
  }
  closing.push(() => execFileSync('umount', ['-l', path]))
  return path
}

function fill(path: string): void {
  for (const chunk of [64 * 1024, 4096])
    try {
      for (;;) writeFileSync(path, Buffer.alloc(chunk), { flag: 'a' })
    } catch {}
}

test('a node whose spool is on a full disk records deliveries again when the database is back', async ({
  skip,
}) => {
  const disk = smallDisk('4m')
  if (disk === null) return skip('this user may not mount a small disk')
  const path = join(disk, 'spool.db')
  const { inbox, lines, store } = await make(path)
  expect((await post(inbox, { id: 'before' })).status).toBe('accepted')
  line.cut('refuse')
  expect((await post(inbox, { id: 'spooled' })).status).toBe('spooled')
  const filler = join(disk, 'filler')
  fill(filler)
  const big = 'x'.repeat(100_000)
  expect(await post(inbox, { id: 'refused', big })).toMatchObject({ httpStatus: 503, reason: 'SPOOL_FAILED' })
  expect((await inbox.spool!.status()).lastError).toMatch(/disk.*full|full.*disk/)
  const told = lines.filter(({ code, level }) => code === 'SPOOL_FAILED' && level === 'error')
  expect(told[0]!.msg).toContain(path)
  expect(told[0]!.msg).toMatch(/disk is full/)
  expect(told[0]!.msg).not.toMatch(/database/)

  line.join()
  for (const source of ['shop', 'other'])
    await until(
      async () => (await post(inbox, { id: `${source}-after`, big }, source)).httpStatus === 200,
      `${source} is recorded`,
    )
  await until(async () => (await store.get({ source: 'shop', id: 'spooled' })) !== null, 'spooled too')
  rmSync(filler)
  await until(async () => (await inbox.spool!.status()).depth === 0, 'the spool is empty')
  // The round that has emptied it ends a moment later.
  await until(async () => (await inbox.spool!.status()).lastError === null, 'nothing is wrong any more')
})

test('the status says that a disk is full only while it is', async ({ skip }) => {
  const disk = smallDisk('4m')
  if (disk === null) return skip('this user may not mount a small disk')
  const { inbox } = await make(join(disk, 'spool.db'))
  expect((await post(inbox, { id: 'before' })).status).toBe('accepted')
  const lastError = async () => (await inbox.spool!.status()).lastError
  await inbox.spool!.status() // creates the file
  const filler = join(disk, 'filler')
  fill(filler)
  line.cut('refuse')
  const big = 'x'.repeat(100_000)
  expect(await post(inbox, { id: 'refused', big })).toMatchObject({ httpStatus: 503, reason: 'SPOOL_FAILED' })
  expect(await lastError()).toMatch(/disk is full/)

  // Nothing is in the spool, so no delivery will be written to it or removed from it.
  line.join()
  await until(async () => (await post(inbox, { id: 'after' })).httpStatus === 200, 'recorded')
  expect(await lastError()).toMatch(/disk is full/)
  rmSync(filler)
  expect(await lastError()).toBeNull()
})

const poison = `
create function hookonce.poison() returns trigger language plpgsql as $$
begin
  if new.event_id like 'poison%' then raise insufficient_privilege using message = 'permission denied for schema hookonce'; end if;
  return new;
end $$;
create trigger poison before insert on hookonce.events for each row execute function hookonce.poison()`

test('a spooled delivery that cannot be recorded is set aside and retried, and holds up no other', async () => {
  const { inbox, lines, store } = await make(join(folder, 'spool.db'))
  const known = (eventId: string) =>
    store.get({ source: 'shop', id: eventId }).then((event) => event !== null)
  line.cut('refuse')
  for (const id of ['a', 'b', 'poison', 'c', 'd'])
    expect((await post(inbox, { id, ref: 'order-1' })).status).toBe('spooled')
  await once(database.url, poison)
  line.join()
  await until(async () => (await inbox.spool!.status()).setAside === 1, 'it is set aside')
  await until(async () => (await inbox.spool!.status()).depth === 0, 'the others are recorded')
  expect(await Promise.all(['a', 'b', 'poison', 'c', 'd'].map(known))).toEqual([
    true,
    true,
    false,
    true,
    true,
  ])
  expect((await post(inbox, { id: 'e', ref: 'order-1' })).status).toBe('accepted')
  expect((await inbox.spool!.status()).bytes).toBeGreaterThan(0)
  const [aside] = lines.filter(({ msg }) => msg.includes('set aside'))
  expect(aside).toMatchObject({ level: 'error', source: 'shop', code: 'STORE_PRIVILEGE' })
  expect(await metricsText(inbox)).toContain('hookonce_spool_set_aside_deliveries 1')

  await once(database.url, 'drop trigger poison on hookonce.events')
  await until(() => known('poison'), 'it is retried and recorded')
  await until(async () => (await inbox.spool!.status()).setAside === 0, 'it has left the spool')
  expect((await inbox.spool!.status()).bytes).toBe(0)
})

test('a new delivery that cannot be recorded does not keep the others on the spool', async () => {
  const { inbox } = await make(join(folder, 'spool.db'))
  await once(database.url, poison)
  expect((await post(inbox, { id: 'poison' })).status).toBe('spooled')
  await until(async () => (await inbox.spool!.status()).setAside === 1, 'it is set aside')
  await until(async () => (await post(inbox, { id: 'b' })).status === 'accepted', 'others are recorded')
})

for (const [days, way] of [
  [-100, 'behind'],
  [100, 'ahead'],
] as const)
  test(`a node whose clock is 100 days ${way} does not change when a spooled event was received`, async () => {
    const clock = { ...systemClock, now: () => Date.now() + days * DAY_MS }
    const { inbox, store } = await make(join(folder, 'spool.db'), { clock })
    line.cut('refuse')
    expect((await post(inbox, { id: 'a' })).status).toBe('spooled')
    line.join()
    await until(async () => (await inbox.spool!.status()).depth === 0, 'it is recorded')
    const { receivedAt } = (await store.get({ source: 'shop', id: 'a' }))!
    expect(Math.abs(Date.now() - receivedAt)).toBeLessThan(DAY_MS / 2)
  })

test('a clock that is set while deliveries are spooled changes when they were received by a day at most', async () => {
  let wrongByMs = -100 * DAY_MS
  const clock = { ...systemClock, now: () => Date.now() + wrongByMs }
  const { inbox, store } = await make(join(folder, 'spool.db'), { clock })
  line.cut('refuse')
  expect((await post(inbox, { id: 'a' })).status).toBe('spooled')
  wrongByMs = 0
  line.join()
  await until(async () => (await inbox.spool!.status()).depth === 0, 'it is recorded')
  const { receivedAt } = (await store.get({ source: 'shop', id: 'a' }))!
  expect(Date.now() - receivedAt).toBeLessThan(1.5 * DAY_MS)
})
