/** A folder in memory for the temporary files of a run: a commit there does not wait for a disk. */
import { existsSync, rmSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'

const memory = '/dev/shm'
const neededBytes = 2 * 1024 ** 3

/** Null where there is too little memory, where programs in it cannot be executed, and where there is no /dev/shm. */
export async function memoryFolder(): Promise<{ path: string; remove(): Promise<void> } | null> {
  if (!(await isUsable())) return null
  await removeLeftovers()
  const path = await mkdtemp(join(memory, `hookonce-tests-${process.pid}-`))
  // The PostgreSQL server may run as another user.
  await chmod(path, 0o755)
  // An interrupted run ends without its teardown.
  process.once('exit', () => rmSync(path, { recursive: true, force: true }))
  return { path, remove: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

async function isUsable(): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(memory)
    const mounts = await readFile('/proc/mounts', 'utf8')
    const options = mounts.split('\n').find((line) => line.split(' ')[1] === memory)
    return bavail * bsize >= neededBytes && options !== undefined && !options.includes('noexec')
  } catch {
    return false
  }
}

/** Removes the folders of runs that were killed: they would occupy memory until the machine is restarted. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(memory)) {
    const pid = /^hookonce-tests-(\d+)-/.exec(name)?.[1]
    if (pid === undefined || existsSync(`/proc/${pid}`)) continue
    await rm(join(memory, name), { recursive: true, force: true }).catch(() => {})
  }
}
