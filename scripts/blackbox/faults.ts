/** The faults of the black-box run. Each happens while deliveries come in, and is repaired before it returns. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Line } from '../../test/support/line.js'
import { handlerFaults } from './handler-faults.js'
import { otherPrograms } from './other-programs.js'
import { handled, probeId, recorded, sendUntil } from './probes.js'
import type { Node } from './processes.js'
import { spoolFaults } from './spool-faults.js'
import type { World } from './world.js'

export interface Fault {
  readonly name: string
  readonly on?: World['kind']
  /** Two faults of one round touch different things. */
  readonly touches: 'processes' | 'senders' | 'redis' | 'database' | 'log'
  /** Why it cannot happen in this world; null when it can. */
  cannot?(world: World): string | null
  /** Throws when something outside the verdicts is wrong, for example a backup that cannot be read. */
  run(world: World, random: () => number): Promise<void>
}

/** Longer than the lease of the workers. */
const FREEZE_MS = 4_000
const OUTAGE_MS = 3_000

const processes: readonly Omit<Fault, 'touches'>[] = [
  { name: 'kill -9 of a worker', run: (world, random) => one(world, 'worker', random).restart('SIGKILL') },
  {
    name: 'kill -9 of an intake process',
    run: (world, random) => one(world, 'intake', random).restart('SIGKILL'),
  },
  {
    name: 'kill -9 of every worker',
    async run({ nodes }) {
      await Promise.all(nodes.filter(({ role }) => role === 'worker').map((node) => node.restart('SIGKILL')))
    },
  },
  {
    name: 'a worker frozen beyond its lease',
    run: (world, random) => one(world, 'worker', random).freeze(FREEZE_MS),
  },
  {
    name: 'an intake process frozen',
    run: (world, random) => one(world, 'intake', random).freeze(FREEZE_MS),
  },
  {
    name: 'a rolling restart with another configuration',
    async run({ nodes }, random) {
      for (const node of nodes)
        await node.restart('SIGTERM', {
          concurrency: 1 + Math.floor(random() * 8),
          leaseMs: 1_500 + Math.floor(random() * 1_500),
        })
    },
  },
]

/** The lines between senders and intake processes. */
const senders: readonly Omit<Fault, 'touches'>[] = [
  {
    name: 'connections of senders reset',
    async run({ nodes }) {
      for (let i = 0; i < 10; i++) {
        for (const { line } of nodes) line?.reset()
        await sleep(200)
      }
    },
  },
  {
    name: 'the line of senders silent',
    run: (world, random) => cut(one(world, 'intake', random).line!, 'silence'),
  },
  {
    name: 'connections of senders half-open',
    async run(world, random) {
      one(world, 'intake', random).line!.forget()
    },
  },
  {
    name: 'a slow line of senders',
    run: (world, random) => slow(one(world, 'intake', random).line!),
  },
]

const redis: readonly Omit<Fault, 'touches'>[] = [
  {
    name: 'Redis killed and restarted empty',
    async run({ redis }) {
      await redis.kill()
      await sleep(OUTAGE_MS)
      await redis.restart()
    },
  },
  { name: 'Redis flushed', run: ({ redis }) => redis.flush() },
  {
    name: 'Redis frozen',
    async run({ redis }) {
      redis.freeze()
      await sleep(OUTAGE_MS)
      redis.thaw()
    },
  },
  { name: 'the line to Redis broken', run: ({ redisLine }) => cut(redisLine, 'refuse') },
  { name: 'the line to Redis silent', run: ({ redisLine }) => cut(redisLine, 'silence') },
  { name: 'a slow line to Redis', run: ({ redisLine }) => slow(redisLine) },
  {
    name: 'connections to Redis half-open',
    async run({ redisLine }) {
      redisLine.forget()
    },
  },
]

