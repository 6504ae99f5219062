/** The cheap check of the mutants: every patch applies to the code as it is, and names tests that exist. */
import { readFileSync } from 'node:fs'
import { catalogue } from 'hookonce/providers'
import { providerContract, storeContract } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { mutants } from './index.mjs'
import { applied } from './mutant.mjs'

/** Titles that are not in the text of a test file, because a contract has them. */
const contracts: Readonly<Record<string, string>> = {
  'test/stores/sqlite.test.ts': titles(storeContract),
  'test/stores/postgres.test.ts': titles(storeContract),
  'test/providers/catalogue.test.ts': titles([
    ...providerContract(catalogue.stripe as never),
    ...providerContract(catalogue.github as never),
  ]),
  'test/providers/lists/payments.test.ts': readFileSync('test/providers/lists/contract.ts', 'utf8'),
}

function titles(cases: readonly { readonly name: string }[]): string {
  return cases.map(({ name }) => name).join('\n')
}

describe.each(mutants)('the mutant "$name"', ({ name, promise, changes, tests }) => {
  test('applies to the code as it is, and changes it', () => {
    expect(promise).not.toBe('')
    const texts = new Map<string, string>()
    for (const change of changes) {
      const before = texts.get(change.file) ?? readFileSync(change.file, 'utf8')
      const after = applied(before, change, name)
      expect(after).not.toBe(before)
      texts.set(change.file, after)
    }
  })

  test('names tests that exist', () => {
    expect(tests.length).toBeGreaterThan(0)
    for (const { file, title } of tests) {
      expect(title).not.toBe('')
      const known = contracts[file] ?? readFileSync(file, 'utf8')
      expect([file, title, known.includes(title)]).toEqual([file, title, true])
    }
  })
})

test('there are at least 25, each with a name of its own', () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
  expect(mutants.length).toBeGreaterThanOrEqual(25)
})
