/**
 * Three nodes on addresses of their own, each with its own line to one PostgreSQL with a synchronous standby. One node
 * is cut off, one is killed, the primary is killed and the standby promoted: nothing acknowledged is lost, nothing
 * happens twice.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from 'hookonce/postgres'
import pg from 'pg'
import { afterEach, expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { once } from '../support/database.js'
import { type Line, startLine } from '../support/line.js'
import { startPostgres, type TestPostgres } from '../support/postgres.js'
import { until } from '../support/processing.js'
import { idsBySource, type Senders, senderNames, startSenders } from '../support/senders.js'

const rounds = Number(process.env.HOOKONCE_CHAOS_ROUNDS ?? 1)
const perSecond = Number(process.env.HOOKONCE_CHAOS_RATE ?? 50)
/** Answers between one disaster and the next. */
const calm = Number(process.env.HOOKONCE_CHAOS_SECONDS ?? 1) * perSecond
const patienceMs = 60_000

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

interface Node {
  readonly line: Line
  readonly host: string
  readonly spool: string
  child: Child
  url: string
}

test(
  'a node cut off, a node killed, the primary killed and its standby promoted: all that was acknowledged is there once',
  async () => {
    for (let round = 0; round < rounds; round++) {
      await disaster(round)
      for (const close of closing.splice(0).reverse()) await close()
    }
  },
  (patienceMs + 10_000) * rounds * 3,
)

async function disaster(round: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hookonce-nodes-'))
  closing.push(() => rm(folder, { recursive: true, force: true }))
  const { primary, standby } = await pair()
  await once(primary.url, 'create table public.effects (value text not null)')
  const nodes: Node[] = []
  for (const [i, host] of ['127.0.0.2', '127.0.0.3', '127.0.0.4'].entries()) {
    const line = await startLine(primary.url, host)
    closing.push(() => line.close())
    // The third has no spool: when it cannot record, it says 503, and the sender goes to another.
    const spool = i === 2 ? '' : join(folder, `spool-${i}.db`)
    nodes.push(await start({ line, host, spool }))
  }
  const [first, second] = nodes as [Node, Node, Node]
  const senders = startSenders(roundRobin(nodes), { perSecond, retry: true })
  closing.push(() => senders.stop())

  await some(senders)
  first.line.cut(round % 2 === 0 ? 'silence' : 'refuse')
  await some(senders)
  await second.child.kill()
  await some(senders)
  await primary.kill9()
  await some(senders, calm / 2)
  await once(standby.url, 'select pg_promote()')
  for (const { line } of nodes) line.join(standby.url)
  Object.assign(second, await start(second))
  await some(senders)
  const answered = (await senders.stop()).filter(({ httpStatus }) => httpStatus < 300)

  for (const one of [first, second])
    await until(async () => (await spoolOf(one)).depth === 0, 'its spool is drained', patienceMs)
  const store = postgres({ url: standby.url, schema: 'hookonce' })
  closing.push(() => store.close())
  const sent = new Set(answered.map(({ id }) => id))
  const found = [...(await idsBySource(store)).values()].flat()
  expect(new Set(found).size).toBe(found.length)
  expect([...sent].filter((id) => !found.includes(id))).toEqual([])
  expect(answered.some(({ status }) => status === 'spooled')).toBe(true)

  await until(
    async () => (await store.stats()).every(({ recorded, succeeded }) => recorded === succeeded),
    'all is handled',
    patienceMs,
  )
  expect((await effects(standby.url)).sort()).toEqual(found.sort())
}

/** A primary whose commits wait for its standby. */
async function pair(): Promise<{ primary: TestPostgres; standby: TestPostgres }> {
  const primary = await startPostgres()
  closing.push(() => primary.remove())
  await primary.stop()
  const standby = await startPostgres({ standbyOf: primary })
  closing.push(() => standby.remove())
  await primary.restart()
  await once(primary.url, "alter system set synchronous_standby_names = 'standby'")
  await once(primary.url, 'select pg_reload_conf()')
  const admin = new pg.Client({ connectionString: primary.url })
  await admin.connect()
  const isSynchronous = async () =>
    (await admin.query("select 1 from pg_stat_replication where sync_state = 'sync'")).rowCount === 1
  await until(isSynchronous, 'the standby follows', patienceMs)
  await admin.end()
  return { primary, standby }
}

async function start(given: Pick<Node, 'line' | 'host' | 'spool'>): Promise<Node> {
  const insert = 'insert into public.effects (value) values ($1)'
  const args = [given.host, given.line.url, 'hookonce', given.spool, senderNames.join(','), insert]
  const child = startChild('./node-child.mjs', args)
  closing.push(() => child.kill())
  await child.said(1)
  return { line: given.line, host: given.host, spool: given.spool, child, url: child.lines[0]! }
}

/** As a load balancer does: the next node each time. Who gets no answer, or a bad one, tries again at the next. */
function roundRobin(nodes: readonly Node[]) {
  let turn = 0
  return async (source: string, body: Buffer) => {
    const { url } = nodes[turn++ % nodes.length]!
    try {
      const signal = AbortSignal.timeout(10_000)
      const response = await fetch(`${url}/webhooks/${source}`, { method: 'POST', body, signal })
      const { status } = (await response.json()) as { status: 'accepted' }
      return { httpStatus: response.status, status }
    } catch {
      return { httpStatus: 599, status: 'unavailable' as const }
    }
  }
}

function some(senders: Senders, count = calm): Promise<void> {
  const acked = () => senders.answered.filter(({ httpStatus }) => httpStatus < 300).length
  const from = acked()
  return until(() => acked() >= from + count, `${count} more are acknowledged`, patienceMs)
}

async function spoolOf({ child }: Node): Promise<{ depth: number }> {
  const count = child.lines.length
  child.tell('status')
  await child.said(count + 1)
  return JSON.parse(child.lines[count]!)
}

async function effects(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ value: string }>('select value from public.effects')
    return rows.map(({ value }) => value)
  } finally {
    await client.end()
  }
}
