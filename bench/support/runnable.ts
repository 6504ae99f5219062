/**
 * The modules of child processes as JavaScript. A loader of TypeScript would make each start slower, and occupy memory and
 * a thread in the processes that are measured. Packages are not bundled.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

/** Inside the repository: a child imports the package by its name. */
const folder = fileURLToPath(new URL(`../.build/${process.pid}`, import.meta.url))
const built = new Map<string, string>()

/** The path of the module in JavaScript. `import.meta.url` in it and in what it imports is the URL of `module`. */
export function runnable(module: URL): string {
  const path = fileURLToPath(module)
  if (path.endsWith('.mjs')) return path
  const known = built.get(path)
  if (known) return known
  if (built.size === 0) process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, basename(path).replace(/\.ts$/, '.mjs'))
  buildSync({
    entryPoints: [path],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    define: { 'import.meta.url': JSON.stringify(module.href) },
  })
  built.set(path, outfile)
  return outfile
}
