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
  // As the contact point is set up: HMAC, HMAC with a timestamp header (the best of them), basic authentication, or
  // an authorization header. The last two sign nothing.
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
      what: 'The header for the signature, as in the contact point; in lower case',
      default: 'x-grafana-alerting-signature',
      example: 'x-grafana-alerting-signature',
    },
    timestampHeader: {
      what: 'The header for the timestamp, which has no name until the contact point gives it one; in lower case',
      default: 'x-grafana-alerting-timestamp',
      example: 'x-grafana-alerting-timestamp',
    },
  },
  events: [
    {
      // Each notification repeats every alert of its group, and is itself repeated while they fire. The event is that
      // an alert began or ended; the repeats, with other values in them, are the same event.
      each: 'alerts[]',
      id: composite('json:fingerprint', 'json:startsAt', 'json:status', optional('json:$.orgId')),
      type: 'json:status',
      reference: 'json:fingerprint',
      content: 'none',
    },
    // A custom payload is what the user's template makes of it: nothing says which alert it is about.
    { id: 'unique', type: 'json:status', otherwise: true },
  ],
  // Without HMAC the ids are unsigned, and all alerts of one delivery share its body.
  contentGuard: 'accept',
  retryWindowMs: null,
  samples: sampleFile('grafana-alerting'),
})
