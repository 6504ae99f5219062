import type { Kinds } from 'hookonce/testing/contracts'

export const pagerduty: Kinds = [
  {
    name: 'an event of an incident',
    body: {
      event: {
        id: '5ac64822-4adc-4fda-ade0-410becf0de4f',
        event_type: 'incident.priority_updated',
        resource_type: 'incident',
        data: { id: 'PGR0VU2', type: 'incident' },
      },
    },
    events: ['incident.priority_updated'],
    another: { 'json:event.id': '5ac64822-4adc-4fda-ade0-410becf0de50' },
  },
  {
    name: 'the ping of a subscription',
    body: {
      event: {
        id: '01CH754SM17TWPE2V2H4VPBRO7',
        event_type: 'pagey.ping',
        resource_type: 'pagey',
        data: { message: 'Hello from your friend Pagey!', type: 'ping' },
      },
    },
    events: ['pagey.ping'],
    another: { 'json:event.id': '01CH754SM17TWPE2V2H4VPBRO8' },
  },
]
