import type { Kinds } from 'hookonce/testing/contracts'

const around = {
  meta: { unsubscribe: 'http://statustest.flyingkleinbrothers.com:5000/?unsubscribe=j0vqr9kl3513' },
  page: { id: 'j2mfxwj97wnj', status_indicator: 'major', status_description: 'Partial System Outage' },
}

export const statuspage: Kinds = [
  {
    name: 'a component that changed',
    body: {
      ...around,
      component_update: {
        created_at: '2013-05-29T21:32:28Z',
        new_status: 'operational',
        old_status: 'major_outage',
        id: 'k7730b5v92bv',
        component_id: 'rb5wq1dczvbm',
      },
      component: { id: 'rb5wq1dczvbm', name: 'Some Component', status: 'operational' },
    },
    events: ['component_update'],
    redelivery: { 'json:page.status_indicator': 'none' },
    another: { 'json:component_update.id': 'k7730b5v92bw' },
  },
  {
    name: 'an update of an incident',
    body: {
      ...around,
      incident: {
        id: 'lbkhbwn21v5q',
        status: 'resolved',
        updated_at: '2013-05-29T22:30:51Z',
        incident_updates: [
          { id: 'drfcwbnpxnr6', status: 'resolved' },
          { id: '2rryghr4qgrh', status: 'identified' },
        ],
      },
    },
    events: ['incident'],
    another: [
      { 'json:incident.updated_at': '2013-05-29T22:31:51Z' },
      { 'json:incident.incident_updates.0.id': 'drfcwbnpxnr7' },
    ],
  },
]
