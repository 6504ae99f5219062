import type { Kinds } from 'hookonce/testing/contracts'

export const prismic: Kinds = [
  {
    name: 'a publication',
    body: {
      type: 'api-update',
      masterRef: 'X6qn-RIAACMAVge1',
      documents: ['Xk2wkRAAAB8AaO1M'],
      domain: 'example',
      apiUrl: 'https://example.cdn.prismic.io/api',
      secret: '',
    },
    events: ['api-update'],
    another: { 'json:masterRef': 'X6qn-RIAACMAVge2' },
  },
  {
    name: 'a test from the settings page',
    body: {
      type: 'test-trigger',
      domain: 'example',
      apiUrl: 'https://example.cdn.prismic.io/api',
      secret: '',
    },
    events: ['test-trigger'],
    merged: 'The test button always sends the same bytes. A second test counts as a redelivery.',
  },
]
