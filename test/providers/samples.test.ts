import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { catalogue, defineProvider, hmacScheme } from 'hookonce/providers'
import { describe, expect, test } from 'vitest'

const run = promisify(execFile)

describe('sample bodies', () => {
  test('production does not load them; `sample` loads those of its provider', async () => {
    // The list of files is kept by the process that reads them: this one has loaded them already.
    const program = `
      import fs from 'node:fs'
      import { syncBuiltinESMExports } from 'node:module'
      const read = []
      const { readFileSync } = fs
      fs.readFileSync = (path, ...rest) => {
        read.push(String(path))
        return readFileSync(path, ...rest)
      }
      syncBuiltinESMExports()
      const samples = () => read.filter((path) => path.includes('/samples/')).map((path) => path.split('/').at(-1))

      const { createInbox } = await import('hookonce')
      const { stripe, github } = await import('hookonce/providers')
      const { sqlite } = await import('hookonce/sqlite')
      const sources = { stripe: stripe({ secret: 'whsec_0123456789abcdef' }), github: github({ secret: '0123456789abcdef' }) }
      const inbox = createInbox({ store: sqlite(':memory:'), sources })
      inbox.on('stripe', '*', () => {})
      await inbox.start()
      const body = JSON.stringify({ id: 'evt_1', type: 'invoice.paid' })
      const delivery = sources.stripe.sign({ body, now: Date.now() })
      const receipt = await inbox.receive('stripe', delivery)
      await inbox.stop()
      const production = samples()
      sources.stripe.sample({ now: 0 })
      sources.stripe.sampleTypes
      console.log(JSON.stringify({ httpStatus: receipt.httpStatus, production, afterwards: samples() }))
    `
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual({
      httpStatus: 200,
      production: [],
      afterwards: ['stripe.json'],
    })
  })

  test('no module of the package imports them', () => {
    const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.js'),
    )
    const importing = files.filter((file) =>
      /(?:from|import\()\s*['"`][^'"`]*samples\/[^'"`]*\.json/.test(readFileSync(`dist/${file}`, 'utf8')),
    )
    expect(importing).toEqual([])
  })

  test('every file of samples is used by a provider', () => {
    const files = readdirSync('src/providers/samples').map((file) => file.replace(/\.json$/, ''))
    const used = readdirSync('src/providers')
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [
        ...readFileSync(`src/providers/${file}`, 'utf8').matchAll(/sampleFile\('([\w-]+)'\)/g),
      ])
      .map(([, name]) => name)
    expect([...new Set(used)].sort()).toEqual(files.sort())
    for (const factory of Object.values(catalogue))
      expect(Object.keys(factory.definition.samples)).not.toEqual([])
  })

  test('a provider of your own may have them in its definition, or a function that loads them', () => {
    const rules = {
      key: 'acme',
      name: 'Acme',
      docs: 'https://acme.example/docs',
      confidence: 'verified',
      verify: hmacScheme({ signature: 'header:x-acme-signature', encoding: 'hex' }),
      events: { id: 'json:id', type: 'json:type' },
      retryWindowMs: null,
    } as const
    const samples = { paid: { id: '{id}', type: '{type}' } }
    let loads = 0
    const load = () => {
      loads += 1
      return samples
    }
    const secret = '0123456789abcdef'
    const lazy = defineProvider({ ...rules, samples: load })({ secret })
    expect(loads).toBe(0)
    for (const source of [defineProvider({ ...rules, samples })({ secret }), lazy]) {
      expect(source.sampleTypes).toEqual(['paid'])
      expect(source.sample({ now: 0, id: 'a' }).body).toBe('{"id":"a","type":"paid"}')
    }
    expect(loads).toBe(1)
  })
})
