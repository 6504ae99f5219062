/** The faults of the black-box run. Each happens while deliveries come in, and is repaired before it returns. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Node, World } from './world.js'

export interface Fault {
  readonly name: string
  readonly on?: World['kind']
  run(world: World): Promise<void>
}

/** Longer than the lease of the workers. */
const FREEZE_MS = 4_000
const OUTAGE_MS = 3_000
const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))

export const faults: readonly Fault[] = [
  { name: 'kill -9 of a worker', run: (world) => killAndRestart(one(world, 'worker')) },
  { name: 'kill -9 of an intake process', run: (world) => killAndRestart(one(world, 'intake')) },
  {
    name: 'kill -9 of every worker',
    async run({ nodes }) {
      await Promise.all(nodes.filter(({ role }) => role === 'worker').map(killAndRestart))
    },
  },
  {
    name: 'a worker frozen beyond its lease',
    async run(world) {
      const { child } = one(world, 'worker')
      child?.kill('SIGSTOP')
      await sleep(FREEZE_MS)
      child?.kill('SIGCONT')
    },
  },
  {
    name: 'a rolling restart with another configuration',
    async run({ nodes }) {
      for (const node of nodes) {
        const { child } = node
        if (!child) continue
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
        await node.start({ concurrency: 1 + Math.floor(Math.random() * 8) })
      }
    },
  },
  {
    name: 'Redis killed and restarted empty',
    async run({ redis }) {
      await redis.kill()
      await sleep(OUTAGE_MS)
      await redis.restart()
    },
  },
  { name: 'the line to Redis silent', run: ({ redisLine }) => cut(redisLine, 'silence') },
  {
    name: 'PostgreSQL killed',
    on: 'PostgreSQL',
    async run({ server }) {
      await server!.kill9()
      await server!.restart()
    },
  },
  { name: 'PostgreSQL restarted', on: 'PostgreSQL', run: ({ server }) => server!.restart() },
  {
    name: 'PostgreSQL frozen',
    on: 'PostgreSQL',
    async run({ server }) {
      await server!.freeze()
      await sleep(FREEZE_MS)
      await server!.thaw()
    },
  },
  { name: 'the line to PostgreSQL broken', on: 'PostgreSQL', run: ({ line }) => cut(line!, 'refuse') },
  { name: 'the line to PostgreSQL silent', on: 'PostgreSQL', run: ({ line }) => cut(line!, 'silence') },
  {
    name: 'open connections to PostgreSQL half-open',
    on: 'PostgreSQL',
    async run({ line }) {
      line!.forget()
      await sleep(OUTAGE_MS)
    },
  },
  {
    name: 'a slow line to PostgreSQL',
    on: 'PostgreSQL',
    async run({ line }) {
      line!.delay(100)
      await sleep(OUTAGE_MS)
      line!.delay(0)
    },
  },
  {
    name: 'ten answers of PostgreSQL cut',
    on: 'PostgreSQL',
    async run({ proxy }) {
      for (let i = 0; i < 10; i++) await Promise.race([proxy!.cutNext('answer'), sleep(1_000)])
    },
  },
  {
    name: 'another program reads, checkpoints and copies the file',
    on: 'SQLite',
    async run({ path, folder }) {
      for (let i = 0; i < 10; i++) {
        const other = new DatabaseSync(path!)
        other.exec('pragma busy_timeout = 5000; pragma wal_checkpoint(truncate)')
        const copy = join(folder, 'copy.db')
        rmSync(copy, { force: true })
        other.exec(`vacuum into '${copy}'`)
        other.close()
        await sleep(100)
      }
    },
  },
  {
    name: 'doctor and the list of events run beside it',
    async run({ path, proxy, folder }) {
      const store = path === null ? proxy!.url : `sqlite:${path}`
      for (const command of [['doctor'], ['events', 'list']]) {
        // Only that it runs beside the others counts here: doctor has something to say about any log.
        const args = [cli, ...command, '--store', store]
        await promisify(execFile)(process.execPath, args, { cwd: folder }).catch(() => {})
      }
    },
  },
]

function one({ nodes }: World, role: Node['role']): Node {
  const all = nodes.filter((node) => node.role === role)
  return all[Math.floor(Math.random() * all.length)]!
}

async function killAndRestart(node: Node): Promise<void> {
  const { child } = node
  if (!child) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  await sleep(200)
  await node.start()
}

async function cut(line: World['redisLine'], how: 'refuse' | 'silence'): Promise<void> {
  line.cut(how)
  await sleep(OUTAGE_MS)
  line.join()
}
