import {
  basicScheme,
  composite,
  defineProvider,
  optional,
  tokenScheme,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const alertmanager = defineProvider({
  key: 'alertmanager',
  name: 'Prometheus Alertmanager (webhook receiver)',
  docs: 'https://prometheus.io/docs/alerting/latest/configuration/#webhook_config',
  confidence: 'verified',
  // Alertmanager signs nothing: `authorization` or `basic_auth` of the receiver's http_config.
  verify: {
    bearerToken: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
    userPassword: basicScheme(),
  },
  events: [
    {
      // A notification has every alert of its group, and is sent again while they fire (repeat_interval). An event is the
      // start or the end of an alert for a receiver; endsAt is the zero time while it fires.
      each: 'alerts[]',
      id: composite(
        'json:fingerprint',
        'json:startsAt',
        'json:status',
        optional('json:endsAt'),
        optional('json:$.receiver'),
      ),
      type: 'json:status',
      reference: 'json:fingerprint',
      // Annotations and generatorURL can change while the alert fires.
      content: 'none',
    },
    // The user's template defines a custom payload, which need not identify an alert.
    { id: 'unique', type: 'json:status', otherwise: true },
  ],
  // A group that fires again has the same bytes, and ids are not signed.
  contentGuard: 'accept',
  // It retries until the group's next notification; only a 5xx is retried (notify/webhook/webhook.go).
  retryWindowMs: null,
  samples: sampleFile('alertmanager'),
})
