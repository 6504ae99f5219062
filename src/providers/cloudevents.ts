import { composite, defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const cloudevents = defineProvider({
  key: 'cloudevents',
  name: 'CloudEvents (HTTP webhook)',
  docs: 'https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md',
  confidence: 'verified',
  // The two places the specification has for a token; prefer the header, addresses end up in logs.
  verify: {
    secret: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    accessToken: tokenScheme({ in: 'query:access_token' }),
  },
  options: {
    allowedOrigin: {
      what: 'The origin (WebHook-Request-Origin) that may send here, for senders that ask first',
      example: 'eventemitter.example.com',
    },
  },
  // Ids are unique within their source. Binary mode has them in headers, structured in the body, batches in a list.
  events: [
    {
      id: composite('header:ce-source', 'header:ce-id'),
      type: 'header:ce-type',
      reference: 'header:ce-subject',
    },
    {
      each: '[]',
      id: composite('json:source', 'json:id'),
      type: 'json:type',
      reference: 'json:subject',
      otherwise: true,
    },
    {
      id: composite('json:source', 'json:id'),
      type: 'json:type',
      reference: 'json:subject',
      otherwise: true,
    },
  ],
  handshakes: [
    {
      when: { method: 'OPTIONS', 'header:webhook-request-origin': '{option:allowedOrigin}' },
      needsOption: 'allowedOrigin',
      // It comes before any delivery, without the token.
      signed: false,
      reply: {
        headers: {
          allow: 'POST',
          'webhook-allowed-origin': '{header:webhook-request-origin}',
          'webhook-allowed-rate': '*',
        },
      },
    },
  ],
  retryWindowMs: null,
  // In binary mode the body is only the data, and two events may well have the same.
  contentGuard: 'accept',
  keepHeaders: ['ce-id', 'ce-source', 'ce-specversion', 'ce-subject', 'ce-time', 'ce-type'],
  sampleHeaders: {
    'ce-id': '{id}',
    'ce-source': '/orders/eu',
    'ce-specversion': '1.0',
    'ce-subject': 'order-1001',
    'ce-time': '{now:iso}',
  },
  samples: sampleFile('cloudevents'),
})
