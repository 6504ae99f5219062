import type { Kinds } from 'hookonce/testing/contracts'

const event = {
  resourceUrl: 'https://api.xero.com/api.xro/2.0/Contacts/717f2bfc-c6d4-41fd-b238-3f2f0c0cf777',
  resourceId: '717f2bfc-c6d4-41fd-b238-3f2f0c0cf777',
  eventDateUtc: '2017-06-21T01:15:39.902',
  eventType: 'UPDATE',
  eventCategory: 'CONTACT',
  tenantId: 'c2cc9b6e-9458-4c7d-93cc-f02b81b0594f',
  tenantType: 'ORGANISATION',
}

export const xero: Kinds = [
  {
    name: 'a change of a contact',
    body: { events: [event], firstEventSequence: 1, lastEventSequence: 1, entropy: 'S0m3r4Nd0mt3xt' },
    events: ['CONTACT.UPDATE'],
    redelivery: { 'json:entropy': 'An0th3rR4nd0m' },
    // The same contact, changed again.
    another: { 'json:events.0.eventDateUtc': '2017-06-21T01:15:39.903' },
  },
  {
    name: 'several changes at once',
    body: {
      events: [
        event,
        { ...event, eventDateUtc: '2017-06-21T01:15:40.100' },
        { ...event, eventCategory: 'INVOICE', eventType: 'CREATE' },
      ],
      firstEventSequence: 1,
      lastEventSequence: 3,
      entropy: 'S0m3r4Nd0mt3xt',
    },
    events: ['CONTACT.UPDATE', 'CONTACT.UPDATE', 'INVOICE.CREATE'],
    another: { 'json:events.1.resourceId': '44aa0707-f718-4f1c-8d53-f2da9ca59533' },
  },
  {
    name: 'the intent to receive',
    body: { events: [], firstEventSequence: 0, lastEventSequence: 0, entropy: 'S0m3r4Nd0mt3xt' },
    handshake: true,
  },
]
