/** Single trials against small endpoints that are wrong in ways the examples are not. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox, type Source } from 'hookonce'
import { nodeHandler } from 'hookonce/node'
import { catalogue, github, type ProviderFactory, stripe } from 'hookonce/providers'
import { afterEach, describe, expect, test } from 'vitest'
import { type ExamineOptions, isLoopback } from '#dist/check/exam.js'
import { examination } from '#dist/check/examine.js'
import { countIn } from '#dist/check/probe.js'
import type { Report } from '#dist/check/report.js'
import { secretOf } from '../support/inboxes.js'

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

const secret = secretOf('check')
const own = stripe({ secret })

type Receive = (raw: Buffer, request: IncomingMessage, effects: string[]) => number | Promise<number>

/** An endpoint of a few lines with a probe at /effects. */
async function endpoint(receive: Receive): Promise<{ url: string; probe: string; effects: string[] }> {
  const effects: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.url === '/effects') return response.end(`${effects.length}`)
    const status = await Promise.resolve(receive(Buffer.concat(chunks), request, effects)).catch(() => 500)
    if (status === 0) request.socket.destroy()
    else response.writeHead(status).end()
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: `${base}/hooks`, probe: `${base}/effects`, effects }
}

async function examined(options: Partial<ExamineOptions> & { url: string }): Promise<Report> {
  return examination({
    source: own,
    waitMs: 500,
    timeoutMs: 60_000,
    ...options,
  }).run()
}

const trial = (report: Report, name: string) => report.trials.find((one) => one.name === name)!
const genuine = async (raw: Buffer, request: IncomingMessage) =>
  (
    await own.verify(
      { method: 'POST', url: '', headers: request.headers as Record<string, string>, body: raw },
      { now: Date.now() },
    )
  ).ok
const idIn = (raw: Buffer) => JSON.parse(raw.toString()).id as string

/** Verifies and deduplicates by id; a base to be wrong on. */
function careful(effects: string[], id: string): number {
  if (!effects.includes(id)) effects.push(id)
  return 200
}

