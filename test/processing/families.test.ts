/** Types with an action: `pull_request.opened` has the handlers of its own type, of globs, and of `pull_request`. */

import { createInbox, silentLog } from 'hookonce'
import { discord, github, gitlab, rudderstack, segment, slack } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { secretOf } from '../support/inboxes.js'

const repository = { full_name: 'octocat/hello-world' }

async function handledBy(patterns: readonly string[], event: string, body: object) {
  const inbox = createInbox({
    store: sqlite(':memory:'),
    sources: { github: github({ secret: secretOf('families') }) },
    log: silentLog,
  })
  const called: string[] = []
  let seen = { type: '', reference: null as string | null }
  for (const pattern of patterns)
    inbox.on('github', pattern, ({ type, reference }) => {
      called.push(pattern)
      seen = { type, reference }
    })
  const source = wholeInbox(inbox).sources.get('github')!
  const text = JSON.stringify({ ...body, repository })
  const headers = { 'x-github-event': event }
  await inbox.receive('github', await source.sign({ body: text, headers, id: 'd1', now: Date.now() }))
  await inbox.drain()
  expect(await inbox.events.get({ source: 'github', id: 'd1' })).not.toBeNull()
  await inbox.stop()
  return { called, ...seen }
}

const opened = { action: 'opened', pull_request: { number: 12 } }

test.each([
  [['pull_request'], 'pull_request'],
  [['pull_request', '*'], 'pull_request'],
  [['pull_request', 'pull_request*'], 'pull_request'],
  [['pull_request', 'pull_request.*'], 'pull_request.*'],
  [['pull_request', 'pull_request.*', 'pull_request.opened'], 'pull_request.opened'],
  [['pull_request', 'pull_request.closed'], 'pull_request'],
  [['*_request', '*'], '*_request'],
])('of the handlers %j, an opened pull request goes to %s', async (patterns, expected) => {
  const { called, type } = await handledBy(patterns, 'pull_request', opened)
  expect({ called, type }).toEqual({ called: [expected], type: 'pull_request.opened' })
})

test('the reference is the pull request, the issue or the ref', async () => {
  const reference = async (event: string, body: object) => (await handledBy(['*'], event, body)).reference
  expect(await reference('pull_request', opened)).toBe('octocat/hello-world#12')
  expect(await reference('issue_comment', { action: 'created', issue: { number: 12 } })).toBe(
    'octocat/hello-world#12',
  )
  expect(await reference('push', { ref: 'refs/heads/main' })).toBe('octocat/hello-world@refs/heads/main')
  expect(await reference('star', { action: 'created' })).toBe('octocat/hello-world')
})

/** A source whose types got an action later: a handler that was written for the type alone is still called. */
test.each([
  [
    gitlab,
    { 'x-gitlab-event': 'Merge Request Hook' },
    { object_attributes: { action: 'open' } },
    'Merge Request Hook',
  ],
  [discord, {}, { id: '1', type: 2, data: { name: 'ban' } }, 'APPLICATION_COMMAND'],
  [slack, {}, { event_id: 'E1', event: { type: 'message', subtype: 'message_changed' } }, 'message'],
  [slack, {}, { trigger_id: '1', type: 'block_actions', actions: [{ action_id: 'yes' }] }, 'block_actions'],
  [segment, {}, { messageId: '1', type: 'track', event: 'Order Completed' }, 'track'],
  [rudderstack, {}, { messageId: '1', type: 'track', event: 'Order Completed' }, 'track'],
])('%#: a handler for the type without its action is called', async (factory, headers, body, pattern) => {
  const make = factory as unknown as (options: never) => ReturnType<typeof github>
  const inbox = createInbox({
    store: sqlite(':memory:'),
    sources: { sender: make(factory.example() as never) },
    log: silentLog,
  })
  const types: string[] = []
  inbox.on('sender', pattern, ({ type }) => void types.push(type))
  const now = Date.now()
  const all = { ...headers, 'content-type': 'application/json' }
  const signed = await wholeInbox(inbox)
    .sources.get('sender')!
    .sign({ body: JSON.stringify(body), headers: all, now })
  expect((await inbox.receive('sender', signed)).httpStatus).toBeLessThan(300)
  await inbox.drain()
  await inbox.stop()
  expect(types).toHaveLength(1)
  expect(types[0]!.startsWith(`${pattern}.`)).toBe(true)
})
