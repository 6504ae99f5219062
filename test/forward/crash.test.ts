/** A process that dies between sending and writing it down: at least once, under the same id. */
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { type Child, startChild } from '../support/child.js'
import { startEndpoint } from '../support/endpoint.js'
import { onBothLogs, post, signal, stateOf, until } from '../support/processing.js'

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

onBothLogs((bench) => {
  test('killed after the endpoint has it: the endpoint sees it twice with one webhook-id', async () => {
    const endpoint = await startEndpoint()
    const arrived = signal()
    endpoint.answer = (_arrival, response) => {
      // The first is never answered: its sender dies before it could hear anything.
      if (endpoint.arrivals.length === 1) arrived.give()
      else response.writeHead(200).end()
    }
    const { inbox } = bench.inbox({ processing: false })
    await post(inbox, { id: 'e1' })
    const children: Child[] = []
    const start = () => {
      const child = startChild('forwarding-child.mjs', [endpoint.url, secret, ...bench.log.args])
      children.push(child)
      return child
    }
    try {
      const first = start()
      await arrived.wait
      await first.kill()
      start()
      await until(
        async () => (await stateOf(inbox, 'e1', 'shop/billing')) === 'succeeded',
        'the second process sent it',
      )
      expect(endpoint.arrivals.map(({ headers }) => headers['webhook-id'])).toEqual(['e1', 'e1'])
      expect(endpoint.arrivals.map(({ headers }) => headers['hookonce-attempt'])).toEqual(['1', '2'])
      const [one, two] = endpoint.arrivals
      expect(two!.body.equals(one!.body)).toBe(true)
      for (const { body, headers } of endpoint.arrivals)
        expect(() =>
          new Webhook(secret).verify(body.toString(), headers as Record<string, string>),
        ).not.toThrow()
    } finally {
      for (const child of children) await child.kill()
      await endpoint.close()
    }
  })
})
