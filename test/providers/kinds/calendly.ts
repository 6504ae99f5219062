import type { Kinds } from 'hookonce/testing/contracts'

export const calendly: Kinds = [
  {
    name: 'an event of an invitee',
    docs: 'https://developer.calendly.com/api-docs/webhook-payload',
    body: {
      created_at: '2020-11-23T17:51:19.000000Z',
      event: 'invitee.created',
      payload: { uri: 'https://api.calendly.com/scheduled_events/A/invitees/B', rescheduled: false },
    },
    events: ['invitee.created'],
    another: [
      { 'json:event': 'invitee.canceled' },
      { 'json:payload.uri': 'https://api.calendly.com/scheduled_events/A/invitees/C' },
      { 'json:created_at': '2020-11-23T17:51:20.000000Z' },
    ],
  },
  {
    name: 'a submitted routing form',
    body: {
      created_at: '2022-03-14T17:51:19.000000Z',
      event: 'routing_form_submission.created',
      payload: { uri: 'https://api.calendly.com/routing_form_submissions/A', routing_form: 'x' },
    },
    events: ['routing_form_submission.created'],
    another: { 'json:payload.uri': 'https://api.calendly.com/routing_form_submissions/B' },
  },
]
