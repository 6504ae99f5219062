/** Shared by the checks: running a tool, walking files. A check answers a list of problems; none = it passes. */
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {{ name: string, run(): Promise<string[]> }} Check */

export const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Runs a program of node_modules/.bin; what it prints is the problem when it fails.
 * @param {string} program
 * @param {string[]} args
 * @param {string} [bin]
 * @returns {Promise<string[]>}
 */
export async function tool(program, args, bin = join(root, 'node_modules/.bin')) {
  const child = spawn(join(bin, program), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return code === 0 ? [] : [output.trim() || `${program} ended with ${code}`]
}

/**
 * Paths below a folder of the repository, with forward slashes, relative to the root.
 * @param {string} folder
 * @param {string} [ending]
 * @returns {Promise<string[]>}
 */
export async function files(folder, ending = '') {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort()
}

/** @param {string} path */
export function read(path) {
  return readFile(join(root, path), 'utf8')
}

/** The Markdown files of the repository: at the top, and below docs and examples. */
export async function documents() {
  const top = (await readdir(root)).filter((name) => name.endsWith('.md'))
  return [...top, ...(await files('docs', '.md')), ...(await files('examples', '.md'))].filter(
    (path) => !path.includes('node_modules/'),
  )
}
