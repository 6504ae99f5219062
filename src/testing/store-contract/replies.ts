/** Cases of the `replies` capability: the answer of a handler is committed with its outcome and removed with its payload. */
import assert from 'node:assert/strict'
import type { ClaimedEvent, Reply } from '../../model.js'
import type { CompleteStore } from '../../store.js'
import {
  bytes,
  type ContractCase,
  claimEvent,
  DAY_MS,
  delivery,
  event,
  key,
  LEASE_MS,
  operate,
  recordEvent,
  rejects,
  settlement,
  sha256,
  succeeded,
} from './support.js'

const of = key('evt')
const replyWith = (text: string): Reply => ({
  httpStatus: 201,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-two': 'b' },
  body: bytes(text),
})

async function get(store: CompleteStore, from = of): Promise<Reply | null> {
  const found = await store.replies.get(from)
  return found && { ...found, body: new Uint8Array(found.body) }
}

/** Resolves to false when the lease has expired. */
async function replied(store: CompleteStore, claimed: ClaimedEvent, reply: Reply): Promise<boolean> {
  const transaction = await store.transaction()
  await transaction.replies!.put(claimed, reply)
  return transaction.finish([settlement(claimed.lease, succeeded)])
}

export const replyCases: readonly ContractCase[] = [
  {
    name: 'a reply is committed with the outcome of its event, and read back byte for byte',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await recordEvent(store, 'other')
      const reply = { ...replyWith(''), body: Uint8Array.from({ length: 256 }, (_, i) => i) }
      assert.equal(await replied(store, await claimEvent(store, of), reply), true)
      assert.deepEqual(await get(await open()), reply)
      assert.equal(await get(store, key('other')), null)
      assert.equal(await get(store, key('unknown')), null)
    },
  },
  {
    name: 'a reply of nothing is a reply',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const reply = { httpStatus: 204, headers: {}, body: bytes('') }
      await replied(store, await claimEvent(store, of), reply)
      assert.deepEqual(await get(store), reply)
    },
  },
  {
    name: 'a transaction that is rolled back keeps no reply, and neither does one whose lease has expired',
    async run({ open, advance }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const first = await claimEvent(store, of)
      const transaction = await store.transaction()
      await transaction.replies!.put(first, replyWith('undone'))
      await transaction.rollback()
      assert.equal(await get(store), null)
      await advance(LEASE_MS + 1)
      const second = await claimEvent(store, of)
      assert.equal(await replied(store, first, replyWith('late')), false)
      assert.equal(await get(store), null)
      assert.equal(await replied(store, second, replyWith('right')), true)
      assert.deepEqual(await get(store), replyWith('right'))
    },
  },
  {
    name: 'the reply of a replay replaces the one before',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await replied(store, await claimEvent(store, of), replyWith('first'))
      await operate(store, 'replay', of, { force: true })
      assert.deepEqual(await get(store), replyWith('first'))
      await replied(store, await claimEvent(store, of), replyWith('second'))
      assert.deepEqual(await get(store), replyWith('second'))
    },
  },
  {
    name: 'a reply does not answer for other content that an operator runs in place of the first',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await replied(store, await claimEvent(store, of), replyWith('first'))
      await store.record([delivery(event('evt', { contentHash: sha256('other') }), { body: bytes('other') })])
      assert.ok((await operate(store, 'replay', of, { conflict: true, force: true })).done)
      assert.equal(await get(store), null)
      await replied(store, await claimEvent(store, of), replyWith('second'))
      assert.deepEqual(await get(store), replyWith('second'))
    },
  },
  {
    name: 'retention removes a reply with the payload of its event',
    needs: ['retention'],
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      await replied(store, await claimEvent(store, of), replyWith('old'))
      const at = Date.now()
      await store.retention.prune({ source: of.source, limit: 100, payloadsBefore: at - DAY_MS })
      assert.deepEqual(await get(store), replyWith('old'))
      await store.retention.prune({ source: of.source, limit: 100, payloadsBefore: at + DAY_MS })
      assert.equal(await get(store), null)
    },
  },
  {
    name: 'an erasure removes a reply with the payload of its event',
    needs: ['archive'],
    async run({ open }) {
      const store = await open()
      await store.record([delivery(event('evt', { reference: 'cus_1' }))])
      await replied(store, await claimEvent(store, of), replyWith('personal'))
      await store.archive.erase({ reference: 'cus_1', actor: 'ada', note: 'asked to', limit: 100 })
      assert.equal(await get(store), null)
    },
  },
  {
    name: 'a reply that is too large is refused',
    async run({ open }) {
      const store = await open()
      await recordEvent(store, 'evt')
      const claimed = await claimEvent(store, of)
      const transaction = await store.transaction()
      const body = new Uint8Array(1_000_000)
      await rejects(() => transaction.replies!.put(claimed, { ...replyWith(''), body }), 'INVALID_INPUT')
      await transaction.rollback()
    },
  },
]
