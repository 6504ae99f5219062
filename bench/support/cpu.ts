/** CPU time and memory of processes, from /proc. On other systems every figure is NaN. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const MICROSECONDS_A_TICK = 10_000

export interface ProcessCpu {
  /** Microseconds so far of the thread that runs JavaScript. */
  readonly main: number
  /** Of all other threads: workers, the thread pool, the garbage collector, the compiler. */
  readonly others: number
}

export function processCpu(pid: number): ProcessCpu {
  try {
    let main = 0
    let others = 0
    for (const tid of readdirSync(`/proc/${pid}/task`)) {
      // The first field: nanoseconds on a CPU.
      const used = Number(readFileSync(`/proc/${pid}/task/${tid}/schedstat`, 'utf8').split(' ')[0]) / 1_000
      if (Number(tid) === pid) main = used
      else others += used
    }
    return { main, others }
  } catch {
    return { main: Number.NaN, others: Number.NaN }
  }
}

/** Of a PostgreSQL server with all its processes, including those that have ended. */
export function serverCpu(dataDir: string): number {
  try {
    const postmaster = Number(readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    let ticks = 0
    for (const pid of readdirSync('/proc')) {
      if (!/^\d+$/.test(pid)) continue
      const { parent, own, ended } = timesOf(pid)
      if (Number(pid) === postmaster) ticks += own + ended
      else if (parent === postmaster) ticks += own
    }
    return ticks * MICROSECONDS_A_TICK
  } catch {
    return Number.NaN
  }
}

/**
 * Microseconds so far of everything on this machine that this process has not started, with the time that the host of a
 * virtual machine took away. The times of programs that end in between count twice for a moment, so a difference may be
 * slightly below zero.
 */
export function foreignCpu(): number {
  try {
    // user nice system idle iowait irq softirq steal
    const all = readFileSync('/proc/stat', 'utf8')
      .split('\n', 1)[0]!
      .trim()
      .split(/\s+/)
      .slice(1, 9)
      .map(Number)
    const busy = all.reduce((sum, ticks) => sum + ticks, 0) - all[3]! - all[4]!
    const times = new Map<number, ReturnType<typeof timesOf>>()
    for (const pid of readdirSync('/proc')) if (/^\d+$/.test(pid)) times.set(Number(pid), timesOf(pid))
    let own = 0
    for (const [pid, { own: used, ended }] of times) if (isOurs(pid, times)) own += used + ended
    return (busy - own) * MICROSECONDS_A_TICK
  } catch {
    return Number.NaN
  }
}

function isOurs(pid: number, times: ReadonlyMap<number, { readonly parent: number }>): boolean {
  for (let at = pid; at > 1; at = times.get(at)?.parent ?? 0) if (at === process.pid) return true
  return false
}

/** Bytes of memory that the process occupies now. */
export function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1_024
  } catch {
    return Number.NaN
  }
}

/** From /proc/<pid>/stat, whose second field may contain spaces and parentheses. Ignores a process that has ended. */
function timesOf(pid: string): { parent: number; own: number; ended: number } {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return { parent: 0, own: 0, ended: 0 }
  }
  const fields = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  return { parent: fields[1]!, own: fields[11]! + fields[12]!, ended: fields[13]! + fields[14]! }
}