const database: readonly Omit<Fault, 'touches'>[] = [
  {
    name: 'PostgreSQL killed',
    async run({ server }) {
      await server!.kill9()
      await server!.restart()
    },
  },
  { name: 'PostgreSQL restarted', run: ({ server }) => server!.restart() },
  {
    name: 'PostgreSQL frozen',
    async run({ server }) {
      await server!.freeze()
      await sleep(FREEZE_MS)
      await server!.thaw()
    },
  },
  { name: 'the line to PostgreSQL broken', run: ({ line }) => cut(line!, 'refuse') },
  { name: 'the line to PostgreSQL silent', run: ({ line }) => cut(line!, 'silence') },
  { name: 'a slow line to PostgreSQL', run: ({ line }) => slow(line!) },
  {
    name: 'connections to PostgreSQL reset',
    async run({ line }) {
      for (let i = 0; i < 10; i++) {
        line!.reset()
        await sleep(200)
      }
    },
  },
  {
    name: 'connections to PostgreSQL half-open',
    async run({ line }) {
      line!.forget()
    },
  },
  {
    name: 'ten answers of PostgreSQL cut',
    async run({ proxy }) {
      for (let i = 0; i < 10; i++) await Promise.race([proxy!.cutNext('answer'), sleep(1_000)])
    },
  },
  {
    name: 'ten answers to COMMIT cut',
    async run({ proxy }) {
      for (let i = 0; i < 10; i++) await Promise.race([proxy!.cutNext('commit'), sleep(1_000)])
    },
  },
  {
    name: 'an isolation level above read committed',
    async run(world, random) {
      const level = random() < 0.5 ? 'repeatable read' : 'serializable'
      world.set('serializable', true)
      await forAllSessions(world, `set default_transaction_isolation = '${level}'`)
      const lane = Array.from({ length: 10 }, probeId)
      for (const id of lane) await sendUntil(world, id, 'ordered', recorded, 'isolation')
      await handled(world, lane, `at ${level}`)
      world.set('serializable', false)
      await forAllSessions(world, 'reset default_transaction_isolation')
    },
  },
  {
    name: 'the clock of the server an hour back',
    async run(world) {
      const workers = world.nodes.filter(({ role }) => role === 'worker')
      const waiting = Array.from({ length: 10 }, probeId)
      const stepped = (async () => {
        for (const id of waiting) await sendUntil(world, id, 'once', recorded)
        await world.sql(clockThatIs("- interval '1 hour'"))
      })()
      await Promise.all([stepped, ...workers.map((node) => node.freeze(stepped))])
      await handled(world, waiting, 'an hour back')
      await world.sql(clockThatIs(''))
    },
  },
]

/** Changes a setting of the database, and ends the sessions that have the old one. */
async function forAllSessions({ sql }: World, setting: string): Promise<void> {
  await sql(`alter database postgres ${setting}`)
  await sql(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  )
}

/** The log asks this function for the time. */
const clockThatIs = (wrong: string) =>
  `create or replace function hookonce.clock() returns timestamptz language sql stable
   as $$ select statement_timestamp() ${wrong} $$`

export const faults: readonly Fault[] = [
  ...processes.map((fault) => ({ ...fault, touches: 'processes' as const })),
  ...senders.map((fault) => ({ ...fault, touches: 'senders' as const })),
  ...redis.map((fault) => ({
    ...fault,
    touches: 'redis' as const,
    cannot: (world: World) =>
      world.redis.own ? null : 'the Redis server was given and is not ours to disturb',
  })),
  ...database.map((fault) => ({ ...fault, touches: 'database' as const, on: 'PostgreSQL' as const })),
  ...spoolFaults.map((fault) => ({ ...fault, touches: 'database' as const, on: 'PostgreSQL' as const })),
  ...handlerFaults.map((fault) => ({ ...fault, touches: 'processes' as const })),
  ...otherPrograms.map((fault) => ({ ...fault, touches: 'log' as const })),
]

function one({ nodes }: World, role: Node['role'], random: () => number): Node {
  const all = nodes.filter((node) => node.role === role)
  return all[Math.floor(random() * all.length)]!
}

async function cut(line: Line, how: 'refuse' | 'silence'): Promise<void> {
  line.cut(how)
  await sleep(OUTAGE_MS)
  line.join()
}

async function slow(line: Line): Promise<void> {
  line.delay(100)
  await sleep(OUTAGE_MS)
  line.delay(0)
}
