/**
 * The description is true: every operation of /api/openapi.json is called on a running server, on both stores, and what
 * comes back is what it says.
 */
import SwaggerParser from '@apidevtools/swagger-parser'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Inbox } from 'hookonce'
import { addDestinations } from 'hookonce/forward'
import { afterEach, expect, test } from 'vitest'
import { type Sender, stripeSender } from '../reconcile/support.js'
import { onLog, post } from '../support/processing.js'
import { pathOf, type RunningAdmin, startAdmin } from './support.js'

interface Operation {
  readonly operationId: string
  readonly parameters: { name: string; in: string; required: boolean; schema: object }[]
  readonly requestBody?: { content: Record<string, { schema: object }> }
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}
type Document = { readonly paths: Record<string, Record<string, Operation>> }

const ajv = new Ajv2020({ strict: false, allErrors: true })
;(formats as unknown as (ajv: Ajv2020) => void)(ajv)

const ID = 'evt/1?#%2F ünïcode:*'

/** A call of each operation that succeeds, in an order in which it can. */
const calls: Record<string, (admin: RunningAdmin) => Promise<Response> | Response> = {
  getOpenapi: (admin) => admin.call('GET', '/api/openapi.json', { role: null }),
  listEvents: (admin) =>
    admin.call(
      'GET',
      '/api/events?source=shop&state=pending&type=order.*&limit=1&hasDuplicates=false&from=0',
    ),
  getEvent: (admin) => admin.call('GET', pathOf('shop', ID)),
  listAttempts: (admin) => admin.call('GET', `${pathOf('shop', 'failed')}/attempts`),
  getPayload: (admin) =>
    admin.call('GET', `${pathOf('shop', ID)}/payload?note=look`, {
      headers: { accept: 'application/json' },
    }),
  listAudits: (admin) => admin.call('GET', '/api/audits?verb=payload&limit=10'),
  ignoreEvent: (admin) => admin.call('POST', `${pathOf('shop', ID)}/ignore`, { body: { note: 'noise' } }),
  retryEvent: (admin) => admin.call('POST', `${pathOf('shop', ID)}/retry`, { body: { dryRun: true } }),
  replayEvent: (admin) => admin.call('POST', `${pathOf('shop', ID)}/replay`),
  startAction: (admin) =>
    admin.call('POST', '/api/events/actions', {
      body: { verb: 'retry', filter: { state: 'failed' }, dryRun: true },
    }),
  async getAction(admin) {
    const { id } = (await (await slowAction(admin)).json()) as { id: string }
    return admin.call('GET', `/api/actions/${id}`)
  },
  async cancelAction(admin) {
    const { id } = (await (await slowAction(admin)).json()) as { id: string }
    return admin.call('DELETE', `/api/actions/${id}`)
  },
  listActions: (admin) => admin.call('GET', '/api/actions'),
  listEffects: (admin) => admin.call('GET', `${pathOf('shop', ID)}/effects`, { role: 'viewer' }),
  getConflict: (admin) => admin.call('GET', `${pathOf('shop', ID)}/conflict`),
  copyEvent: (admin) =>
    admin.call('POST', `${pathOf('shop', ID)}/copies`, { body: { body: 'e30=', note: 'try', dryRun: true } }),
  getOverview: (admin) => admin.call('GET', '/api/overview?window=1h', { role: 'viewer' }),
  getAttention: (admin) => admin.call('GET', '/api/attention', { role: 'viewer' }),
  listDeadLetters: (admin) => admin.call('GET', '/api/dead-letters?source=shop', { role: 'viewer' }),
  getReview: (admin) => admin.call('GET', '/api/review', { role: 'viewer' }),
  findEvents: (admin) => admin.call('GET', '/api/find?q=o-2', { role: 'viewer' }),
  getFacets: (admin) => admin.call('GET', '/api/facets', { role: 'viewer' }),
  countEvents: (admin) => admin.call('GET', '/api/events/count?source=shop', { role: 'viewer' }),
  searchPayloads: (admin) => admin.call('GET', '/api/search?path=$.ref&value=o-2&source=shop'),
  reconcileSource: (admin) => admin.call('POST', '/api/sources/stripe/reconcile', { body: { since: '2h' } }),
  listReconciles: (admin) => admin.call('GET', '/api/sources/stripe/reconciles?limit=5', { role: 'viewer' }),
  getSource: (admin) => admin.call('GET', '/api/sources/stripe', { role: 'viewer' }),
  sendTestEvent: (admin) => admin.call('POST', '/api/sources/shop/test', { body: {} }),
  listHandlers: (admin) => admin.call('GET', '/api/handlers', { role: 'viewer' }),
  listPauses: (admin) => admin.call('GET', '/api/pauses', { role: 'viewer' }),
  pause: (admin) => admin.call('POST', '/api/pause', { body: { source: 'shop' } }),
  resume: (admin) => admin.call('POST', '/api/resume', { body: { source: 'shop', note: 'well again' } }),
  signSample: (admin) => admin.call('POST', '/api/sources/shop/sample', { body: {} }),
  listDestinations: (admin) => admin.call('GET', '/api/destinations', { role: 'viewer' }),
  pauseDestination: (admin) => admin.call('POST', '/api/destinations/ledger/pause', { body: {} }),
  resumeDestination: (admin) => admin.call('POST', '/api/destinations/ledger/resume', { body: {} }),
  listWorkers: (admin) => admin.call('GET', '/api/workers', { role: 'viewer' }),
  getSystem: (admin) => admin.call('GET', '/api/system', { role: 'viewer' }),
  getStats: (admin) => admin.call('GET', '/api/stats', { role: 'viewer' }),
  listSources: (admin) => admin.call('GET', '/api/sources', { role: 'viewer' }),
  async streamEvents(admin) {
    const stop = new AbortController()
    const response = await admin.call('GET', '/api/stream?after=0', { signal: stop.signal })
    stop.abort()
    return new Response('"a stream"', { status: response.status, headers: response.headers })
  },
  claimWork: (admin) => claim(admin, 1),
  async extendWork(admin) {
    const lease = await leaseOf(admin)
    return admin.call('POST', '/api/work/extend', {
      role: 'worker',
      body: { leases: [lease, '1.dead'], leaseMs: 5_000 },
    })
  },
  async settleWork(admin) {
    const outcome = { kind: 'failed', error: 'no', retryInMs: 0 }
    const settlements = [
      { lease: await leaseOf(admin), outcome, durationMs: 3 },
      { lease: '99.dead', outcome: { kind: 'succeeded' } },
    ]
    return admin.call('POST', '/api/work/settle', { role: 'worker', body: { settlements } })
  },
  async releaseWork(admin) {
    return admin.call('POST', '/api/work/release', {
      role: 'worker',
      body: { leases: [await leaseOf(admin)] },
    })
  },
  signIn: (admin) =>
    admin.call('POST', '/api/sessions', { role: null, body: { token: 'token-of-the-viewer' } }),
  getSession: (admin) => admin.call('GET', '/api/session', { role: 'worker' }),
  signOut: (admin) => admin.call('DELETE', '/api/sessions', { role: null }),
}

