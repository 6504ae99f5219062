import {
  basicScheme,
  composite,
  defineProvider,
  hmacScheme,
  optional,
  tokenScheme,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const signature = 'header:{option:signatureHeader}'

export const grafanaAlerting = defineProvider({
  key: 'grafanaAlerting',
  name: 'Grafana Alerting (webhook contact point)',
  docs: 'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/',
  confidence: 'verified',
  // The contact point has HMAC, HMAC with a timestamp header (the safest), basic authentication, or an authorization
  // header. The last two sign nothing.
  verify: {
    secret: hmacScheme({ signature, encoding: 'hex' }),
    timestampedSecret: hmacScheme({
      signature,
      encoding: 'hex',
      signed: '{timestamp}:{body}',
      timestamp: { in: 'header:{option:timestampHeader}', unit: 's' },
    }),
    userPassword: basicScheme(),
    bearerToken: tokenScheme({ in: 'header:authorization', prefix: 'Bearer ' }),
  },
  options: {
    signatureHeader: {
      what: 'The signature header of the contact point, in lower case',
      default: 'x-grafana-alerting-signature',
      example: 'x-grafana-alerting-signature',
    },
    timestampHeader: {
      what: 'The timestamp header of the contact point, in lower case; the contact point has no default',
      default: 'x-grafana-alerting-timestamp',
      example: 'x-grafana-alerting-timestamp',
    },
  },
  events: [
    {
      // A notification has every alert of its group, and is sent again while they fire. An event is the start or the end
      // of an alert; a repeated notification with other values is the same event.
      each: 'alerts[]',
      id: composite('json:fingerprint', 'json:startsAt', 'json:status', optional('json:$.orgId')),
      type: 'json:status',
      reference: 'json:fingerprint',
      content: 'none',
    },
    // The user's template defines a custom payload, which need not identify an alert.
    { id: 'unique', type: 'json:status', otherwise: true },
  ],
  // The ids are signed only with HMAC, and all alerts of a delivery have one body.
  contentGuard: 'accept',
  retryWindowMs: null,
  samples: sampleFile('grafana-alerting'),
})
