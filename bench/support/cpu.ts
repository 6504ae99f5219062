/** CPU time of a PostgreSQL server with all its processes, on Linux. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const MICROSECONDS_A_TICK = 10_000

/** Microseconds so far, including processes that have ended; NaN on other systems. */
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