describe('what an endpoint does wrong is named', () => {
  test.each([
    [
      'takes anything',
      'tampered',
      'no_verification',
      (raw, _request, effects) => careful(effects, idIn(raw)),
    ],
    [
      'only looks whether a signature is there',
      'forged',
      'no_verification',
      (raw, request, effects) => (request.headers['stripe-signature'] ? careful(effects, idIn(raw)) : 401),
    ],
    [
      'throws on a signature it cannot read',
      'mangled',
      'verifier_crashes',
      async (raw, request, effects) => {
        if (request.headers['stripe-signature'] === 'x') return 500
        return (await genuine(raw, request)) ? careful(effects, idIn(raw)) : 401
      },
    ],
    [
      'hangs up on a signature it cannot read',
      'mangled',
      'verifier_crashes',
      async (raw, request, effects) => {
        if (request.headers['stripe-signature'] === 'x') return 0
        return (await genuine(raw, request)) ? careful(effects, idIn(raw)) : 401
      },
    ],
    [
      'does not look at the time',
      'stale',
      'no_timestamp_check',
      async (raw, request, effects) => {
        const [, at] = /t=(\d+)/.exec(String(request.headers['stripe-signature'])) ?? []
        const headers = request.headers as Record<string, string>
        const verdict = await own.verify(
          { method: 'POST', url: '', headers, body: raw },
          { now: Number(at) * 1_000 },
        )
        return verdict.ok ? careful(effects, idIn(raw)) : 401
      },
    ],
    [
      'compares bytes and not ids',
      'conflict',
      'dedupe_by_content',
      (raw, _request, effects) => careful(effects, raw.toString()),
    ],
    [
      'answers 409 to a duplicate',
      'again',
      'duplicate_refused',
      (raw, _request, effects) => (effects.includes(idIn(raw)) ? 409 : careful(effects, idIn(raw))),
    ],
    [
      'forgets after 30 ms',
      'later',
      'short_dedupe',
      (() => {
        const seen = new Set<string>()
        return (raw, _request, effects) => {
          const id = idIn(raw)
          if (seen.has(id)) {
            // The repeat is known; only then does the forgetting begin.
            setTimeout(() => seen.delete(id), 30)
            return 200
          }
          seen.add(id)
          effects.push(id)
          return 200
        }
      })(),
    ],
  ] satisfies [string, string, string, Receive][])('%s', async (_what, only, fault, receive) => {
    const { url, probe } = await endpoint(receive)
    const report = await examined({ url, probe, only: [only] })
    expect(report.faults.map((one) => one.fault)).toEqual([fault])
    expect(trial(report, only)).toMatchObject({ result: 'fail', fault })
    expect(report.ok).toBe(false)
  })

  test('acknowledges, and nothing comes of it', async () => {
    const { url, probe } = await endpoint(() => 200)
    const report = await examined({ url, probe, only: ['again'] })
    expect(trial(report, 'accepts')).toMatchObject({ result: 'fail', fault: 'no_effect' })
    // The probe is not believed after that.
    expect(trial(report, 'again')).toMatchObject({ result: 'unknown' })
  })

  test('answers too late', async () => {
    const { url } = await endpoint(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return 200
    })
    const report = await examined({
      url,
      source: { ...own, answer: { ...own.answer, timeLimitMs: 10 } },
      only: ['answer-time'],
    })
    expect(trial(report, 'answer-time')).toMatchObject({ result: 'fail', fault: 'slow_ack' })
    const silent = await endpoint(() => new Promise(() => {}))
    const gaveUp = await examined({ url: silent.url, timeoutMs: 100, only: ['again'] })
    expect(trial(gaveUp, 'accepts')).toMatchObject({ fault: 'slow_ack' })
  })

  test('acknowledges an event it then fails, and never tries again', async () => {
    let failNext = false
    const { url, probe } = await endpoint((raw, request, effects) => {
      if (request.url === '/fault') {
        failNext = true
        return 204
      }
      if (failNext) failNext = false
      else careful(effects, idIn(raw))
      return 200
    })
    const fault = new URL('/fault', url).href
    const report = await examined({ url, probe, fault, only: ['failure'] })
    expect(trial(report, 'failure')).toMatchObject({ result: 'fail', fault: 'lost_after_ack' })
  })

  test('does not accept a valid event: the rest is not held', async () => {
    const { url } = await endpoint(() => 403)
    const report = await examined({ url })
    expect(report.faults.map(({ fault }) => fault)).toEqual(['rejects_valid'])
    expect(report.requests).toBe(1)
    expect(new Set(report.trials.slice(1).map(({ result }) => result))).toEqual(new Set(['unknown']))
    const gone = await examined({ url: 'http://127.0.0.1:9/hooks', only: ['again'] })
    expect(trial(gone, 'accepts')).toMatchObject({ fault: 'unreachable' })
  })
})

describe('nothing is guessed', () => {
  test('without a probe a double effect is unknown, not passed; strict makes that a failure', async () => {
    const { url } = await endpoint(() => 200)
    const only = ['again', 'burst-10', 'conflict', 'later']
    const report = await examined({ url, only })
    expect(report.trials.map(({ result }) => result)).toEqual([
      'pass',
      'unknown',
      'unknown',
      'unknown',
      'unknown',
    ])
    expect(report.ok).toBe(true)
    expect((await examined({ url, only, strict: true })).ok).toBe(false)
  })

  test('a strict schema is not taken for a signature over other bytes', async () => {
    const { url } = await endpoint((raw) => ('hookonce_check' in JSON.parse(raw.toString()) ? 422 : 200))
    expect(trial(await examined({ url, only: ['spelling'] }), 'spelling')).toMatchObject({
      result: 'unknown',
    })
  })

  test('an event with two effects is not a double effect', async () => {
    const { url, probe } = await endpoint((raw, _request, effects) => {
      if (!effects.includes(idIn(raw))) effects.push(idIn(raw), `${idIn(raw)} receipt`)
      return 200
    })
    const report = await examined({ url, probe, only: ['again', 'burst-10'] })
    expect(report.trials.map(({ result }) => result)).toEqual(['pass', 'pass', 'pass'])
  })

  test('an effect that comes after the answer is waited for, also the second one', async () => {
    const late = (effects: string[], id: string) => void setTimeout(() => effects.push(id), 120)
    const { url, probe } = await endpoint((raw, _request, effects) => {
      late(effects, idIn(raw))
      return 200
    })
    const report = await examined({ url, probe, waitMs: 2_000, only: ['again'] })
    expect(trial(report, 'again')).toMatchObject({ result: 'fail', fault: 'no_dedupe' })
  })

  test('a probe that breaks later is said; one that never worked is an error', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'hookonce-probe-'))
    const file = join(folder, 'count')
    await writeFile(file, '0')
    let deliveries = 0
    const { url } = await endpoint(async () => {
      deliveries++
      if (deliveries === 1) await writeFile(file, '1')
      else await rm(file, { force: true })
      return 200
    })
    const report = await examined({ url, probeCommand: `cat '${file}' 2>&-`, only: ['again'] })
    expect(report.trials.map(({ result }) => result)).toEqual(['pass', 'unknown'])
    expect(trial(report, 'again').saw).toContain('The probe command ended with exit code')
    await expect(examined({ url, probeCommand: 'exit 3' })).rejects.toThrow('ended with exit code 3')
    await rm(folder, { recursive: true })
  })
})

