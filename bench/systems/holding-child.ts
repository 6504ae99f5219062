/** A worker whose handlers never end: it holds as many events as it can claim, until it is killed. */
import { createInbox } from 'hookonce'
import { unverified } from 'hookonce/providers'
import { answer } from '../support/child-process.js'

const inbox = createInbox({
  store: process.env.BENCH_STORE!,
  sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  processing: { lease: Number(process.env.BENCH_LEASE_MS), poll: 50, concurrency: 200 },
  log: { debug() {}, info() {}, warn() {}, error: console.error },
})
inbox.on('shop', '*', () => new Promise<void>(() => {}))
await inbox.start()
answer({})
