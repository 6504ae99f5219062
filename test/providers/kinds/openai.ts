import type { Kinds } from 'hookonce/testing/contracts'

export const openai: Kinds = [
  {
    name: 'a response that was completed',
    headers: { 'webhook-id': 'wh_685342e6c53c8190a1be43f081506c52' },
    body: {
      id: 'evt_685343a1381c819085d44c354e1b330e',
      object: 'event',
      type: 'response.completed',
      data: { id: 'resp_1' },
    },
    events: ['response.completed'],
    another: { 'header:webhook-id': 'wh_685342e6c53c8190a1be43f081506c53' },
  },
]
