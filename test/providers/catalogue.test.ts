import { readFile } from 'node:fs/promises'
import { catalogue } from 'hookonce/providers'
import { providerContract } from 'hookonce/testing/contracts'
import { describe, expect, test } from 'vitest'
import { kindFiles, kindsByKey } from '../support/kinds.js'

/** `HOOKONCE_PROVIDER=stripe,github` runs only these. */
const only = process.env.HOOKONCE_PROVIDER?.split(',')

const kinds = await kindsByKey()

/** How many senders each case of the contract applies to. */
const applied = new Map<string, number>()

for (const [key, factory] of Object.entries(catalogue)) {
  if (only !== undefined && !only.includes(key)) continue
  describe(key, () => {
    test('is in the catalogue under its own key', () => expect(factory.key).toBe(key))
    for (const { name, leftOut, run } of providerContract(factory as never, kinds.get(key))) {
      const bare = name.replace(/^with \w+: /, '')
      applied.set(bare, (applied.get(bare) ?? 0) + Number(leftOut === null))
      // What does not apply is left out by a fact of the sender's definition, such as "the signature has no timestamp".
      if (leftOut === null) test(name, run)
    }
  })
}

test.runIf(only === undefined)('no case of the contract is left out for everybody', () => {
  expect([...applied].filter(([, senders]) => senders === 0)).toEqual([])
})

test('every provider lists the kinds of deliveries its sender documents', () => {
  const missing = Object.keys(catalogue).filter((key) => !kinds.get(key)?.length)
  expect(missing).toEqual([])
})

test('a file of kinds has the name of its provider and exports its key', async () => {
  const named = (await kindFiles()).map(({ file, exported }) => [file, Object.keys(exported)])
  const source = await readFile(new URL('../../src/providers/catalogue.ts', import.meta.url), 'utf8')
  const files = new Map(
    [...source.matchAll(/\{ (\w+) \} from '.\/(.+)\.js'/g)].map(([, key, file]) => [`${file}.ts`, key]),
  )
  expect(named).toEqual(named.map(([file]) => [file, [files.get(file as string)]]))
})
