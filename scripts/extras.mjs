/**
 * Packages that only some tests and checks need. Each folder of extras/ has its own package.json and lock file, is
 * installed on first use, and its packages are linked into node_modules, where every import finds them.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'

/** @typedef {'apps' | 'checks' | 'queues' | 'sdks'} ExtraGroup */

// Copies of the repository that tests make share node_modules with it by a link.
const modules = realpathSync(fileURLToPath(new URL('../node_modules', import.meta.url)))
const extras = join(dirname(modules), 'extras')

/**
 * Installs groups of extras/ unless they are installed already. Throws if that fails.
 * @param {...ExtraGroup} groups
 */
export async function installExtras(...groups) {
  for (const group of groups) {
    if (isReady(group)) continue
    const unlock = await lock(group)
    try {
      if (!isInstalled(group)) await install(group)
      for (const name of namesOf(group)) link(group, name)
    } finally {
      unlock()
    }
  }
}

/**
 * The path of a package of a group, which has its own dependencies beside it.
 * @param {ExtraGroup} group @param {string} name
 */
export function extraPath(group, name) {
  return join(extras, group, 'node_modules', name)
}

/** @param {ExtraGroup} group */
function isReady(group) {
  return isInstalled(group) && namesOf(group).every((name) => isLinked(group, name))
}

/** @param {ExtraGroup} group */
function isInstalled(group) {
  const mark = markOf(group)
  return (
    existsSync(mark) &&
    readFileSync(mark, 'utf8') === digestOf(group) &&
    namesOf(group).every((name) => existsSync(join(extraPath(group, name), 'package.json')))
  )
}

/** @param {ExtraGroup} group */
async function install(group) {
  const folder = join(extras, group)
  try {
    await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: 1 << 26 })
  } catch (error) {
    const { message, stdout } = /** @type {Error & { stdout: string }} */ (error)
    throw new Error(
      `The packages of extras/${group} could not be installed; the npm registry is needed once.\n${message}${stdout}`,
    )
  }
  await writeFile(markOf(group), digestOf(group))
}

/** @param {ExtraGroup} group @param {string} name */
function link(group, name) {
  if (isLinked(group, name)) return
  const place = join(modules, name)
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(
      `${name} is in node_modules and in extras/${group}; run npm ci to remove it from node_modules.`,
    )
  rmSync(place, { force: true })
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(relative(dirname(place), extraPath(group, name)), place)
}

/** @param {ExtraGroup} group @param {string} name */
function isLinked(group, name) {
  const place = join(modules, name)
  return existsSync(place) && realpathSync(place) === realpathSync(extraPath(group, name))
}

/**
 * One process at a time. The system releases the lock of a SQLite file when its holder dies.
 * @param {ExtraGroup} group
 */
async function lock(group) {
  const database = new DatabaseSync(join(extras, group, '.lock.db'))
  for (;;) {
    try {
      database.exec('begin exclusive')
      return () => database.close()
    } catch (error) {
      if (!/locked|busy/i.test(String(error))) throw error
      await sleep(200)
    }
  }
}

/** @param {ExtraGroup} group @returns {string[]} */
function namesOf(group) {
  return Object.keys(JSON.parse(readFileSync(join(extras, group, 'package.json'), 'utf8')).dependencies)
}

/** @param {ExtraGroup} group */
function markOf(group) {
  return join(extras, group, 'node_modules', '.installed')
}

/** @param {ExtraGroup} group */
function digestOf(group) {
  return createHash('sha256')
    .update(readFileSync(join(extras, group, 'package-lock.json')))
    .digest('hex')
}
