/** Runs the code of docs/providers/slack.md and twilio.md that answers: real signatures in, the reply of the handler out. */
import { readFile } from 'node:fs/promises'
import { transform } from 'esbuild'
import * as hookonce from 'hookonce'
import { createInbox, silentLog } from 'hookonce'
import { slack, twilio } from 'hookonce/providers'
import { sqlite } from 'hookonce/sqlite'
import { afterEach, expect, test } from 'vitest'
import { secretOf } from '../support/inboxes.js'
import { until } from '../support/processing.js'

const sources = {
  slack: slack({ secret: secretOf('slack'), mode: 'inline' }),
  twilio: twilio({ secret: secretOf('twilio'), mode: 'inline' }),
}
const summaries: unknown[] = []
let stop = async () => {}
afterEach(() => stop())

async function withCode(page: string) {
  const text = await readFile(new URL(`../../docs/providers/${page}.md`, import.meta.url), 'utf8')
  const [, block] =
    /<!-- case: [\w ]+ -->\n(?:<!-- given: .* -->\n|\n)*```ts\n([\s\S]*?)^```/m.exec(text) ?? []
  const { code } = await transform(block!, { loader: 'ts', format: 'cjs' })
  const store = sqlite(':memory:')
  const inbox = createInbox({ store, sources, log: silentLog })
  stop = () => inbox.stop()
  await inbox.start()
  const { tx, commit } = await store.transaction()
  await tx.run('create table orders (id text primary key, item text not null)')
  await tx.run('create table messages (id text primary key, sender text not null, body text not null)')
  await commit()
  new Function('inbox', 'summary', 'require', 'exports', 'module', code)(
    inbox,
    (channel: unknown) => void summaries.push(channel),
    () => hookonce,
    {},
    {},
  )
  return async (source: keyof typeof sources, fields: Record<string, string>) => {
    const delivery = await sources[source].sign({
      body: new URLSearchParams(fields).toString(),
      now: Date.now(),
      url: 'https://shop.example/webhooks/twilio',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    return inbox.receive(source, delivery)
  }
}

test('Slack gets the answer to a command and to a modal, also when it asks again', async () => {
  const post = await withCode('slack')
  const command = { command: '/order', text: '2 pearls', trigger_id: '1.2.3', channel_id: 'C1' }
  for (const _ of ['first', 'again']) {
    const { httpStatus, headers, body } = await post('slack', command)
    expect([httpStatus, headers['content-type']]).toEqual([200, 'application/json'])
    expect(JSON.parse(body)).toEqual({ response_type: 'ephemeral', text: 'Ordered: 2 pearls' })
  }
  const view = {
    type: 'view_submission',
    trigger_id: '4.5.6',
    view: { callback_id: 'order' },
    user: { id: 'U1' },
  }
  const modal = await post('slack', { payload: JSON.stringify(view) })
  expect(JSON.parse(modal.body)).toMatchObject({ response_action: 'errors' })
  const mention = {
    ...{ type: 'event_callback', event_id: 'Ev1', team_id: 'T1' },
    event: { type: 'app_mention', channel: 'C1' },
  }
  expect(await post('slack', { payload: JSON.stringify(mention) })).toMatchObject({ httpStatus: 200 })
  await until(() => summaries.length > 0, 'the consumer has run')
  expect(summaries).toEqual(['C1'])
})

test('Twilio gets the TwiML of the handler, also when it asks again', async () => {
  const post = await withCode('twilio')
  const message = {
    AccountSid: 'AC1',
    MessageSid: 'SM1',
    SmsSid: 'SM1',
    SmsStatus: 'received',
    From: '+1',
    To: '+2',
    Body: 'hi',
  }
  for (const _ of ['first', 'again'])
    expect(await post('twilio', message)).toMatchObject({
      httpStatus: 200,
      headers: { 'content-type': 'text/xml' },
      body: '<Response><Message>Thank you! We will call you.</Message></Response>',
    })
})
