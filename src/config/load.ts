import { existsSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { HookonceError } from '../errors.js'
import { configProblems } from './check.js'
import type { HookonceConfig } from './define.js'
import { type Environment, withEnvironment } from './environment.js'
import { literalSecrets } from './file-text.js'
import { runFile } from './run-file.js'

export interface LoadOptions {
  /** Default: the first of `configNames` in `cwd`. */
  readonly path?: string
  readonly cwd?: string
  readonly env?: Environment
}

export interface LoadedConfig {
  readonly config: HookonceConfig
  readonly path: string
  /** The file and its relative imports. */
  readonly files: readonly string[]
  /** Problems that do not stop the start. */
  readonly warnings: readonly string[]
}

const configNames = ['hookonce.config.ts', 'hookonce.config.js', 'hookonce.config.mjs'] as const

export async function loadConfig(options: LoadOptions = {}): Promise<LoadedConfig> {
  const { cwd = process.cwd(), env = process.env } = options
  const path = options.path === undefined ? findConfig(cwd) : resolve(cwd, options.path)
  if (!existsSync(path)) throw new HookonceError('CONFIG_MISSING', { path })
  const { exported, files } = await runFile(path)
  if (exported === undefined) {
    const problem = 'it has no default export; write export default defineConfig({ ... })'
    throw new HookonceError('CONFIG_INVALID', { path, problem })
  }
  const { config, problems } = withEnvironment(exported, env)
  const all = [...configProblems(config), ...problems]
  const unused = all.length > 0 || config.store !== (exported as HookonceConfig).store
  if (unused) await closeStore((exported as Partial<HookonceConfig>).store)
  if (all.length > 0) throw new HookonceError('CONFIG_INVALID', { path, problem: all.join('; ') })
  const warnings = files.flatMap(warningsIn)
  return { config: config as unknown as HookonceConfig, path, files, warnings }
}

async function closeStore(store: unknown): Promise<void> {
  if (typeof store !== 'object' || store === null || !('close' in store)) return
  if (typeof store.close === 'function') await store.close().catch(() => {})
}

function findConfig(cwd: string): string {
  const names = configNames.map((name) => resolve(cwd, name))
  const found = names.filter((path) => existsSync(path))
  if (found.length > 1) {
    const problem = `${found.map((path) => basename(path)).join(' and ')} are both there; keep one`
    throw new HookonceError('CONFIG_INVALID', { path: cwd, problem })
  }
  return found[0] ?? names[0]!
}

function warningsIn(path: string): string[] {
  return literalSecrets(readFileSync(path, 'utf8')).map(
    ({ line, name }) =>
      `${path}:${line} has a secret written in it (${name}). Keep it in the environment: env('NAME_OF_A_VARIABLE') from 'hookonce'.`,
  )
}
