/** I8: no secret and no payload byte in a log line, an error, a counter or an answer; nothing of a rejected delivery in the store. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInbox } from 'hookonce'
import { catalogue } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { wholeInbox } from '#dist/inbox/internals.js'
import { loggedInbox } from '../support/inboxes.js'

const SECRET = 'canary-secret-5f2e9c1a7b3d4e6f8a9b0c1d2e3f4a5b'
const CANARY = 'canary-payload-77aa'

test('a canary in the secret, the body and the headers of rejected deliveries is found nowhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hookonce-canary-'))
  const { github, stripe, slack } = catalogue
  const sources = {
    stripe: stripe({ secret: SECRET }),
    github: github({ secret: SECRET }),
    slack: slack({ secret: SECRET }),
  }
  const { inbox, lines } = loggedInbox({ store: `sqlite:${join(folder, 'events.db')}`, sources })
  const answers: string[] = []
  for (const [name, source] of Object.entries(sources)) {
    const good = await source.sign(source.sample({ now: Date.now() }))
    const body = Buffer.from(JSON.stringify({ id: CANARY, type: CANARY, note: CANARY }))
    const headers = {
      ...good.headers,
      authorization: `Bearer ${SECRET}`,
      cookie: CANARY,
      'x-github-delivery': CANARY,
    }
    const signedInvalid = await source.sign({
      // Nested deeper than anything that is parsed.
      body: `${'['.repeat(1_000)}"${CANARY}`,
      now: Date.now(),
      headers: { authorization: SECRET },
    })
    const deliveries = [
      { ...good, body },
      { ...good, headers, body },
      { ...good, headers: {}, body },
      { ...good, method: 'PUT', headers, body },
      signedInvalid,
    ]
    for (const delivery of deliveries) {
      const receipt = await inbox.receive(name, delivery)
      // A signed one is kept whatever is in it, under a name made of its content.
      if (delivery !== signedInvalid) expect(receipt.httpStatus).toBeGreaterThanOrEqual(400)
      answers.push(JSON.stringify(receipt))
    }
    // A good one, with credentials beside it: they are not kept.
    await inbox.receive(name, { ...good, headers: { ...good.headers, authorization: `Bearer ${SECRET}` } })
  }
  const stats = JSON.stringify([...wholeInbox(inbox).counters.bySource])
  await inbox.stop()
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
  for (const [where, text] of Object.entries({ lines: JSON.stringify(lines), stats, files: files.join() })) {
    expect([where, text.includes(SECRET)]).toEqual([where, false])
  }
  for (const [where, text] of Object.entries({
    lines: JSON.stringify(lines),
    stats,
    answers: answers.join(),
  })) {
    expect([where, text.includes(CANARY)]).toEqual([where, false])
  }
  expect(lines.length).toBeGreaterThan(9)
  rmSync(folder, { recursive: true })
})

test('an error at construction names the provider and not the secret', () => {
  for (const [key, factory] of Object.entries(catalogue)) {
    for (const secret of ['canary7', 'whsec_canary7']) {
      try {
        createInbox({
          store: 'sqlite::memory:',
          sources: { s: (factory as unknown as (o: object) => never)({ secret, publicKey: secret }) },
        })
      } catch (error) {
        expect([key, String((error as Error).stack).includes('canary7')]).toEqual([key, false])
      }
    }
  }
})
