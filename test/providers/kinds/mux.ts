import type { Kinds } from 'hookonce/testing/contracts'

export const mux: Kinds = [
  {
    name: 'an asset that is ready',
    body: {
      type: 'video.asset.ready',
      id: '3a56ac3d-33da-4366-855b-f592d898409d',
      object: { type: 'asset', id: '0201p02fGKPE7MrbC269XRD7LpcHhrmbu0002' },
      attempts: [],
    },
    events: ['video.asset.ready'],
    redelivery: { 'json:attempts': [{ id: 'a1', response_status_code: 500 }], timestamp: 60_000 },
    another: { 'json:id': '3a56ac3d-33da-4366-855b-f592d898409e' },
  },
]
