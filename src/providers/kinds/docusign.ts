import type { Kinds } from '../kind.js'

const envelope = {
  event: 'envelope-completed',
  uri: '/restapi/v2.1/accounts/04f94512/envelopes/44c5ad6c',
  retryCount: 0,
  generatedDateTime: '2021-02-16T15:00:00.0000000Z',
  data: { accountId: '04f94512', envelopeId: '44c5ad6c' },
}

export const docusign: Kinds = [
  {
    name: 'an envelope',
    body: envelope,
    events: ['envelope-completed'],
    redelivery: { 'json:retryCount': 1 },
    another: { 'json:generatedDateTime': '2021-02-16T15:00:01.0000000Z' },
  },
  {
    name: 'two recipients of one envelope',
    body: { ...envelope, event: 'recipient-completed', data: { ...envelope.data, recipientId: '1' } },
    events: ['recipient-completed'],
    another: { 'json:data.recipientId': '2' },
  },
]
