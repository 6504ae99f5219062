import type { Kinds } from 'hookonce/testing/contracts'

export const paddle: Kinds = [
  {
    name: 'a subscription',
    body: {
      event_id: 'evt_01hv8x29nsh54c7pk0hbysnyzq',
      event_type: 'subscription.updated',
      notification_id: 'ntf_01hv8x29nsh54c7pk0hbysnyzq',
      data: { id: 'sub_01hv8x29kz0t586xy6zn1a62ny' },
    },
    events: ['subscription.updated'],
    // Replayed from the dashboard.
    redelivery: { 'json:notification_id': 'ntf_01hv8x2axsnvmfsqe6aqdfnykv', timestamp: 60_000 },
    another: { 'json:event_id': 'evt_01hv8x29nsh54c7pk0hbysnyzr' },
  },
]