test('hookonce passes for every sender of the catalogue that can be signed for', async () => {
  const factories = Object.entries(catalogue) as unknown as [string, ProviderFactory][]
  const made = factories.map(([key, factory]) => {
    const make = factory as unknown as (options: Record<string, unknown>) => Source
    return [key, make(factory.example())] as const
  })
  const sources = Object.fromEntries(made.map(([key, source]) => [key, source]))
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const inbox = createInbox({ store: 'sqlite::memory:', sources, log, processing: false })
  const server = createServer(nodeHandler(inbox as never))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const only = ['conflict', 'tampered', 'unsigned', 'forged', 'mangled', 'stale', 'spelling', 'order']
  const failures: unknown[] = []
  let trials = 0
  // A third of them; all by HOOKONCE_CHECK_PROVIDERS=all.
  const waiting = made.filter((_, i) => i % 3 === 0 || process.env.HOOKONCE_CHECK_PROVIDERS === 'all')
  const examinedCount = waiting.length
  const examineSome = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const [key, source] = next
      const report = await examined({ url: `${base}/webhooks/${key}`, source, only })
      trials += report.trials.length
      for (const one of report.trials) if (one.result === 'fail') failures.push([key, one.name, one.saw])
    }
  }
  await Promise.all([examineSome(), examineSome(), examineSome(), examineSome()])
  await inbox.stop()
  expect(failures).toEqual([])
  expect(trials).toBeGreaterThan(5 * examinedCount)
})

describe('what the caller gives', () => {
  test('a probe answers a number, or JSON with one', () => {
    expect(['7', ' 7\n', '{"effects":7}', '[{"count":7,"of":"x"}]'].map(countIn)).toEqual([7, 7, 7, 7])
    for (const text of ['', 'seven', '{"a":1,"b":2}', '-1', '1.5', '{}'])
      expect(() => countIn(text)).toThrow('The probe must return a whole number')
  })

  test('only this machine is examined without a word from the owner', () => {
    for (const host of [
      'localhost',
      '127.0.0.1',
      '127.9.9.9',
      '[::1]',
      'app.localhost',
      '[::ffff:127.0.0.1]',
    ])
      expect([host, isLoopback(host)]).toEqual([host, true])
    for (const host of [
      'example.com',
      '10.0.0.1',
      '192.168.1.1',
      '0.0.0.0',
      '[::2]',
      '128.0.0.1',
      'localhost.example.com',
    ])
      expect([host, isLoopback(host)]).toEqual([host, false])
    const options = { source: own }
    expect(() => examination({ ...options, url: 'https://example.com/x' })).toThrow('--i-own-this-endpoint')
    expect(() => examination({ ...options, url: 'https://example.com/x', owned: true })).not.toThrow()
    expect(() =>
      examination({ ...options, url: 'http://localhost/x', fault: 'http://example.com/' }),
    ).toThrow('own')
    expect(() => examination({ ...options, url: 'localhost:3000' })).toThrow('http')
    expect(() => examination({ ...options, url: 'http://localhost/x', only: ['agian'] })).toThrow(
      'has no trial',
    )
  })

  test('a sender without a time in its signature has no stale trial', async () => {
    const { url } = await endpoint(() => 200)
    const source = github({ secret })
    const report = await examined({ url, source, only: ['stale'] })
    expect(report.leftOut.map(({ name }) => name)).toEqual(['stale'])
  })
})
