import type { Kinds } from 'hookonce/testing/contracts'

export const typeform: Kinds = [
  {
    name: 'a response',
    body: {
      event_id: 'LtWXD3crgy',
      event_type: 'form_response',
      form_response: { form_id: 'lT4Z3j', token: 'a3a12ec67a1365927098a606107fac15', answers: [] },
    },
    events: ['form_response'],
    another: { 'json:event_id': 'LtWXD3crgz' },
  },
  {
    name: 'a partial response',
    body: {
      event_id: 'LtWXD3crha',
      event_type: 'form_response_partial',
      form_response: { form_id: 'lT4Z3j', token: 'a3a12ec67a1365927098a606107fac15', answers: [] },
    },
    events: ['form_response_partial'],
    another: { 'json:event_id': 'LtWXD3crhb' },
  },
]
