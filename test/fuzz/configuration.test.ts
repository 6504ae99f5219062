/** Configurations and options of any shape: a list of problems or a clear error, never another one. */
import fc from 'fast-check'
import { isHookonceError } from 'hookonce'
import { catalogue } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'
import { configKeys, configProblems } from '#dist/config/check.js'
import { fuzzRuns } from './runs.js'

const key = fc.oneof(fc.constantFrom(...configKeys.flatMap((path) => path.split('.'))), fc.string())
const value = fc.oneof(
  fc.anything({
    withNullPrototype: true,
    withDate: true,
    withMap: true,
    withBigInt: true,
    withSparseArray: true,
  }),
  fc.constantFrom(
    '',
    '1h',
    '30d',
    '-1',
    'sqlite::memory:',
    'https://example.com',
    Number.NaN,
    -1,
    0,
    2 ** 53,
  ),
  fc.func(fc.anything()),
  fc.constant(Symbol('x')),
)
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3 },
    value,
    fc.dictionary(key, tie('tree'), { maxKeys: 6 }),
    fc.array(tie('tree'), { maxLength: 3 }),
  ),
}))

describe('a configuration', () => {
  test('is a list of problems, each a sentence that quotes no value', () => {
    const secret = 'whsec_this-must-not-be-quoted'
    const hidden = tree.map((inside) => inside)
    fc.assert(
      fc.property(fc.oneof(hidden, fc.dictionary(key, fc.oneof(tree, fc.constant(secret)))), (config) => {
        const problems = configProblems(config)
        expect(Array.isArray(problems)).toBe(true)
        for (const problem of problems) {
          expect(problem.length).toBeGreaterThan(10)
          expect(problem).not.toContain(secret)
        }
        if (config === null || typeof config !== 'object' || !('store' in config))
          expect(problems).not.toEqual([])
      }),
      { numRuns: fuzzRuns(300), examples: [[{ server: { port: Object.create(null) } }]] },
    )
  })
})

describe('the options of a provider', () => {
  const names = [
    'secret',
    'publicKey',
    'url',
    'mode',
    'tolerance',
    'id',
    'type',
    'order',
    'conflict',
    'each',
    'in',
    'rearm',
  ]
  const options = fc.oneof(fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tree), tree)
  for (const factory of Object.values(catalogue)) {
    test(`${factory.key}: a source, or an error with a code`, () => {
      fc.assert(
        fc.property(options, (given) => {
          try {
            const source = (factory as unknown as (options: unknown) => { verify: unknown })(given)
            expect(typeof source.verify).toBe('function')
          } catch (error) {
            if (!isHookonceError(error)) throw error
            expect(error.message).toContain(factory.key)
          }
        }),
        { numRuns: fuzzRuns(10, 100) },
      )
    })
  }
})
