/**
 * Intake over real HTTP with signed deliveries. Every server runs in a process of its own; the load, the servers and the
 * database share the machine. The sides are described in `sides` below.
 */
import type { Bench } from '../bench.js'
import type { Sample, Samples } from '../report/samples.js'
import { quantile } from '../report/table.js'
import type { Findings, Suite, Table } from '../suite.js'
import type { Child } from '../support/child-process.js'
import { processCpu, residentBytes, serverCpu } from '../support/cpu.js'
import { load } from '../support/load.js'
import { metaRequests, stripeRequests, withDuplicates } from '../support/requests.js'

export const sides: Readonly<Record<string, string>> = {
  bare: 'bare `node:http`',
  'no-store': 'the same with HMAC, JSON.parse and SHA-256, no store',
  'floor-sqlite': 'floor prototype, SQLite',
  'floor-postgres': 'floor prototype, PostgreSQL',
  sqlite: 'hookonce, SQLite',
  postgres: 'hookonce, PostgreSQL',
  handwritten: 'hand-written Express + pg handler',
  'pg-boss': 'pg-boss `send`',
  graphile: 'graphile-worker `addJob`',
  bullmq: 'BullMQ `add`, Redis with appendfsync always',
}

/** The variants are compared with these only: the other sides answer a question about 1 kB and 64 connections. */
const inVariants = ['bare', 'sqlite', 'postgres', 'handwritten', 'pg-boss', 'graphile', 'bullmq']

interface Variant {
  readonly name: string
  readonly connections: number
  readonly bytes: number
  /** Part of the deliveries that are resent. */
  readonly duplicates: number
}

const variants: readonly Variant[] = [
  { name: '1 connection', connections: 1, bytes: 1_000, duplicates: 0 },
  { name: '256 connections', connections: 256, bytes: 1_000, duplicates: 0 },
  { name: '20 kB', connections: 64, bytes: 20_000, duplicates: 0 },
  { name: '50 % duplicates', connections: 64, bytes: 1_000, duplicates: 0.5 },
  { name: '99 % duplicates', connections: 64, bytes: 1_000, duplicates: 0.99 },
]
const main: Variant = { name: 'all new', connections: 64, bytes: 1_000, duplicates: 0 }

export const intake: Suite = {
  name: 'intake',
  title: 'Intake over HTTP',
  minutes: 8,
  async run(bench) {
    const servers = await startServers(bench, bench.measured(Object.keys(sides)))
    const running = [...servers.keys()]
    const first = await measureVariant(bench, servers, running, main, bench.sides ? 1 : 0.45)
    if (bench.sides) return { tables: [allNew(running, first)], figures: {} }
    const others = new Map<Variant, Samples>()
    const known = inVariants.filter((side) => servers.has(side))
    for (const variant of variants)
      others.set(variant, await measureVariant(bench, servers, known, variant, 0.45 / variants.length))
    const batches = await measureBatches(bench, servers, 0.1)
    return findings(running, known, first, others, batches)
  },
}

export async function startServers(
  bench: Bench,
  wanted: readonly string[],
  node?: string,
): Promise<Map<string, { readonly child: Child; readonly port: number }>> {
  const folder = bench.folder()
  const url = await bench.database()
  if (!bench.redis && wanted.includes('bullmq'))
    bench.note('No redis-server on this machine: BullMQ is left out.')
  const started = await Promise.all(
    wanted
      .filter((side) => side !== 'bullmq' || bench.redis)
      .map(async (side) => {
        const env = {
          BENCH_SQLITE: `${folder}/${side}.db`,
          BENCH_POSTGRES: url,
          BENCH_REDIS_PORT: String(bench.redis?.port ?? 0),
        }
        const child = await bench.child(
          new URL('../sides/server-child.ts', import.meta.url),
          [side],
          env,
          node,
        )
        const { port } = await child.ask<{ port: number }>({ do: 'listen' })
        return [side, { child, port }] as const
      }),
  )
  return new Map(started)
}

type Servers = Awaited<ReturnType<typeof startServers>>

async function measureVariant(
  bench: Bench,
  servers: Servers,
  taking: readonly string[],
  { name, connections, bytes, duplicates }: Variant,
  share: number,
): Promise<Samples> {
  const seconds = bench.short ? 0.05 : taking.length > inVariants.length ? 1.5 : 1
  // More than the fastest server answers in that time: the time ends a round, not the supply. A single connection and
  // large bodies are slower.
  const most = Math.ceil(seconds * (connections === 1 ? 10_000 : bytes > 10_000 ? 12_000 : 30_000))
  // The first variant also compiles the code of the servers, which takes some thousand requests.
  const warmUpMs = taking.length > inVariants.length ? 4_000 : 400
  let requests: Buffer[] = []
  let known: Buffer[] = []
  return bench.rounds({
    title: `${name}, ${bytes.toLocaleString('en-US')} bytes, ${connections === 1 ? 'one connection' : `${connections} connections`}`,
    sides: taking,
    share,
    async prepare(round) {
      const count = round < 0 ? Math.max(most, warmUpMs * 20) : most
      const fresh = stripeRequests(Math.ceil(count * (1 - duplicates)), bytes)
      known = duplicates > 0 ? stripeRequests(bench.short ? 100 : 500, bytes) : []
      requests = duplicates > 0 ? withDuplicates(fresh, known, duplicates, count) : fresh
    },
    async measure(side, round) {
      const { port, child } = servers.get(side)!
      if (known.length > 0) await load(port, 64, known)
      const ms = round < 0 ? warmUpMs : 1_000 * seconds
      return measureLoad(bench, child.pid, side, () => load(port, connections, requests, ms))
    },
  })
}

