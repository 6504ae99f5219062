import type { Kinds } from 'hookonce/testing/contracts'

export const adyenPlatform: Kinds = [
  {
    name: 'a transfer that was booked',
    body: {
      data: { id: '3JNC3O5ZVFLLGV4B', sequenceNumber: 2, status: 'booked' },
      environment: 'test',
      timestamp: '2024-05-03T12:00:00+02:00',
      type: 'balancePlatform.transfer.updated',
    },
    events: ['balancePlatform.transfer.updated'],
    another: [
      { 'json:data.sequenceNumber': 3 },
      { 'json:data.id': '3JNC3O5ZVFLLGV4C' },
      { 'json:type': 'balancePlatform.transfer.created' },
    ],
  },
]
