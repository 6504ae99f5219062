import type { Kinds } from 'hookonce/testing/contracts'

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
  {
    name: 'an aggregate message, which has no time of its own',
    docs: 'https://developers.docusign.com/platform/webhooks/connect/json-sim-event-model/',
    body: { status: 'completed', envelopeId: '44c5ad6c', statusChangedDateTime: '2021-02-16T15:00:00Z' },
    another: { 'json:statusChangedDateTime': '2021-02-17T15:00:00Z' },
  },
  {
    name: 'an XML message',
    docs: 'https://developers.docusign.com/platform/webhooks/connect/architecture/',
    format: 'xml',
    body: '<DocuSignEnvelopeInformation><EnvelopeID>44c5ad6c</EnvelopeID><TimeGenerated>1</TimeGenerated></DocuSignEnvelopeInformation>',
    another: { 'text:<TimeGenerated>1<': '<TimeGenerated>2<' },
  },
]
