/**
 * docs/internals/licences.md lists the packages that are installed with hookonce, from the lock file.
 * `node scripts/checks/licences.mjs` writes it.
 */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { read, root } from './run.mjs'

const path = 'docs/internals/licences.md'
/** Licences that may be used in a program of any licence. */
const permissive = ['MIT', 'ISC', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', '0BSD']

export const licences = {
  name: 'licences',
  async run() {
    const packages = await runTimePackages()
    const problems = packages
      .filter(({ licence }) => !permissive.includes(licence))
      .map(
        ({ name, licence }) =>
          `${name} has the licence ${licence}, which is not in the list of permissive ones`,
      )
    if ((await read(path).catch(() => '')) !== page(packages))
      problems.push(`${path} differs from the lock file; run node scripts/checks/licences.mjs`)
    return problems
  },
}

/**
 * The dependencies and theirs; optional peers are the choice of the user.
 * @returns {Promise<{ name: string, version: string, licence: string }[]>}
 */
async function runTimePackages() {
  const { packages } = JSON.parse(await read('package-lock.json'))
  const found = new Map()
  const waiting = Object.keys(packages[''].dependencies)
  for (const name of waiting) {
    const entry = packages[`node_modules/${name}`]
    if (found.has(name)) continue
    found.set(name, { name, version: entry.version, licence: entry.license ?? 'unknown' })
    waiting.push(...Object.keys(entry.dependencies ?? {}))
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** @param {{ name: string, version: string, licence: string }[]} packages */
function page(packages) {
  const rows = packages.map(({ name, version, licence }) => `| \`${name}\` | ${version} | ${licence} |`)
  return `# Licences

hookonce has the licence MIT. These packages are installed with it; the page is generated from the lock file and compared
with it by \`npm run check\`. Optional packages, such as \`pg\`, are installed by you. The packages that
the dashboard was built from are not in this list.

| package | version | licence |
|---|---|---|
${rows.join('\n')}
`
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await writeFile(join(root, path), page(await runTimePackages()))