/** Rate, latency, and the CPU time of each process for one request. */
export async function measureLoad(
  bench: Bench,
  pid: number,
  side: string,
  run: () => ReturnType<typeof load>,
): Promise<Sample> {
  const storeCpu = () =>
    side === 'bullmq' ? sumOf(processCpu(bench.redis!.pid)) : serverCpu(bench.postgres.dataDir)
  const before = { ...processCpu(pid), store: storeCpu() }
  const { count, perSecond, latenciesMs } = await run()
  const after = { ...processCpu(pid), store: storeCpu() }
  return {
    perSecond,
    p50: quantile([...latenciesMs], 0.5),
    p99: quantile([...latenciesMs], 0.99),
    main: (after.main - before.main) / count,
    others: (after.others - before.others) / count,
    store: (after.store - before.store) / count,
    rss: residentBytes(pid) / 1e6,
  }
}

const sumOf = ({ main, others }: { main: number; others: number }) => main + others

async function measureBatches(bench: Bench, servers: Servers, share: number): Promise<Map<number, Samples>> {
  const seconds = bench.short ? 0.05 : 1
  const counts = [1, 100, 1_000]
  const found = new Map<number, Samples>()
  for (const events of counts) {
    let requests: Buffer[] = []
    const samples = await bench.rounds({
      title: `${events} events in a delivery`,
      sides: ['sqlite', 'postgres'].filter((side) => servers.has(side)),
      share: share / counts.length,
      most: 5,
      async prepare() {
        requests = metaRequests(Math.ceil((seconds * 20_000) / Math.max(1, events / 3)), events)
      },
      async measure(side) {
        const { port, child } = servers.get(side)!
        const sample = await measureLoad(bench, child.pid, side, () =>
          load(port, events === 1 ? 64 : events === 100 ? 4 : 1, requests, seconds * 1_000),
        )
        return { ...sample, events: sample.perSecond! * events }
      },
    })
    found.set(events, samples)
  }
  return found
}

/** Null for a side whose store is another process. */
function storeName(side: string): '-' | null {
  return ['bare', 'no-store', 'floor-sqlite', 'sqlite'].includes(side) ? '-' : null
}

function allNew(running: readonly string[], first: Samples): Table {
  return {
    title: '64 connections, signed bodies of 1 kB, every event new',
    head: [
      'server',
      'of bare',
      'events/s',
      'range',
      'p50 ms',
      'p99 ms',
      'CPU µs: main thread',
      'other threads',
      'store',
    ],
    rows: running.map((side) => [
      sides[side]!,
      first.ratio(side, 'bare', 'perSecond'),
      first.of(side, 'perSecond'),
      first.range(side, 'perSecond'),
      first.of(side, 'p50'),
      first.of(side, 'p99'),
      first.of(side, 'main'),
      first.of(side, 'others'),
      storeName(side) ?? first.of(side, 'store'),
    ]),
  }
}

function findings(
  running: readonly string[],
  known: readonly string[],
  first: Samples,
  others: ReadonlyMap<Variant, Samples>,
  batches: ReadonlyMap<number, Samples>,
): Findings {
  const tables: Table[] = [
    allNew(running, first),
    {
      title: 'Variants: events/s',
      head: ['server', main.name, ...variants.map(({ name }) => name)],
      rows: known.map((side) => [
        sides[side]!,
        first.of(side, 'perSecond'),
        ...variants.map((variant) => others.get(variant)!.of(side, 'perSecond')),
      ]),
    },
    {
      title: 'Variants: p50 / p99 of the acknowledgement, ms',
      head: ['server', main.name, ...variants.map(({ name }) => name)],
      rows: known.map((side) => [
        sides[side]!,
        ...[first, ...variants.map((variant) => others.get(variant)!)].map(
          (samples) => `${samples.of(side, 'p50').toFixed(1)} / ${samples.of(side, 'p99').toFixed(1)}`,
        ),
      ]),
    },
    {
      title: 'Several events in a delivery (about 80 bytes each): events/s; CPU µs for an event, all threads',
      head: ['server', ...[...batches.keys()].flatMap((events) => [`${events}`, `${events}: CPU µs`])],
      rows: ['sqlite', 'postgres'].map((side) => [
        sides[side]!,
        ...[...batches].flatMap(([events, samples]) => [
          samples.of(side, 'events'),
          (samples.of(side, 'main') + samples.of(side, 'others')) / events,
        ]),
      ]),
    },
  ]
  const duplicates = others.get(variants.find((variant) => variant.duplicates === 0.99)!)!
  const figures: Record<string, number> = {}
  for (const side of running) {
    figures[`${side}.perSecond`] = first.of(side, 'perSecond')
    figures[`${side}.${main.name}`] = first.of(side, 'perSecond')
    for (const [{ name }, samples] of others) figures[`${side}.${name}`] = samples.of(side, 'perSecond')
    figures[`${side}.ofFloor`] = first.ratio(side, `floor-${side}`, 'perSecond')
    figures[`${side}.mainOfBare`] = first.ratio(side, 'bare', 'main')
    figures[`${side}.cpu`] = first.of(side, 'main') + first.of(side, 'others')
    figures[`${side}.storeCpu`] = first.of(side, 'store')
    figures[`postgres.of.${side}`] = first.ratio('postgres', side, 'perSecond')
    figures[`${side}.p99OfHandwrittenP50`] = first.of(side, 'p99') / first.of('handwritten', 'p50')
    figures[`${side}.duplicates`] = duplicates.of(side, 'perSecond') / first.of(side, 'perSecond')
  }
  return {
    tables,
    figures,
  }
}
