/** Documents agree with the code, and their links lead somewhere. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { picture, plot } from '../plots.mjs'
import { documents, read, root } from './run.mjs'

export const docs = {
  name: 'docs',
  async run() {
    return [
      ...(await plots()),
      ...(await errorCodes()),
      ...(await lifecycle()),
      ...(await retries()),
      ...(await architecture()),
      ...(await links()),
    ]
  },
}

/** The picture of docs/performance.md has the figures of its table. */
async function plots() {
  return (await read(picture)) === (await plot())
    ? []
    : [`${picture} differs from the table of docs/performance.md; run node scripts/plots.mjs`]
}

/** docs/errors.md has the rows of `errorTable`, and no others. */
async function errorCodes() {
  const { errorTable } = await import(join(root, 'dist/errors.js'))
  /** @type {[string, { httpStatus: number, retryable: boolean, message: string }][]} */
  const entries = Object.entries(errorTable)
  const expected = entries.map(
    ([code, { httpStatus, retryable, message }]) =>
      `| \`${code}\` | ${httpStatus} | ${retryable ? 'yes' : 'no'} | ${message} |`,
  )
  return compare('docs/errors.md', expected, /^\| `[A-Z_]+` \|/)
}

/** docs/lifecycle.md has the rows of `transitions`, and no others. */
async function lifecycle() {
  const { transitions, states } = await import(join(root, 'dist/model.js'))
  /** @type {{ from: string, to: string, by: string, when: string }[]} */
  const table = transitions
  const expected = table.map(({ from, to, by, when }) => `| ${from} | ${to} | ${by} | ${when} |`)
  return compare('docs/lifecycle.md', expected, new RegExp(`^\\| (new|${states.join('|')}) \\| `))
}

const SHOWN_ATTEMPTS = [2, 3, 6, 9, 12, 14, 16, 17, 21, 25]

/** docs/handlers.md has the waits of the default retry policy. */
async function retries() {
  const { defaultRetry, retryDelayMs } = await import(join(root, 'dist/processing/failure.js'))
  const { ageText } = await import(join(root, 'dist/duration.js'))
  /** @type {number[]} */
  const waits = []
  for (let tries = 1; tries < defaultRetry.maxAttempts; tries++)
    waits.push(retryDelayMs(defaultRetry, tries, () => 0.5))
  const expected = SHOWN_ATTEMPTS.map((attempt) => {
    const sinceMs = waits.slice(0, attempt - 1).reduce((sum, ms) => sum + ms, 0)
    return `| ${attempt} | ${ageText(waits[attempt - 2])} | ${ageText(sinceMs)} |`
  })
  return compare('docs/handlers.md', expected, /^\| \d+ \| [\d.]/)
}

/** ARCHITECTURE.md names each folder of src, and names no file that is not there. */
async function architecture() {
  const path = 'ARCHITECTURE.md'
  const text = await read(path)
  const folders = readdirSync(join(root, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `src/${name}/`)
  const inText = [...text.matchAll(/`((?:src|test|scripts|docs)\/[\w./-]+)`/g)].map(([, name = '']) => name)
  const inDiagram = [
    ...text.matchAll(/\b((?:adapters|inbox|intake|verification|processing|stores)\/[\w/-]+\.ts)/g),
  ]
    .filter(({ index }) => !/[/(]$/.test(text.slice(0, index)))
    .map(([, name = '']) => `src/${name}`)
  return [
    ...folders.filter((folder) => !inText.includes(folder)).map((folder) => `${path} lacks: ${folder}`),
    ...[...inText, ...inDiagram]
      .filter((name) => !existsSync(join(root, name)))
      .map((name) => `${path}: there is no ${name}`),
  ]
}

/**
 * @param {string} path
 * @param {string[]} expected
 * @param {RegExp} row
 */
async function compare(path, expected, row) {
  const found = (await read(path)).split('\n').filter((line) => row.test(line))
  return [
    ...expected.filter((line) => !found.includes(line)).map((line) => `${path} lacks: ${line}`),
    ...found
      .filter((line) => !expected.includes(line))
      .map((line) => `${path} has, the code has not: ${line}`),
  ]
}

/** What the npm package has besides dist; its pages must not link to anything else. */
const inPackage = /^(docs\/(?!decisions\/|internals\/)|deploy\/|(README|CHANGELOG|SECURITY)\.md$|LICENSE$)/

async function links() {
  const problems = []
  for (const path of await documents()) {
    const text = withoutCode(await read(path))
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const full = file ? join(root, dirname(path), file) : join(root, path)
      if (!existsSync(full)) problems.push(`${path}: ${target} leads nowhere`)
      else if (inPackage.test(path) && !inPackage.test(relative(root, full)))
        problems.push(`${path}: ${target} is not in the npm package`)
      else if (anchor && full.endsWith('.md') && !(await anchors(full)).includes(anchor)) {
        problems.push(`${path}: ${target}: there is no such heading`)
      }
    }
  }
  return problems
}

/** @param {string} full */
async function anchors(full) {
  const text = withoutCode(await read(full.slice(root.length)))
  return [...text.matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}

/** @param {string} text */
function withoutCode(text) {
  return text.replace(/^```[\s\S]*?^```/gm, '')
}
