/** npm run check: all checks except the tests, or those whose names are given. Needs a build. */
import { catalogueDocument } from './checks/catalogue.mjs'
import { dashboardTypes } from './checks/dashboard.mjs'
import { docs } from './checks/docs.mjs'
import { exported } from './checks/exports.mjs'
import { imports } from './checks/imports.mjs'
import { licences } from './checks/licences.mjs'
import { lint } from './checks/lint.mjs'
import { nextBuild } from './checks/next.mjs'
import { reference } from './checks/reference.mjs'
import { site } from './checks/site.mjs'
import { snippets } from './checks/snippets.mjs'
import { types } from './checks/types.mjs'
import { words } from './checks/words.mjs'

const wanted = process.argv.slice(2)
/** @type {readonly import('./checks/run.mjs').Check[]} */
const all = [
  types,
  dashboardTypes,
  lint,
  imports,
  words,
  docs,
  catalogueDocument,
  reference,
  licences,
  snippets,
  site,
  exported,
  nextBuild,
]
const unknown = wanted.filter((word) => !all.some(({ name }) => name.includes(word)))
if (unknown.length > 0) {
  console.error(
    `There is no check named ${unknown.join(' or ')}. Checks: ${all.map(({ name }) => name).join(', ')}.`,
  )
  process.exit(2)
}
const checks = all.filter(({ name }) => wanted.length === 0 || wanted.some((word) => name.includes(word)))

const rows = []
for (const { name, run } of checks) {
  const start = Date.now()
  const problems = await run().catch((error) => [String(error?.stack ?? error)])
  const seconds = ((Date.now() - start) / 1_000).toFixed(1)
  console.log(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds} s)`)
  for (const problem of problems) console.log(problem.replace(/^/gm, '         '))
  rows.push({ check: name, result: problems.length === 0 ? 'ok' : 'failed', seconds })
}
console.table(rows)
const failed = rows.filter((row) => row.result === 'failed')
console.log(
  failed.length === 0 ? 'All checks pass.' : `Failed: ${failed.map((row) => row.check).join(', ')}.`,
)
process.exitCode = failed.length === 0 ? 0 : 1