function slowAction(admin: RunningAdmin): Promise<Response> {
  return admin.call('POST', '/api/events/actions', {
    body: { verb: 'replay', filter: { source: 'bulk' }, rate: 1, dryRun: true },
  })
}

function claim(admin: RunningAdmin, limit: number): Promise<Response> {
  return admin.call('POST', '/api/work/claim', {
    role: 'worker',
    body: { worker: 'w', limit, sources: ['work'] },
  })
}

async function leaseOf(admin: RunningAdmin): Promise<string> {
  const { events } = (await (await claim(admin, 1)).json()) as { events: { lease: string }[] }
  return events[0]!.lease
}

onLog('SQLite', (bench) => {
  let running: RunningAdmin | undefined
  let sender: Sender | undefined
  afterEach(() => Promise.all([running?.stop(), sender?.fake.close()]))

  async function filled(): Promise<Inbox> {
    const source = (await import('../support/processing.js')).shop()
    sender = await stripeSender()
    sender.happens(3_600_000)
    const stripe = sender.source()
    const { inbox } = bench.inbox({ sources: { shop: source, work: source, bulk: source, stripe } })
    inbox.on('shop', 'order.failed', () => {
      throw new Error('no')
    })
    addDestinations(inbox, {
      ledger: {
        url: 'https://ledger.example.com/',
        secret: 'whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0',
        sources: ['bulk'],
        types: ['ledger.*'],
      },
    })
    await inbox.receive('shop', {
      method: 'POST',
      url: 'http://h/webhooks/shop',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ id: 'failed', type: 'order.failed', ref: 'o-1' })),
    })
    await inbox.process('shop', 'failed')
    await post(inbox, { id: ID, ref: 'o-2' })
    await post(inbox, { id: ID, ref: 'o-2', other: 'bytes' })
    for (const id of ['w1', 'w2', 'w3', 'w4', 'w5']) await post(inbox, { id }, 'work')
    for (const id of ['b1', 'b2', 'b3', 'b4']) await post(inbox, { id }, 'bulk')
    return inbox
  }

  test('every operation answers as /api/openapi.json says', async () => {
    running = await startAdmin(await filled())
    const raw = await running.json('GET', '/api/openapi.json')
    // Throws when it is not OpenAPI 3.1; references are put in their places.
    const document = (await SwaggerParser.validate(structuredClone(raw) as never)) as unknown as Document
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
    // Only PostgreSQL answers it: test/cli/why.test.ts.
    const onSqlite = operations.map(({ operationId }) => operationId).filter((id) => id !== 'getRowWriter')
    expect(onSqlite.sort()).toEqual(Object.keys(calls).sort())
    const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
    for (const [id, call] of Object.entries(calls)) {
      const response = await call(running)
      const said = byId.get(id)!.responses[response.status]
      expect(said, `${id} answered ${response.status}: ${await response.clone().text()}`).toBeDefined()
      if (said!.content === undefined) {
        expect([id, await response.text()]).toEqual([id, ''])
        continue
      }
      const type = response.headers.get('content-type')!.split(';')[0]!
      const { schema } = said!.content[type] ?? {}
      expect(schema, `${id} answered ${type}`).toBeDefined()
      const value = await response.json()
      const fits = ajv.compile(schema!)
      expect([id, fits(value), fits.errors, value]).toEqual([id, true, null, value])
    }
  })

  test('what does not fit is a problem with a code, and the description has its shape', async () => {
    running = await startAdmin(await filled())
    const { components } = (await running.json('GET', '/api/openapi.json')) as unknown as {
      components: { schemas: { Problem: object } }
    }
    const fits = ajv.compile(components.schemas.Problem)
    const cases: [string, string, unknown, number, string][] = [
      ['GET', '/api/events?stat=failed', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events?state=lost', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events?limit=0', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events?limit=1&limit=2', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events?from=yesterday', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events?cursor=nonsense', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events?q=a&cursor=nonsense', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events?minAttempts=1000001', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/events/shop/nobody', undefined, 404, 'EVENT_NOT_FOUND'],
      ['GET', '/api/events/shop/nobody/payload', undefined, 404, 'EVENT_NOT_FOUND'],
      ['GET', '/api/events/shop/nobody/attempts', undefined, 404, 'EVENT_NOT_FOUND'],
      ['GET', '/api/overview?window=2h', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/search?path=a..b&value=1', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/search?path=a', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/sources/nobody', undefined, 404, 'UNKNOWN_SOURCE'],
      ['POST', '/api/sources/nobody/test', {}, 404, 'UNKNOWN_SOURCE'],
      ['POST', '/api/pause', { source: 'nobody' }, 400, 'INVALID_INPUT'],
      ['POST', '/api/destinations/nobody/pause', {}, 400, 'INVALID_INPUT'],
      ['GET', '/api/events/shop/failed/conflict', undefined, 410, 'PAYLOAD_REMOVED'],
      ['POST', '/api/events/shop/failed/copies', { body: 'e30=' }, 400, 'INVALID_INPUT'],
      ['POST', '/api/events/actions', { verb: 'retry' }, 400, 'INVALID_INPUT'],
      ['GET', '/api/nothing', undefined, 404, 'ROUTE_UNKNOWN'],
      ['DELETE', '/api/events/shop/failed', undefined, 405, 'METHOD_REFUSED'],
      ['OPTIONS', '/api/stats', undefined, 405, 'METHOD_REFUSED'],
      ['POST', '/api/events/shop/nobody/retry', {}, 404, 'EVENT_NOT_FOUND'],
      ['POST', `${pathOf('shop', ID)}/retry`, { note: 1 }, 400, 'INVALID_INPUT'],
      ['POST', `${pathOf('shop', ID)}/retry`, { because: 'x' }, 400, 'INVALID_INPUT'],
      ['POST', `${pathOf('shop', ID)}/retry`, {}, 409, 'MOVE_FORBIDDEN'],
      ['POST', '/api/events/actions', { verb: 'retry', filter: {} }, 400, 'INVALID_INPUT'],
      ['POST', '/api/events/actions', { verb: 'delete', filter: { source: 'shop' } }, 400, 'INVALID_INPUT'],
      ['GET', '/api/actions/6f0c1d5e-8f0e-4b4e-9b0a-0d6f5f1c2a3b', undefined, 404, 'ACTION_NOT_FOUND'],
      ['POST', '/api/work/claim', { worker: 'w', sources: ['nobody'] }, 404, 'UNKNOWN_SOURCE'],
      ['POST', '/api/work/claim', { worker: 'w', waitMs: 30_001 }, 400, 'INVALID_INPUT'],
      ['POST', '/api/work/settle', { settlements: [] }, 400, 'INVALID_INPUT'],
    ]
    for (const [method, path, body, status, code] of cases) {
      const response = await running.call(method, path, { body })
      const value = await response.json()
      expect([method, path, response.status, value]).toMatchObject([method, path, status, { code, status }])
      expect([path, fits(value), fits.errors]).toEqual([path, true, null])
      expect(response.headers.get('content-type')).toBe('application/problem+json')
    }
    const form = await running.call('POST', `${pathOf('shop', ID)}/retry`, {
      headers: { 'content-type': 'text/plain' },
      body: '{"note":"x"}',
    })
    expect([form.status, await form.json()]).toMatchObject([415, { code: 'MEDIA_TYPE_REFUSED' }])
    const broken = await running.call('POST', `${pathOf('shop', ID)}/retry`, { body: '{"note":' })
    expect([broken.status, await broken.json()]).toMatchObject([400, { code: 'INVALID_INPUT' }])
    const huge = await running.call('POST', `${pathOf('shop', ID)}/retry`, {
      body: { note: 'x'.repeat(1_100_000) },
    })
    expect(huge.status).toBe(413)
  })
})
