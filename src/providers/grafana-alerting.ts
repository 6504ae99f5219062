import {
  basicScheme,
  composite,
  defineProvider,
  hmacScheme,
  optional,
  tokenScheme,
} from '../verification/define-provider.js'

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
  samples: {
    firing: {
      receiver: 'My Super Webhook',
      status: 'firing',
      orgId: 1,
      alerts: [
        {
          status: 'firing',
          labels: { alertname: 'High memory usage', team: 'blue', zone: 'us-1' },
          annotations: { summary: 'The system has high memory usage' },
          startsAt: '2026-11-15T11:21:36.372106+02:00',
          endsAt: '0001-01-01T00:00:00Z',
          values: { B: 44.23943737541908, C: 1 },
          fingerprint: '{id}',
        },
        {
          status: 'resolved',
          labels: { alertname: 'High CPU usage', team: 'blue', zone: 'eu-1' },
          annotations: { summary: 'The system has high CPU usage' },
          startsAt: '2026-11-15T10:51:36.372106+02:00',
          endsAt: '2026-11-15T11:20:36.372106+02:00',
          values: { B: 12.1, C: 0 },
          fingerprint: '{id}-2',
        },
      ],
      groupLabels: {},
      commonLabels: { team: 'blue' },
      externalURL: 'https://play.grafana.org/',
      version: '1',
      groupKey: '{}:{}',
      truncatedAlerts: 0,
      title: '[FIRING:1, RESOLVED:1] (blue)',
      state: 'alerting',
    },
    resolved: {
      receiver: 'My Super Webhook',
      status: 'resolved',
      orgId: 1,
      alerts: [
        {
          status: 'resolved',
          labels: { alertname: 'High memory usage', team: 'blue', zone: 'us-1' },
          annotations: { summary: 'The system has high memory usage' },
          startsAt: '2026-11-15T11:21:36.372106+02:00',
          endsAt: '2026-11-15T11:41:36.372106+02:00',
          values: { B: 12.1, C: 0 },
          fingerprint: '{id}',
        },
      ],
      groupLabels: {},
      externalURL: 'https://play.grafana.org/',
      version: '1',
      groupKey: '{}:{}',
      truncatedAlerts: 0,
      title: '[RESOLVED] (blue)',
      state: 'ok',
    },
  },
})
