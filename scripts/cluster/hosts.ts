/**
 * Hosts of the cluster run: network namespaces on a bridge, each with a small disk of its own (tmpfs). Everything that
 * runs in a namespace can be found and ended through it, whoever started it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chownSync, closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const NETWORK = '10.91.76'
export const network = `${NETWORK}.0/24`
/** The address of the bridge: HAProxy and the nodes are there. */
export const front = `${NETWORK}.1`
export const names = ['db1', 'db2', 'db3'] as const
export type HostName = (typeof names)[number]
export const addressOf = (name: HostName): string => `${NETWORK}.1${names.indexOf(name) + 1}`

export interface Host {
  readonly name: HostName
  readonly address: string
  /** On the small disk. */
  readonly disk: string
  /** Configuration files, logs and sockets. */
  readonly runDir: string
  /** Starts a program on the host as the user of the database; its output goes to a file in `runDir`. */
  start(program: string, args: readonly string[]): ChildProcess
  /** The processes of the host whose command line matches. */
  pids(pattern: RegExp): number[]
  /** `all`: nothing gets in or out. `others`: only the other database hosts are out of reach. */
  cut(from: 'all' | 'others'): void
  join(): void
}

export interface Hosts {
  readonly hosts: readonly Host[]
  /** Ends every process of the hosts, and removes them with their network and their disks. */
  remove(): Promise<void>
}

const run = (program: string, ...args: string[]) =>
  execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

export function createHosts(folder: string, diskBytes: number): Hosts {
  const id = `ho${process.pid}`
  const undo: (() => void)[] = []
  const uid = Number(run('id', '-u', 'postgres'))
  const gid = Number(run('id', '-g', 'postgres'))

  function createHost(name: HostName): Host {
    const space = `${id}-${name}`
    const cable = `${id}${name}`
    const address = addressOf(name)
    const disk = join(folder, name, 'disk')
    const runDir = join(folder, name, 'run')
    mkdirSync(disk, { recursive: true })
    mkdirSync(runDir, { recursive: true })
    run('mount', '-t', 'tmpfs', '-o', `size=${diskBytes},mode=700,uid=${uid},gid=${gid}`, 'hookonce', disk)
    undo.push(() => run('umount', '-l', disk))
    chownSync(runDir, uid, gid)
    run('ip', 'netns', 'add', space)
    undo.push(() => run('ip', 'netns', 'del', space))
    run('ip', 'link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space)
    run('ip', 'link', 'set', cable, 'master', id, 'up')
    run('ip', '-n', space, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    run('ip', '-n', space, 'link', 'set', 'lo', 'up')
    run('ip', '-n', space, 'link', 'set', 'eth0', 'up')

    const others = names.filter((other) => other !== name).map((other) => `${addressOf(other)}/32`)
    let isCut = false
    return {
      name,
      address,
      disk,
      runDir,
      start(program, args) {
        const log = openSync(join(runDir, `${program}.out`), 'a')
        const as = ['--reuid', 'postgres', '--regid', 'postgres', '--init-groups']
        const child = spawn('ip', ['netns', 'exec', space, 'setpriv', ...as, program, ...args], {
          stdio: ['ignore', log, log],
          env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: runDir, LANG: 'C.UTF-8' },
          detached: true, // a Ctrl-C in the terminal must not end it before the run is over
        })
        closeSync(log)
        return child
      },
      pids: (pattern) => pidsOf(space).filter((pid) => pattern.test(commandOf(pid))),
      cut(from) {
        isCut = true
        if (from === 'all') run('ip', 'link', 'set', cable, 'down')
        else for (const other of others) run('ip', '-n', space, 'route', 'add', 'blackhole', other)
      },
      join() {
        if (!isCut) return
        isCut = false
        run('ip', 'link', 'set', cable, 'up')
        for (const other of others) {
          try {
            run('ip', '-n', space, 'route', 'del', 'blackhole', other)
          } catch {} // it was cut from all, without routes
        }
      },
    }
  }

  async function remove(): Promise<void> {
    for (let tries = 0; tries < 50; tries++) {
      const left = names.flatMap((name) => pidsOf(`${id}-${name}`))
      if (left.length === 0) break
      for (const pid of left) kill(pid)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    for (const step of undo.splice(0).reverse()) {
      try {
        step()
      } catch (error) {
        console.error(`cleaning up: ${error instanceof Error ? error.message : error}`)
      }
    }
  }

  try {
    run('ip', 'link', 'add', id, 'type', 'bridge')
    undo.push(() => run('ip', 'link', 'del', id))
    run('ip', 'addr', 'add', `${front}/24`, 'dev', id)
    run('ip', 'link', 'set', id, 'up')
    return { hosts: names.map(createHost), remove }
  } catch (error) {
    void remove()
    throw error
  }
}

function pidsOf(space: string): number[] {
  try {
    return run('ip', 'netns', 'pids', space).split('\n').filter(Boolean).map(Number)
  } catch {
    return [] // the namespace is gone
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

export function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {} // it has ended
}
