import type { Kinds } from 'hookonce/testing/contracts'

const headers = {
  'paypal-transmission-id': '69cd13f0-d67a-11e5-baa3-778b53f4ae55',
  'paypal-auth-algo': 'SHA256withRSA',
  'paypal-cert-url': 'https://api.paypal.com/v1/notifications/certs/CERT-360caa42-fca2a594-5d93a270',
}

export const paypal: Kinds = [
  {
    name: 'an event of resource version 2.0',
    headers,
    body: {
      id: 'WH-58D329510W468432D-8HN650336L201105X',
      event_version: '1.0',
      create_time: '2019-02-14T21:50:07.940Z',
      resource_type: 'capture',
      resource_version: '2.0',
      event_type: 'PAYMENT.CAPTURE.COMPLETED',
      resource: { id: '27M47624FP291604U', status: 'COMPLETED' },
    },
    events: ['PAYMENT.CAPTURE.COMPLETED'],
    redelivery: {
      'header:paypal-transmission-id': '79cd13f0-d67a-11e5-baa3-778b53f4ae56',
      timestamp: 600_000,
    },
    another: { 'json:id': 'WH-58D329510W468432D-8HN650336L201105Y' },
  },
  {
    name: 'an event of version 1.0, about the same resource',
    headers,
    body: {
      id: 'WH-2WR32451HC0233532-67976317FL4543714',
      create_time: '2014-10-23T17:23:52Z',
      resource_type: 'sale',
      event_type: 'PAYMENT.SALE.COMPLETED',
      resource: { id: '80021663DE681814L', state: 'completed' },
    },
    events: ['PAYMENT.SALE.COMPLETED'],
    another: { 'json:id': 'WH-2WR32451HC0233532-67976317FL4543715' },
  },
]
