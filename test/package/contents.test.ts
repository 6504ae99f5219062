import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Packed, packPackage } from '../support/packed.js'

let packed: Packed
let files: string[]
let home: string
beforeAll(async () => {
  packed = await packPackage()
  home = join(await packed.project({}), 'node_modules/hookonce')
  files = readdirSync(home, { recursive: true, encoding: 'utf8' })
})
afterAll(() => packed.remove())

test('the package with the dashboard has at most 1.75 MB', () => {
  expect(statSync(packed.tarball).size).toBeLessThan(1_750_000)
})

test('the package has no source maps, because it has no sources', () => {
  expect(files.filter((name) => name.endsWith('.map'))).toEqual([])
})

test('every document that the code names is in the package', () => {
  const code = files.filter((name) => name.startsWith('dist/') && name.endsWith('.js'))
  const named = new Set(
    code.flatMap((name) => readFileSync(join(home, name), 'utf8').match(/\bdocs\/[\w./-]+\.md/g) ?? []),
  )
  expect(named).toContain('docs/reference/options.md')
  // Comments name pages for contributors too, which are not in the package.
  const forUsers = [...named].filter((name) => !/^docs\/(decisions|internals)\//.test(name))
  expect(forUsers.filter((name) => !files.includes(name))).toEqual([])
})

test('the package can be found, and says which versions of Node can import and require it', () => {
  const pkg = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
  expect(pkg.keywords).toContain('webhooks')
  // `require` of an ES module works from these versions on, without a warning. `npm run test:nodes` runs them.
  expect(pkg.engines.node).toBe('^20.19.0 || ^22.13.0 || >=24.0.0')
})
