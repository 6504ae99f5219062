/** What is special about the lists of single senders. */
import type { ListedEvent, ListReader, Source } from 'hookonce'
import { catalogue } from 'hookonce/providers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as payments from '../../support/sender-apis/payments.js'
import * as platforms from '../../support/sender-apis/platforms.js'
import {
  type SenderFake,
  type SenderShape,
  type SentEvent,
  startSenderFake,
} from '../../support/sender-apis/server.js'
import { noon } from './contract.js'

const fakes: SenderFake[] = []
afterEach(async () => {
  vi.unstubAllEnvs()
  for (const fake of fakes.splice(0)) await fake.close()
})

type Provider = keyof typeof catalogue
function make(provider: Provider, options: object): Source {
  const factory = catalogue[provider]
  return (factory as unknown as (options: object) => Source)({ ...factory.example(), ...options })
}

async function open(
  provider: Provider,
  shape: SenderShape,
  apiKey: string,
  options: object = {},
): Promise<{ fake: SenderFake; source: Source; reader: ListReader }> {
  const fake = await startSenderFake(shape, apiKey)
  fakes.push(fake)
  const source = make(provider, { apiKey, baseUrl: fake.url, ...options })
  return { fake, source, reader: source.list!.open({ signal: AbortSignal.timeout(30_000) }) }
}

async function send(source: Source, fake: SenderFake, count: number): Promise<SentEvent[]> {
  for (let i = 0; i < count; i++) {
    const occurredAt = noon + i * 1_000
    const delivery = await source.sign(source.sample({ id: `evt_${i}`, now: occurredAt }))
    const [event] = source.identify(delivery)
    fake.events.push({ id: event!.id, type: event!.type, occurredAt, delivery })
  }
  return fake.events
}

async function listed(reader: ListReader, since = noon, until = noon + 3_600_000): Promise<ListedEvent[]> {
  const found: ListedEvent[] = []
  for await (const page of reader.pages({ since, until })) found.push(...page)
  return found
}

const onGitlab = { project: 'mike/diaspora', hook: '42' }
const bodyOf = (event: ListedEvent | undefined) => Buffer.from(event!.delivery!.body).toString()

describe('the types that an endpoint subscribes to', () => {
  test.each([
    ['square', payments.squareApi(), 'EAAA', {}, ['payment.created', 'refund.updated']],
    [
      'paypal',
      payments.paypalApi(),
      'id:secret',
      { webhookId: '1JE4291016473214C' },
      ['PAYMENT.CAPTURE.COMPLETED', 'CUSTOMER.DISPUTE.CREATED'],
    ],
    // Its other destination is an e-mail address.
    ['paddle', payments.paddleApi(), 'pdl_live_1', {}, ['transaction.completed', 'subscription.updated']],
    [
      'paddle',
      payments.paddleApi(),
      'pdl_live_1',
      { destination: 'ntfset_01gkpjp8bkm3tm53kdgkx6sms7' },
      ['transaction.completed', 'subscription.updated'],
    ],
    ['lithic', payments.lithicApi(), 'key', {}, ['*']],
    ['workos', platforms.workosApi(), 'sk_1', { events: 'user.created' }, ['user.created']],
    ['okta', platforms.oktaApi(), '00key', {}, ['user.session.start']],
  ] as const)('are known from the API of %s', async (provider, shape, key, options, types) => {
    const { reader } = await open(provider, shape, key, options)
    expect(await reader.scope()).toMatchObject({ types })
  })

  test('are not known when the account has several endpoints', async () => {
    const { fake, reader } = await open('square', payments.squareApi(), 'EAAA')
    fake.next.push({ body: { subscriptions: [{ event_types: ['a'] }, { event_types: ['b'] }] } })
    expect(await reader.scope()).toBeNull()
  })
})

test.each([
  ['chargebee', 'baseUrl', {}],
  ['okta', 'baseUrl', {}],
  ['mailgun', 'domain', {}],
  ['gitlab', 'project', { hook: '42' }],
  ['gitlab', 'hook', { project: 'mike/diaspora' }],
  ['polar', 'endpoint', { apiKey: 'polar_oat_1' }],
  ['resend', 'webhook', { apiKey: 're_1' }],
  ['svix', 'application', { endpoint: 'ep_1' }],
  ['svix', 'endpoint', { application: 'app_1' }],
  ['workos', 'events', { apiKey: 'sk_1' }],
] as const)('%s says that the option %s is needed', (provider, option, options) => {
  const { list } = make(provider, { apiKey: 'key', ...options })
  expect(list!.problem).toContain(`${provider}({ ${option} })`)
})

