/**
 * Runs a configuration file, TypeScript or not, on every Node we support. In the file, `hookonce` is this very package,
 * even in a folder that has none installed.
 */
import { readFileSync } from 'node:fs'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createJiti } from 'jiti'
import { HookonceError, isHookonceError } from '../errors.js'
import { missingVariables } from './file-text.js'

export interface RunFile {
  readonly exported: unknown
  readonly files: readonly string[]
}

export async function runFile(path: string): Promise<RunFile> {
  const jiti = createJiti(`${dirname(path)}${sep}`, {
    fsCache: false,
    interopDefault: false,
    virtualModules: await ownModules(),
  })
  const before = new Set(Object.keys(jiti.cache))
  try {
    const exported = await jiti.import<Record<string, unknown> | undefined>(path)
    const files = Object.keys(jiti.cache).filter((file) => !before.has(file) && !isInstalled(file))
    return { exported: await exported?.default, files: [...new Set([path, ...files])] }
  } catch (error) {
    throw isHookonceError(error, 'ENV_MISSING') ? missingVariables(path, error) : unreadable(path, error)
  } finally {
    // The next load must read the files again.
    for (const file of Object.keys(jiti.cache)) if (!before.has(file)) delete jiti.cache[file]
  }
}

function isInstalled(file: string): boolean {
  return file.split(sep).includes('node_modules') || !file.startsWith(sep === '/' ? '/' : '')
}

let own: Promise<Record<string, unknown>> | undefined

/** A subpath whose driver is not installed is left out, and fails by name if the file imports it. */
function ownModules(): Promise<Record<string, unknown>> {
  own ??= loadOwnModules()
  return own
}

async function loadOwnModules(): Promise<Record<string, unknown>> {
  const root = new URL('../../', import.meta.url)
  const { name, exports } = JSON.parse(
    readFileSync(fileURLToPath(new URL('package.json', root)), 'utf8'),
  ) as {
    name: string
    exports: Record<string, string | { default: string }>
  }
  const modules: Record<string, unknown> = {}
  await Promise.all(
    Object.entries(exports).map(async ([subpath, entry]) => {
      // The contracts for tests are large, and nothing a configuration needs.
      if (typeof entry === 'string' || subpath === './testing') return
      const loaded = await import(new URL(entry.default, root).href).catch(() => null)
      if (loaded !== null) modules[`${name}${subpath.slice(1)}`] = loaded
    }),
  )
  return modules
}

function unreadable(path: string, error: unknown): HookonceError {
  const { message = String(error), stack = '' } = error instanceof Error ? error : {}
  const at = [message, stack]
    .map((text) => new RegExp(`${escaped(path)}:(\\d+)(?::(\\d+))?`).exec(text))
    .find((match) => match !== null)
  const problem = message
    .replace(/^ParseError: /, '')
    .split('\n', 1)[0]!
    .trim()
    .replace(/\.$/, '')
  return new HookonceError('CONFIG_UNREADABLE', { place: at ? at[0] : path, problem }, error)
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
