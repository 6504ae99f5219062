/** Requests to the API of any sender: what they wait for, what they refuse, and where the key never goes. */
import { github, stripe } from 'hookonce/providers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { githubApi, hook } from '../../support/sender-apis/github.js'
import { type SenderFake, startSenderFake } from '../../support/sender-apis/server.js'
import { noon } from './contract.js'

const apiKey = 'github_pat_of_this_test'
const secret = 'a secret that is long enough'
const range = { since: noon, until: noon + 60_000 }
const entry = { id: 1, guid: 'g1', event: 'push', action: null, delivered_at: new Date(noon).toISOString() }

let fake: SenderFake
let other: SenderFake
beforeEach(async () => {
  fake = await startSenderFake(githubApi(), apiKey)
  other = await startSenderFake(githubApi(), apiKey)
})
afterEach(() => Promise.all([fake.close(), other.close()]))

async function listed(key: string | (() => string | Promise<string>) = apiKey): Promise<string[]> {
  const { list } = github({ secret, apiKey: key, hook, baseUrl: fake.url })
  const ids: string[] = []
  for await (const page of list!.open({ signal: AbortSignal.timeout(30_000) }).pages(range))
    ids.push(...page.map(({ id }) => id))
  return ids
}

test('a page of another origin is not asked for: the key stays with the sender', async () => {
  const link = `<${other.url}/${hook}/deliveries?cursor=x>; rel="next"`
  fake.next.push({ headers: { link }, body: [entry] })
  await expect(listed()).rejects.toMatchObject({ code: 'SENDER_FAILED' })
  expect(other.requests).toEqual([])
})

test('a redirect is not followed', async () => {
  fake.next.push({ status: 307, headers: { location: `${other.url}/${hook}/deliveries` } })
  await expect(listed()).rejects.toMatchObject({ code: 'SENDER_REFUSED', details: { status: 307 } })
  expect(other.requests).toEqual([])
})

test('a sender that asks for an hour of patience is left to the next run', async () => {
  fake.next.push({ status: 429, headers: { 'retry-after': '3600' } })
  await expect(listed()).rejects.toThrow(/status 429, and asks for a pause of 3600 seconds/)
  expect(fake.requests).toHaveLength(1)
})

test('a limit that is used up is waited for until the sender says, by its own clock', async () => {
  const date = new Date(noon).toUTCString()
  const headers = { date, 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(noon / 1_000 + 1) }
  fake.next.push({ status: 403, headers, body: { message: 'API rate limit exceeded' } })
  const startedAt = performance.now()
  expect(await listed()).toEqual([])
  expect(performance.now() - startedAt).toBeGreaterThan(950)
})

test('a key that is made for each run is made again when the sender refuses it', async () => {
  const keys = ['over', apiKey]
  // The first is read when the source is made.
  let read = -1
  expect(await listed(async () => keys[Math.min(Math.max(0, read++), 1)]!)).toEqual([])
  expect(fake.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer over',
    `Bearer ${apiKey}`,
  ])
})

test('an answer that is not what the sender documents is an error, and no event is left out', async () => {
  for (const [body, said] of [
    ['<html>', 'not JSON'],
    [[{ ...entry, delivered_at: undefined }], 'has no time'],
    [[{ ...entry, guid: undefined }], 'not one event with an id'],
  ] as const) {
    fake.next.push({ body })
    await expect(listed()).rejects.toThrow(said)
  }
})

test('an error shows what the sender says, without the key and without control characters', async () => {
  fake.next.push({ status: 422, body: { message: `bad \u001b[31m key ${apiKey}` } })
  const error = await listed().catch((thrown) => thrown)
  expect(error.message).toContain('("bad  [31m key ***")')
})

test('an API key is masked in every text of its source', () => {
  const source = stripe({ secret: 'whsec_0123456789abcdef', apiKey: 'rk_test_0123456789' })
  expect(source.conceal!('the key rk_test_0123456789 leaked')).toBe('the key *** leaked')
  expect(JSON.stringify(source)).not.toContain('rk_test_0123456789')
})
