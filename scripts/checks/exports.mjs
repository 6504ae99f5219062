/** What users can import: it is in the package, it has types, tools agree, and a document speaks of it. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { extraPath, installExtras } from '../extras.mjs'
import { documents, read, root, tool } from './run.mjs'

export const exported = {
  name: 'exports',
  async run() {
    await installExtras('checks')
    const pkg = JSON.parse(await read('package.json'))
    return [...(await ownChecks(pkg)), ...(await publintProblems(pkg)), ...(await attw())]
  },
}

/** @param {{ name: string, exports: Record<string, string | Record<string, string>> }} pkg */
async function ownChecks(pkg) {
  const problems = []
  const texts = await Promise.all((await documents()).map(read))
  for (const [subpath, entry] of Object.entries(pkg.exports)) {
    if (subpath === './package.json') continue
    const targets = typeof entry === 'string' ? { default: entry } : entry
    if (!targets.types) problems.push(`${subpath} has no types`)
    for (const target of Object.values(targets)) {
      if (!existsSync(join(root, target))) problems.push(`${subpath} points to ${target}, which is not built`)
    }
    const name = subpath === '.' ? pkg.name : `${pkg.name}/${subpath.slice(2)}`
    // As an import or between backticks: the bare name of the package is in every sentence.
    const mentioned = new RegExp(`['"\`]${name.replace(/[/.]/g, '\\$&')}['"\`]`)
    if (!texts.some((text) => mentioned.test(text))) problems.push(`no document mentions ${name}`)
  }
  return problems
}

/** @param {Record<string, any>} pkg */
async function publintProblems(pkg) {
  const { publint } = await import('publint')
  const { formatMessage } = await import('publint/utils')
  const { messages } = await publint({ pkgDir: root, strict: true })
  return messages.map((message) => `publint: ${formatMessage(message, pkg)}`)
}

async function attw() {
  const format = ['--no-color', '--no-emoji', '--format', 'ascii']
  return tool('attw', ['--pack', '.', '--profile', 'esm-only', ...format], extraPath('checks', '.bin'))
}
