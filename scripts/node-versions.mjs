/**
 * Other versions of Node, for scripts that run the packed package on them. They come from the npm registry
 * (`node-<platform>-<arch>`, which needs no install script) into node_modules/.cache, so nothing is added to the lock file.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const cache = fileURLToPath(new URL('../node_modules/.cache/hookonce-nodes', import.meta.url))

/**
 * The folder with the program `node` of a version, such as `22`, `22.13.0` or `newest`.
 * @param {string} version
 * @returns {Promise<string>}
 */
export async function installNode(version) {
  const name = `node-${process.platform}-${process.arch}`
  const wanted = version === 'newest' ? await newest(name) : version
  const folder = join(cache, wanted)
  const bin = join(folder, 'node_modules', name, 'bin')
  if (!existsSync(bin)) {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    await npm(folder, process.env, ['install', `${name}@${wanted}`])
  }
  return bin
}

/** @param {string} name */
async function newest(name) {
  const { stdout } = await run('npm', ['view', name, 'version'])
  return stdout.trim()
}

/**
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} args
 */
export function npm(cwd, env, args) {
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  // Of npm's own Node, so that an old npm beside the tested Node is not asked.
  const cli = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js')
  const [file, before] = existsSync(cli) ? [process.execPath, [cli]] : ['npm', []]
  return run(file, [...before, ...args, ...quiet], { cwd, env, timeout: 600_000 })
}
