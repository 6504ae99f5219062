/** The faults of the cluster run. Each one ends when the cluster is whole again. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Cluster, until } from './cluster.js'
import { kill } from './hosts.js'

export interface Fault {
  readonly name: string
  readonly what: string
  run(cluster: Cluster): Promise<void>
}

const pause = (seconds: number) => new Promise<void>((resolve) => setTimeout(resolve, seconds * 1_000))

export const faults: readonly Fault[] = [
  { name: 'none', what: 'no fault, for comparison', run: () => pause(10) },
  {
    name: 'switchover',
    what: 'planned switchover to the synchronous standby',
    run: (cluster) => cluster.switchover(),
  },
  {
    name: 'primary',
    what: 'kill -9 of the primary',
    async run(cluster) {
      const host = await cluster.primary()
      // The first process of the server is the one with the data directory in its arguments.
      for (const pid of host.pids(/bin\/postgres -D /)) kill(pid)
      await pause(2)
    },
  },
  {
    name: 'patroni',
    what: "kill -9 of the primary's Patroni; PostgreSQL goes on without it, then Patroni returns",
    async run(cluster) {
      const host = await cluster.primary()
      for (const pid of host.pids(/\/patroni /)) kill(pid)
      await another(cluster, host.name)
      await pause(5)
      cluster.startPatroni(host)
    },
  },
  {
    name: 'host',
    what: 'kill -9 of everything on the host of the primary; the old primary comes back',
    async run(cluster) {
      const host = await cluster.primary()
      for (const pid of host.pids(/./)) kill(pid)
      await another(cluster, host.name)
      await pause(5)
      rmSync(join(host.disk, 'data', 'postmaster.pid'), { force: true })
      cluster.startAll(host)
    },
  },
  {
    name: 'cut',
    what: 'the primary is cut off from everything; the old primary comes back',
    async run(cluster) {
      const host = await cluster.primary()
      host.cut('all')
      await another(cluster, host.name)
      await pause(5)
      host.join()
    },
  },
  {
    name: 'split',
    what: 'the primary is cut off from the other database hosts; the nodes still reach it',
    async run(cluster) {
      const host = await cluster.primary()
      host.cut('others')
      await another(cluster, host.name)
      await pause(5)
      host.join()
    },
  },
  {
    name: 'disk',
    what: 'the disk of the synchronous standby is full',
    async run(cluster) {
      const host = await cluster.synchronous()
      const ballast = join(host.disk, 'ballast')
      try {
        spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M'], { stdio: 'ignore' })
        // The standby stops when it cannot store the next segment of the log: make the primary begin a new one.
        for (let n = 0; n < 4; n++) {
          await cluster.onPrimary((client) => client.query('select pg_switch_wal()')).catch(() => {})
          await pause(2)
        }
        await until('another synchronous standby', async () => {
          const member = (await cluster.members()).find(({ role }) => role === 'sync_standby')
          return member !== undefined && member.name !== host.name
        })
      } finally {
        rmSync(ballast, { force: true })
      }
    },
  },
]

async function another(cluster: Cluster, name: string): Promise<void> {
  await until(`a primary other than ${name}`, async () =>
    (await cluster.members()).some(
      (member) => member.role === 'leader' && member.state === 'running' && member.name !== name,
    ),
  )
}
