/** GitHub lists deliveries without bodies: each body is asked for, and what has none is delivered again. */
import type { Inbox } from 'hookonce'
import { github } from 'hookonce/providers'
import { afterEach, expect, test } from 'vitest'
import { runReconcile } from '#dist/reconcile/run.js'
import { onBothLogs } from '../support/processing.js'
import { githubApi, hook } from '../support/sender-apis/github.js'
import { type SenderFake, type SentEvent, startSenderFake } from '../support/sender-apis/server.js'

const secret = 'a secret that is long enough'
const apiKey = 'github_pat_0123456789'
const HOUR_MS = 3_600_000

const fakes: SenderFake[] = []
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close()
})

async function sender(options: Parameters<typeof githubApi>[0] = {}) {
  const fake = await startSenderFake(githubApi(options), apiKey)
  fakes.push(fake)
  return { fake, source: github({ secret, apiKey, hook, baseUrl: fake.url }) }
}

async function happens(fake: SenderFake, type: string, guid: string, agoMs: number): Promise<SentEvent> {
  const source = github({ secret })
  const delivery = await source.sign(source.sample({ type, id: guid, now: Date.now() }))
  const event = { id: guid, type, occurredAt: Date.now() - agoMs, delivery }
  fake.events.push(event)
  return event
}

const bodiesAsked = ({ requests }: SenderFake) =>
  requests.filter(({ method, path }) => method === 'GET' && /\/deliveries\/\d+$/.test(path)).length

onBothLogs((bench) => {
  test('asks for the bodies of missing events only, and of those that a handler takes', async () => {
    const { fake, source } = await sender()
    const { inbox } = bench.inbox({ sources: { github: source } })
    const seen: [string, unknown][] = []
    inbox.on(
      'github',
      'issues',
      (event) => void seen.push([event.id, (event.payload as { action: string }).action]),
    )
    for (let i = 0; i < 150; i++) await happens(fake, 'issues.opened', `guid-${i}`, 2 * HOUR_MS - i * 1_000)
    await happens(fake, 'push', 'guid-push', HOUR_MS)
    for (const event of fake.events.slice(2, 150)) await inbox.receive('github', event.delivery)
    const report = await inbox.reconcile('github')
    expect(report).toMatchObject({ listed: 151, known: 148, missing: 3, recovered: 2, extra: 0 })
    expect(report.lacking).toMatchObject([{ id: 'guid-push', why: expect.stringContaining('no handler') }])
    expect(bodiesAsked(fake)).toBe(2)
    await inbox.drain()
    expect(seen.filter(([id]) => id === 'guid-0' || id === 'guid-1').sort()).toEqual([
      ['guid-0', 'opened'],
      ['guid-1', 'opened'],
    ])
    expect(new Set(seen.map(([id]) => id)).size).toBe(150)
  })

  test('an event whose body the sender does not give is delivered again, with its signature', async () => {
    let inbox: Inbox | undefined
    const { fake, source } = await sender({
      withoutBody: new Set(['guid-large']),
      redeliver: ({ delivery }) => void inbox!.receive('github', delivery),
    })
    inbox = bench.inbox({ sources: { github: source } }).inbox
    await happens(fake, 'issues.opened', 'guid-large', HOUR_MS)
    expect(await inbox.reconcile('github')).toMatchObject({
      missing: 1,
      recovered: 1,
      waiting: 0,
      lacking: [],
    })
    expect(fake.redelivered).toEqual(['guid-large'])
    expect(await inbox.events.get({ source: 'github', id: 'guid-large' })).toMatchObject({
      origin: 'delivery',
    })
  })

  test('a requested delivery that does not come is waiting, and the log is complete only until it', async () => {
    const { fake, source } = await sender({ withoutBody: new Set(['guid-large']) })
    const event = await happens(fake, 'issues.opened', 'guid-large', HOUR_MS)
    const store = bench.store()
    await store.migrate()
    const now = Date.now()
    const report = await runReconcile(
      { store, name: 'github', source, laneOf: () => null, recorded() {}, handled: async () => [] },
      {
        id: '00000000-0000-4000-8000-000000000001',
        by: 'request',
        range: { since: now - 2 * HOUR_MS, until: now - 600_000 },
        dryRun: false,
        startedAt: now,
        notBefore: null,
        signal: AbortSignal.timeout(60_000),
        insist: async () => {},
        waitMs: 10,
      },
    )
    expect(report).toMatchObject({ missing: 1, recovered: 0, waiting: 1, completeUntil: event.occurredAt })
    expect(report.lacking).toMatchObject([{ id: 'guid-large' }])
  })
})
