/** Documents agree with the code, and their links lead somewhere. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { documents, read, root } from './run.mjs'

export const docs = {
  name: 'documents',
  async run() {
    return [...(await errorCodes()), ...(await lifecycle()), ...(await architecture()), ...(await links())]
  },
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

async function links() {
  const problems = []
  for (const path of await documents()) {
    const text = withoutCode(await read(path))
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const full = file ? join(root, dirname(path), file) : join(root, path)
      if (!existsSync(full)) problems.push(`${path}: ${target} leads nowhere`)
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
