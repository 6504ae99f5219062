/** Types with an action: `pull_request.opened` has the handlers of its own type, of globs, and of `pull_request`. */
import { createInbox, silentLog } from 'hookonce'
import { github } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { expect, test } from 'vitest'
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
  const source = inbox.sources.get('github')!
  const text = JSON.stringify({ ...body, repository })
  const headers = { 'x-github-event': event }
  await inbox.receive('github', await source.sign({ body: text, headers, id: 'd1', now: Date.now() }))
  await inbox.drain()
  expect(await inbox.events.get({ source: 'github', eventId: 'd1' })).not.toBeNull()
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