test.each([
  ['paddle', 'pdl_ntfset_01gkpjp8bkm3tm53kdgkx6sms7_6h3qd3uFSi9YCD3OLYAShQI90XTI5vEI'],
  ['workos', 'wh_secret_signing'],
  ['polar', 'polar_whs_signing'],
  ['resend', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['svix', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  ['telnyx', 'e5Uw5bMkaRpQlTPwWUYyTPUPIDrmzBJ5RKPhvTvKGPc='],
  ['paypal', 'EFsecretWithoutAnId'],
] as const)('%s refuses its signing secret as the key of the API', (provider, apiKey) => {
  let error: unknown
  try {
    make(provider, { apiKey })
  } catch (thrown) {
    error = thrown
  }
  expect(error).toMatchObject({ code: 'SECRET_FORM' })
  expect(String(error)).not.toContain(apiKey)
})

test.each([
  ['gitlab', platforms.gitlabApi(), 'glpat-1', onGitlab],
  ['resend', platforms.resendApi(), 're_1', { webhook: '4dd369bc' }],
  // Besides a request for the name of the source.
  ['hookdeck', platforms.hookdeckApi(), 'key', { destination: 'des_1' }],
] as const)(
  'the list of %s is read only back to the start of the range',
  async (provider, shape, key, options) => {
    const { fake, source, reader } = await open(provider, shape, key, options)
    await send(source, fake, 350)
    expect(await listed(reader, noon + 340_000)).toHaveLength(10)
    expect(fake.requests).toHaveLength(provider === 'hookdeck' ? 3 : 2)
  },
)

test('GitLab: an event whose body was too large for GitLab has no delivery', async () => {
  const { fake, source, reader } = await open('gitlab', platforms.gitlabApi(), 'glpat-1', onGitlab)
  const [sent] = await send(source, fake, 1)
  const headers = { 'Idempotency-Key': sent!.id, 'X-Gitlab-Event': 'Push Hook' }
  const entry = { id: 1, request_headers: headers, created_at: '2026-11-15T12:00:00.000Z' }
  fake.next.push({ body: [{ ...entry, request_data: { oversize: true } }] })
  const [event] = await listed(reader)
  expect(event).toMatchObject({ id: sent!.id, type: 'Push Hook', delivery: null })
  expect(await reader.complete(event!)).toBeNull()
})

test('GitLab: a release whose deliveries have no id is an error, and not a list of new events', async () => {
  const { fake, reader } = await open('gitlab', platforms.gitlabApi(), 'glpat-1', onGitlab)
  const headers = { 'X-Gitlab-Event': 'Push Hook', 'X-Gitlab-Event-UUID': '9cebe914' }
  const entry = { id: 1, request_data: { object_kind: 'push' }, created_at: '2026-11-15T12:00:00.000Z' }
  fake.next.push({ body: [{ ...entry, request_headers: headers }] })
  await expect(listed(reader)).rejects.toMatchObject({ code: 'SENDER_FAILED' })
})

test('Polar: an archived event has a name and no delivery, and a second attempt is the same event', async () => {
  const { fake, reader } = await open('polar', platforms.polarApi(), 'polar_oat_1', { endpoint: 'we_1' })
  const archived = { id: 'e1', type: 'order.paid', payload: null, is_archived: true }
  const attempt = { created_at: '2026-11-15T12:00:00Z', webhook_event: archived }
  fake.next.push({ body: { items: [attempt, attempt], pagination: { total_count: 2, max_page: 1 } } })
  const events = await listed(reader)
  expect(events).toMatchObject([1, 2].map(() => ({ id: 'e1', type: 'order.paid', delivery: null })))
})

test('Telnyx: a callback that is not an event is left out', async () => {
  const { fake, reader } = await open('telnyx', platforms.telnyxApi(), 'KEY1')
  const texml = { id: 'd1', started_at: '2026-11-15T12:00:00Z', webhook: { CallSid: 'CA1' } }
  fake.next.push({ body: { data: [texml], meta: { page_number: 1, total_pages: 1 } } })
  expect(await listed(reader)).toEqual([])
})

test('PayPal: an access token that has expired during the run is made anew', async () => {
  const { fake, source, reader } = await open('paypal', payments.paypalApi(), 'id:secret')
  await send(source, fake, 3)
  fake.next.push(undefined, { status: 401, body: { message: 'Token expired' } })
  expect(await listed(reader)).toHaveLength(3)
  const paths = fake.requests.map(({ path }) => path.split('/').at(-1))
  expect(paths).toEqual(['token', 'webhooks-events', 'token', 'webhooks-events'])
})

test.each([
  ['square', payments.squareApi(), 'EAAA', {}, (event: string) => `{"events":[${event}]}`],
  [
    'gocardless',
    payments.gocardlessApi(),
    'live_1',
    {},
    (event: string) => `{"events":[${event}],"meta":{}}`,
  ],
] as const)(
  'the events of %s keep all digits of their numbers',
  async (provider, shape, key, options, answer) => {
    const { fake, reader } = await open(provider, shape, key, options)
    const event =
      '{"id":"EV1","event_id":"EV1","type":"a","resource_type":"payments","action":"b","created_at":"2026-11-15T12:00:00Z","n":12345678901234567891}'
    fake.next.push({ body: answer(event) })
    expect(bodyOf((await listed(reader))[0])).toContain('12345678901234567891')
  },
)

test('a sender that gives the same next page again and again is an error', async () => {
  const { fake, reader } = await open('gocardless', payments.gocardlessApi(), 'live_1')
  const page = { body: { events: [], meta: { cursors: { after: 'EV1' } } } }
  fake.next.push(page, page, page, page)
  await expect(listed(reader)).rejects.toMatchObject({
    code: 'SENDER_FAILED',
    message: expect.stringContaining('its next page is the page that was read'),
  })
  expect(fake.requests).toHaveLength(2)
})

test('a time without a zone is in UTC', async () => {
  vi.stubEnv('TZ', 'America/New_York')
  expect(new Date(noon).getHours()).toBe(7)
  const { fake, reader } = await open('workos', platforms.workosApi(), 'sk_1', { events: 'user.created' })
  const event = { id: 'event_1', event: 'user.created', data: {}, created_at: '2026-11-15 12:00:05.093' }
  fake.next.push({ body: { data: [event], list_metadata: { after: null } } })
  expect(await listed(reader)).toMatchObject([{ id: 'event_1', occurredAt: noon + 5_093 }])
})

test.each([
  [
    'okta',
    platforms.oktaApi(),
    '00key',
    { 'x-rate-limit-reset': String(Date.parse('2026-11-15T12:10:00Z') / 1_000) },
  ],
  ['gocardless', payments.gocardlessApi(), 'live_1', { 'ratelimit-reset': 'Sun, 15 Nov 2026 12:10:00 GMT' }],
  ['resend', platforms.resendApi(), 're_1', { 'ratelimit-reset': '600' }],
] as const)(
  'a limit of %s that ends in ten minutes is left to the next run',
  async (provider, shape, key, headers) => {
    const { fake, reader } = await open(provider, shape, key, {
      ...(provider === 'resend' && { webhook: '4dd369bc' }),
    })
    fake.next.push({ status: 429, headers: { date: 'Sun, 15 Nov 2026 12:00:00 GMT', ...headers } })
    await expect(listed(reader)).rejects.toMatchObject({
      code: 'SENDER_FAILED',
      message: expect.stringContaining('asks for a pause of 600 seconds'),
    })
  },
)

test.each([
  ['gocardless', payments.gocardlessApi(), 'live_1', {}, { message: 'We are busy' }, 'no list at "events"'],
  ['okta', platforms.oktaApi(), '00key', {}, {}, 'no list at ""'],
  ['lithic', payments.lithicApi(), 'key', {}, { data: [], has_more: true }, '"has_more" without an entry'],
  [
    'paddle',
    payments.paddleApi(),
    'pdl_live_1',
    {},
    { data: [], meta: { pagination: { has_more: true } } },
    '"has_more" without "next"',
  ],
  [
    'svix',
    platforms.svixApi(),
    'sk_portal',
    { application: 'app_1', endpoint: 'ep_1' },
    { data: [], done: false },
    'neither "done" nor "iterator"',
  ],
] as const)(
  'an answer of %s that is not a page is an error, and not the end of the list',
  async (provider, shape, key, options, body, problem) => {
    const { fake, reader } = await open(provider, shape, key, options)
    fake.next.push({ body })
    await expect(listed(reader)).rejects.toMatchObject({
      code: 'SENDER_FAILED',
      message: expect.stringContaining(problem),
    })
  },
)

test('Square: an answer without events has no list', async () => {
  const { reader } = await open('square', payments.squareApi(), 'EAAA')
  expect(await listed(reader)).toEqual([])
})
