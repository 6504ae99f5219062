/**
 * Programs that are not ours and open a SQLite file with a library of their own: the `sqlite3` shell and Python. Those
 * that are installed are used; `scripts/services.mjs` sees to it that one is.
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface OtherProgram {
  readonly name: string
  /** Opens the file, runs one statement, closes it. Resolves with the first column of the first row. */
  sql(path: string, statement: string): Promise<string>
  /** An online backup, as administrators take it. */
  backup(path: string, to: string): Promise<void>
}

const sqlite3 = process.env.HOOKONCE_TEST_SQLITE3 ?? 'sqlite3'
const shell: OtherProgram = {
  name: sqlite3,
  sql: async (path, statement) =>
    (await run(sqlite3, ['-cmd', '.timeout 10000', path, statement])).stdout.split(/[|\n]/)[0]!,
  async backup(path, to) {
    await run(sqlite3, ['-cmd', '.timeout 10000', path, `.backup '${to}'`])
  },
}

const python: OtherProgram = {
  name: 'python3',
  sql: async (path, statement) => (await script('sql', path, statement)).split('\n')[0]!,
  async backup(path, to) {
    await script('backup', path, to)
  },
}

const code = `
import sqlite3, sys
verb, path, given = sys.argv[1:]
db = sqlite3.connect(path, timeout=10, isolation_level=None)
if verb == 'sql':
    row = db.execute(given).fetchone()
    print('' if row is None else row[0])
else:
    to = sqlite3.connect(given)
    db.backup(to)
    to.close()
db.close()
`

async function script(...args: string[]): Promise<string> {
  return (await run('python3', ['-c', code, ...args])).stdout
}

export const otherPrograms: readonly OtherProgram[] = [shell, python].filter(
  ({ name }) =>
    existsSync(name) || (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, name))),
)

/** Files a process writes to although their names are gone. Empty where there is no /proc. */
export function deletedFilesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .map((fd) => {
      try {
        return readlinkSync(join(folder, fd))
      } catch {
        return ''
      }
    })
    .filter((target) => /\.db.*\(deleted\)$/.test(target))
}
