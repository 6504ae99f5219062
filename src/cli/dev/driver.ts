/**
 * Node 20 has no SQLite, and `npx hookonce dev` cannot bring an optional package along. `dev` then installs the driver into
 * `.hookonce/`, without its install script: the package has built programs. Other commands in the folder find it there.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { hasDriver, SQLITE_PACKAGE } from '../../stores/sqlite/driver.js'
import { Failure } from '../failure.js'
import type { Output } from '../output.js'
import { folder, makeFolder } from './folder.js'

const INSTALL_MS = 180_000

export async function ensureDriver(output: Output): Promise<void> {
  if (hasDriver()) return
  makeFolder()
  const { peerDependencies } = createRequire(import.meta.url)('hookonce/package.json') as {
    readonly peerDependencies: Readonly<Record<string, string>>
  }
  const wanted = `${SQLITE_PACKAGE}@${peerDependencies[SQLITE_PACKAGE]}`
  output.say(`Node ${process.versions.node} has no SQLite: installing ${wanted} into ${folder}/ ...`)
  const options = ['install', wanted, '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund']
  // `npx` and `npm run` name their npm, which also works where `npm` is a script (Windows).
  const own = process.env.npm_execpath
  const [program, args] = own ? [process.execPath, [own, ...options]] : ['npm', options]
  try {
    await promisify(execFile)(program, args, { timeout: INSTALL_MS })
  } catch (error) {
    throw new Failure(
      `${SQLITE_PACKAGE} could not be installed (${firstLine(error)}). Run: npm install ${SQLITE_PACKAGE}, or use Node 22.13 or newer.`,
    )
  }
}

function firstLine(error: unknown): string {
  const { stderr = '', message } = error as Error & { stderr?: string }
  const lines = `${stderr}\n${message}`.split('\n').filter((line) => /error|ENO|E4|ETIMEDOUT/i.test(line))
  return (lines[0] ?? 'npm failed').slice(0, 200)
}
