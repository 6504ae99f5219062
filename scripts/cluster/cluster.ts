/** PostgreSQL under Patroni with etcd on three hosts, a PgBouncer on each of them, and one HAProxy in front. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { addressOf, createHosts, front, type Host, kill, names, network } from './hosts.js'

const DISK_BYTES = 600 * 1024 * 1024
const passwords = {
  superuserPassword: 'superuser',
  replicatorPassword: 'replicator',
  rewindPassword: 'rewind',
}
const packages = [
  'patroni',
  'python3-etcd',
  'etcd-server',
  'haproxy',
  'pgbouncer',
  'postgresql',
  'iproute2',
  'util-linux',
]

export interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly lag?: number | string
}

export interface Cluster {
  readonly hosts: readonly Host[]
  /** What a node connects to: HAProxy. */
  readonly url: string
  readonly versions: string
  /** The members as Patroni sees them. */
  members(): Promise<Member[]>
  primary(): Promise<Host>
  /** The standby that commits wait for. */
  synchronous(): Promise<Host>
  /** Resolves when there is a primary, and both others follow it. */
  whole(): Promise<void>
  /** A superuser's connection to the primary itself. */
  onPrimary<T>(work: (client: pg.Client) => Promise<T>): Promise<T>
  startPatroni(host: Host): void
  /** Everything on the host, as after a loss of power. */
  startAll(host: Host): void
  switchover(): Promise<void>
  stop(): Promise<void>
}

/** Installs what is missing, as root on Debian and its kin. */
export function install(): void {
  if (process.getuid?.() !== 0)
    throw new Error('The cluster run makes network namespaces and installs packages: run it as root.')
  const installed = packages.every(
    (name) => spawnSync('dpkg', ['-s', name], { stdio: 'ignore' }).status === 0,
  )
  if (installed) return
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const args = ['install', '-y', '--no-install-recommends', ...packages]
  if (spawnSync('apt-get', args, { env, stdio: 'inherit' }).status === 0) return
  spawnSync('apt-get', ['update'], { env, stdio: 'inherit' })
  if (spawnSync('apt-get', args, { env, stdio: 'inherit' }).status !== 0)
    throw new Error(`apt-get could not install ${packages.join(', ')}.`)
}

export async function startCluster(folder: string): Promise<Cluster> {
  const binDir = postgresBin()
  const { hosts, remove } = createHosts(folder, DISK_BYTES)
  let haproxy: ChildProcess | undefined

  function config(host: Host, file: string): string {
    const path = join(host.runDir, file)
    const values: Record<string, string> = {
      ...passwords,
      ...Object.fromEntries(names.map((name) => [name, addressOf(name)])),
      name: host.name,
      address: host.address,
      dataDir: join(host.disk, 'data'),
      etcdDir: join(host.runDir, 'etcd'),
      runDir: host.runDir,
      binDir,
      network,
      front,
    }
    const text = readFileSync(fileURLToPath(new URL(file, import.meta.url)), 'utf8')
    writeFileSync(
      path,
      text.replace(/\$\{(\w+)\}/g, (_, key: string) => values[key] ?? `unknown ${key}`),
    )
    chmodSync(path, 0o644)
    return path
  }
  const startEtcd = (host: Host) => host.start('etcd', ['--config-file', config(host, 'etcd.yml')])
  const startPatroni = (host: Host) => void host.start('patroni', [config(host, 'patroni.yml')])
  function startPgBouncer(host: Host): void {
    writeFileSync(join(host.runDir, 'userlist.txt'), '"hookonce" "hookonce"\n')
    host.start('pgbouncer', ['-q', config(host, 'pgbouncer.ini')])
  }

  async function members(): Promise<Member[]> {
    for (const { address } of hosts) {
      try {
        const response = await fetch(`http://${address}:8008/cluster`, { signal: AbortSignal.timeout(2_000) })
        const { members: found } = (await response.json()) as { members: Member[] }
        if (found.some(({ role }) => role === 'leader')) return found
      } catch {} // this host is away: ask the next one
    }
    return []
  }
  async function find(role: string): Promise<Host> {
    return until(`a member with the role ${role}`, async () => {
      const member = (await members()).find((one) => one.role === role)
      return hosts.find(({ name }) => name === member?.name)
    })
  }

  const cluster: Cluster = {
    hosts,
    url: `postgres://hookonce:hookonce@${front}:5000/hookonce`,
    versions: versions(binDir),
    members,
    primary: () => find('leader'),
    synchronous: () => find('sync_standby'),
    startPatroni,
    startAll(host) {
      startEtcd(host)
      startPatroni(host)
      startPgBouncer(host)
    },
    whole: () =>
      until('a primary with two standbys', async () => {
        const found = await members()
        const follow = found.filter(
          ({ role, state }) => role !== 'leader' && ['running', 'streaming'].includes(state),
        )
        return (
          found.some(({ role, state }) => role === 'leader' && state === 'running') &&
          follow.length === 2 &&
          follow.some(({ role }) => role === 'sync_standby')
        )
      }).then(() => {}),
    async onPrimary(work) {
      const { address } = await find('leader')
      const client = new pg.Client({
        connectionString: `postgres://postgres:${passwords.superuserPassword}@${address}:5432/hookonce`,
        connectionTimeoutMillis: 5_000,
      })
      client.on('error', () => {})
      await client.connect()
      try {
        return await work(client)
      } finally {
        await client.end().catch(() => {})
      }
    },
    async switchover() {
      const leader = await find('leader')
      const candidate = await find('sync_standby')
      const response = await fetch(`http://${leader.address}:8008/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
      })
      if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`)
    },
    async stop() {
      if (haproxy?.pid) kill(haproxy.pid)
      await remove()
    },
  }

  try {
    for (const host of hosts) cluster.startAll(host)
    haproxy = spawn('haproxy', ['-q', '-f', config(hosts[0]!, 'haproxy.cfg')], {
      stdio: 'ignore',
      detached: true,
    })
    await cluster.whole()
    await createDatabase(cluster)
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}

async function createDatabase({ primary }: Cluster): Promise<void> {
  const { address } = await primary()
  const client = new pg.Client({
    connectionString: `postgres://postgres:${passwords.superuserPassword}@${address}:5432/postgres`,
  })
  await client.connect()
  try {
    await client.query("create role hookonce login password 'hookonce'")
    await client.query('create database hookonce owner hookonce')
  } finally {
    await client.end()
  }
}

function postgresBin(): string {
  const root = '/usr/lib/postgresql'
  const found = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  if (found[0] === undefined) throw new Error(`No PostgreSQL server in ${root}.`)
  return join(root, found[0], 'bin')
}

function versions(binDir: string): string {
  const of = (program: string, ...args: string[]) =>
    /\d+\.[\d.]+/.exec(execFileSync(program, args, { encoding: 'utf8' }))?.[0]
  return [
    `PostgreSQL ${of(join(binDir, 'postgres'), '--version')}`,
    `Patroni ${of('patroni', '--version')}`,
    `etcd ${of('etcd', '--version')}`,
    `HAProxy ${of('haproxy', '-v')}`,
    `PgBouncer ${of('pgbouncer', '--version')}`,
    `Node ${process.versions.node}`,
  ].join(', ')
}

/** Asks until there is an answer, for three minutes at most. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false>,
  limitMs = 180_000,
): Promise<T> {
  const giveUpAt = performance.now() + limitMs
  for (;;) {
    const answer = await ask().catch(() => null)
    if (answer) return answer
    if (performance.now() > giveUpAt) throw new Error(`Gave up waiting for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
