import type { Kinds } from 'hookonce/testing/contracts'

const open = {
  event: 'open',
  _id: 'exampleaaaaaaaaaaaaaaaaaaaaaaaaa',
  ts: 1384954004,
  ip: '127.0.0.1',
  user_agent: 'Mozilla/5.0',
  msg: { _id: 'exampleaaaaaaaaaaaaaaaaaaaaaaaaa', email: 'recipient@example.com' },
}
const inbound = { event: 'inbound', ts: 1384954004, msg: { from_email: 'a@example.com', text: 'Hello' } }
const rejected = { type: 'blacklist', action: 'add', ts: 1384954004, reject: { email: 'a@example.com' } }

/** The batch is a JSON text in one field of the form. */
const batch = (...events: readonly object[]) => ({ mandrill_events: JSON.stringify(events) })

export const mailchimp: Kinds = [
  {
    name: 'a batch of message events',
    body: batch(open, { ...open, event: 'click', url: 'https://example.com' }, { ...open, event: 'send' }),
    events: ['open', 'click', 'send'],
    another: { body: batch({ ...open, ts: 1384954005 }) },
  },
  {
    name: 'two opens of one second',
    body: batch(open),
    events: ['open'],
    another: { body: batch({ ...open, ip: '127.0.0.2' }) },
  },
  {
    name: 'an inbound message',
    body: batch(inbound),
    events: ['inbound'],
    another: { body: batch({ ...inbound, msg: { from_email: 'b@example.com', text: 'Hello' } }) },
  },
  {
    name: 'a change of the reject list',
    body: batch(rejected),
    events: ['blacklist.add'],
    another: { body: batch({ ...rejected, reject: { email: 'b@example.com' } }) },
  },
  { name: 'the request when a webhook is created', method: 'HEAD', handshake: true },
  { name: 'the empty batch when a webhook is created', body: batch(), handshake: true },
]
