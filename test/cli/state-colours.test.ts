/** The colours of the states in the terminal are those of docs/dashboard.md, which the dashboard has too. */
import { afterEach, expect, test, vi } from 'vitest'
import { eventDetail, eventTable } from '#dist/cli/event-text.js'
import type { EventView } from '#dist/cli/log/event-log.js'
import { painter, terminalText } from '#dist/cli/terminal-text.js'

const event: EventView = {
  ...{
    source: 'shop',
    id: 'evt_1',
    type: 'order.paid',
    reference: null,
    references: [],
    state: 'pending',
    dead: false,
  },
  ...{
    reason: null,
    deliveries: 1,
    conflicts: 0,
    sameAs: null,
    origin: 'delivery',
    run: 1,
    seq: 1,
    attempts: 0,
    waiting: null,
  },
  ...{ receivedAt: '2026-01-01T00:00:00.000Z', lastDeliveryAt: '2026-01-01T00:00:00.000Z' },
  ...{ processedAt: null, nextAttemptAt: null, payload: 'kept' },
} as unknown as EventView

const colours = { green: 32, cyan: 36, yellow: 33, red: 31, grey: 2 }
const states: readonly (readonly [keyof typeof colours, string, Partial<EventView>])[] = [
  ['green', 'succeeded', { state: 'succeeded' }],
  ['cyan', 'processing', { state: 'processing' }],
  ['yellow', 'failed', { state: 'failed' }],
  ['red', 'failed (dead letter)', { state: 'failed', dead: true }],
  ['grey', 'pending', { state: 'pending' }],
  ['grey', 'ignored', { state: 'ignored' }],
]

afterEach(() => vi.unstubAllEnvs())

test.each(states)('%s: %s', (colour, word, change) => {
  vi.stubEnv('NO_COLOR', '')
  vi.stubEnv('FORCE_COLOR', '1')
  vi.stubEnv('TERM', 'xterm')
  const paint = painter({ isTTY: true })
  const text = `\u001b[${colours[colour]}m${word}\u001b`
  expect(terminalText(eventTable([{ ...event, ...change }], paint))).toContain(text)
  expect(terminalText(eventDetail({ ...event, ...change }, [], paint))).toContain(text)
})

test('NO_COLOR leaves the colours out', () => {
  vi.stubEnv('NO_COLOR', '1')
  const dead = { ...event, state: 'failed', dead: true } as const
  expect(terminalText(eventTable([dead], painter({ isTTY: true })))).not.toContain('\u001b')
})
