import { defineProvider, hmacScheme } from '../verification/define-provider.js'

export const calcom = defineProvider({
  key: 'calcom',
  name: 'Cal.com',
  docs: 'https://cal.com/docs/core-features/webhooks',
  confidence: 'verified',
  // Without a secret the header says `no-secret-provided`, which is no signature and is refused.
  verify: hmacScheme({ signature: 'header:x-cal-signature-256', encoding: 'hex' }),
  events: {
    // There is no event id; createdAt, to the millisecond, tells equal events apart.
    id: 'hash',
    type: 'json:triggerEvent',
    reference: ['json:payload.uid', 'json:uid'],
  },
  retryWindowMs: null,
  keepHeaders: ['x-cal-webhook-version'],
  samples: {
    BOOKING_CREATED: {
      triggerEvent: 'BOOKING_CREATED',
      createdAt: '{now:iso}',
      payload: {
        type: '60min',
        title: '60min between Pro Example and John Doe',
        startTime: '2026-11-20T09:00:00Z',
        endTime: '2026-11-20T10:00:00Z',
        organizer: { name: 'Pro Example', email: 'pro@example.com', timeZone: 'Europe/London' },
        attendees: [{ name: 'John Doe', email: 'john.doe@example.com', timeZone: 'Europe/London' }],
        uid: '{id}',
        status: 'ACCEPTED',
      },
    },
    BOOKING_CANCELLED: {
      triggerEvent: 'BOOKING_CANCELLED',
      createdAt: '{now:iso}',
      payload: {
        type: '60min',
        title: '60min between Pro Example and John Doe',
        startTime: '2026-11-20T09:00:00Z',
        endTime: '2026-11-20T10:00:00Z',
        cancellationReason: 'A conflict',
        uid: '{id}',
        status: 'CANCELLED',
      },
    },
  },
})
