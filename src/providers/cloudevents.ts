import { composite, defineProvider, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const cloudevents = defineProvider({
  key: 'cloudevents',
  name: 'CloudEvents (HTTP webhook)',
  docs: 'https://github.com/cloudevents/spec/blob/main/cloudevents/http-webhook.md',
  confidence: 'verified',
  // The specification allows the token in two places. Prefer the header: URLs appear in logs.
  verify: {
    secret: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    accessToken: tokenScheme({ in: 'query:access_token' }),
  },
  options: {
    allowedOrigin: {
      what: 'The allowed origin (WebHook-Request-Origin), for senders with a handshake',
      example: 'eventemitter.example.com',
    },
  },
  // An id is unique within its source. It is in a header (binary mode), in the body (structured) or in a list (batch).
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
      // It is sent before any delivery, without the token.
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
  // The body of binary mode is only the data, which two events can share.
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
