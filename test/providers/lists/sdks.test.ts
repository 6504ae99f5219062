/** The official clients of the senders read the fakes, and find the events that our lists find. */
import type { Source } from 'hookonce'
import { github, paddle, resend, svix, workos } from 'hookonce/providers'
import { afterEach, expect, test } from 'vitest'
import { installExtras } from '../../../scripts/extras.mjs'
import { githubApi } from '../../support/sender-apis/github.js'
import { paddleApi } from '../../support/sender-apis/payments.js'
import { resendApi, svixApi, workosApi } from '../../support/sender-apis/platforms.js'
import { type SenderFake, type SenderShape, startSenderFake } from '../../support/sender-apis/server.js'
import { noon } from './contract.js'

await installExtras('sdks')
const { Octokit } = await import('@octokit/core')
const { paginateRest } = await import('@octokit/plugin-paginate-rest')
const { Paddle } = await import('@paddle/paddle-node-sdk')
const { WorkOS } = await import('@workos-inc/node')
const { Resend } = await import('resend')
const { Svix } = await import('svix')

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const fakes: SenderFake[] = []
afterEach(async () => {
  for (const fake of fakes.splice(0)) await fake.close()
})

/** 150 events, and the ids that our list finds. */
async function sent(
  shape: SenderShape,
  key: string,
  make: (baseUrl: string) => Source,
  bodyOf?: (nth: number) => object,
): Promise<{ fake: SenderFake; ours: string[] }> {
  const fake = await startSenderFake(shape, key)
  fakes.push(fake)
  const source = make(fake.url)
  for (let i = 0; i < 150; i++) {
    const occurredAt = noon + i * 1_000
    const sample = bodyOf
      ? { body: JSON.stringify(bodyOf(i)), now: occurredAt }
      : source.sample({ id: `evt_${i}`, now: occurredAt })
    const delivery = await source.sign(sample)
    const [event] = source.identify(delivery)
    fake.events.push({ id: event!.id, type: event!.type, occurredAt, delivery })
  }
  const ours: string[] = []
  const reader = source.list!.open({ signal: AbortSignal.timeout(30_000) })
  for await (const page of reader.pages({ since: noon, until: noon + 3_600_000 }))
    ours.push(...page.map(({ id }) => id))
  return { fake, ours }
}

const same = (theirs: Iterable<string>, ours: string[]) => {
  expect([...theirs].sort()).toEqual([...ours].sort())
  expect(ours).toHaveLength(150)
}

test.each(['repos/acme/shop/hooks/1', 'orgs/acme/hooks/2', 'app/hook'])(
  'the client of GitHub reads the deliveries of %s that our list reads',
  async (path) => {
    const apiKey = 'github_pat_lists'
    const make = (baseUrl: string) => github({ secret, apiKey, baseUrl, hook: path })
    const { fake, ours } = await sent(githubApi({ path }), apiKey, make)
    const Client = Octokit.plugin(paginateRest)
    const client = new Client({ auth: apiKey, baseUrl: fake.url })
    const theirs = await client.paginate(`GET /${path}/deliveries`, { per_page: 100 })
    same(
      (theirs as { guid: string }[]).map(({ guid }) => guid),
      ours,
    )
  },
)

test("Paddle's client reads the events that our list reads", async () => {
  const apiKey = 'pdl_live_apikey_01'
  // It reads every field of the types that it knows.
  const body = (i: number) => ({ event_id: `evt_${i}`, event_type: 'new.type', data: { id: 'new_1' } })
  const make = (baseUrl: string) => paddle({ secret, apiKey, baseUrl })
  const { fake, ours } = await sent(paddleApi(), apiKey, make, body)
  const client = new Paddle(apiKey, { environment: fake.url as never })
  const theirs: string[] = []
  for await (const event of client.events.list({ perPage: 100, orderBy: 'id[ASC]' }))
    theirs.push(event.eventId)
  same(theirs, ours)
})

test('the client of WorkOS reads the events that our list reads, and sends the types as we do', async () => {
  const apiKey = 'sk_live_events'
  const events = ['user.created', 'dsync.user.updated'] as const
  const { fake, ours } = await sent(workosApi(), apiKey, (baseUrl) =>
    workos({ secret, apiKey, baseUrl, events }),
  )
  const port = Number(new URL(fake.url).port)
  const client = new WorkOS(apiKey, { apiHostname: '127.0.0.1', port, https: false })
  const theirs: string[] = []
  for (let after: string | undefined; ; ) {
    const range = after === undefined ? { rangeStart: new Date(noon).toISOString() } : { after }
    const page = await client.events.listEvents({ events: [...events], order: 'asc', limit: 100, ...range })
    theirs.push(...page.data.map(({ id }) => id))
    after = page.listMetadata.after ?? undefined
    if (after === undefined) break
  }
  same(theirs, ours)
})

test("Resend's client reads the events that our list reads, and the body of one", async () => {
  const apiKey = 're_full'
  const { fake, ours } = await sent(resendApi(), apiKey, (baseUrl) =>
    resend({ secret, apiKey, baseUrl, webhook: '4dd369bc' }),
  )
  const { events } = new Resend(apiKey, { baseUrl: fake.url }).webhooks
  const theirs: string[] = []
  for (let after: string | undefined; ; ) {
    const { data } = await events.list({ webhookId: '4dd369bc', limit: 100, ...(after && { after }) })
    theirs.push(...data!.data.map(({ id }) => id))
    after = data!.data.at(-1)?.id
    if (!data!.has_more) break
  }
  same(theirs, ours)
  const { data } = await events.get({ webhookId: '4dd369bc', eventId: ours[0]! })
  expect(data!.payload).toMatchObject({ type: data!.type })
})

test("Svix's client reads the messages that our list reads", async () => {
  const apiKey = 'testsk_portal'
  const { fake, ours } = await sent(svixApi(), apiKey, (baseUrl) =>
    svix({ secret, apiKey, baseUrl, application: 'app_1', endpoint: 'ep_1' }),
  )
  const { messageAttempt } = new Svix(apiKey, { serverUrl: fake.url })
  const theirs: string[] = []
  for (let iterator: string | null = null; ; ) {
    const page = await messageAttempt.listAttemptedMessages('app_1', 'ep_1', {
      iterator,
      withContent: true,
      after: new Date(noon - 1),
    })
    theirs.push(...page.data.map(({ id }) => id))
    iterator = page.iterator
    if (page.done) break
  }
  same(theirs, ours)
})
