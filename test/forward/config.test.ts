/** `destinations` and `alerts` of a configuration are in force once its inbox runs. */
import { destinationStates } from 'hookonce/forward'
import type { Notice } from 'hookonce/telemetry'
import { expect, test } from 'vitest'
import { inboxFromConfig } from '#dist/config/build.js'
import { startEndpoint } from '../support/endpoint.js'
import { post, shop, until } from '../support/processing.js'

test('events go on to the destinations, and alerts look from start to stop', async () => {
  const endpoint = await startEndpoint()
  const notices: Notice[] = []
  const secret = `whsec_${Buffer.alloc(24, 4).toString('base64')}`
  const config = {
    store: 'sqlite::memory:',
    sources: { shop: shop() },
    log: 'silent' as const,
    destinations: { billing: { url: endpoint.url, secret, allowPrivate: ['127.0.0.1'] } },
    alerts: { conflicts: { perMinute: 0 }, every: 10, notify: (notice: Notice) => void notices.push(notice) },
  }
  const inbox = await inboxFromConfig({ config, warnings: [] })
  await inbox.start()
  await post(inbox, { id: 'e1', n: 1 })
  await post(inbox, { id: 'e1', n: 2 })
  await until(
    () => destinationStates(inbox)[0]!.sent === 1 && notices.length === 1,
    'it was sent, and the conflict told',
  )
  expect(destinationStates(inbox)).toMatchObject([{ name: 'billing', origin: new URL(endpoint.url).origin }])
  await inbox.stop()
  await endpoint.close()
  const wrong = { ...config, alerts: { ...config.alerts, every: 'often' } }
  await expect(inboxFromConfig({ config: wrong as never, warnings: [] })).rejects.toThrow(
    'must be a duration',
  )
})
