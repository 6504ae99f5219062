import type { Kinds } from 'hookonce/testing/contracts'

const alert = {
  status: 'firing',
  labels: { alertname: 'High memory usage' },
  startsAt: '2021-10-12T09:51:03.157076+02:00',
  endsAt: '0001-01-01T00:00:00Z',
  values: { B: 44.2 },
  fingerprint: 'c6eadffa33fcdf37',
}

export const grafanaAlerting: Kinds = [
  {
    name: 'a group of alerts',
    body: {
      receiver: 'My Super Webhook',
      status: 'firing',
      orgId: 1,
      alerts: [alert, { ...alert, fingerprint: 'd6eadffa33fcdf37', status: 'resolved' }],
    },
    events: ['firing', 'resolved'],
    // The group is sent again while it fires, with other values: no alert has started or ended.
    redelivery: { 'json:alerts.0.values': { B: 45.1 }, timestamp: 60_000 },
    another: [
      { 'json:alerts.0.status': 'resolved' },
      { 'json:alerts.0.startsAt': '2021-10-12T10:51:03.157076+02:00' },
    ],
  },
  {
    name: 'a payload of the user, by a template',
    docs: 'https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/#custom-payload',
    body: { text: 'High memory usage' },
    another: {},
    repeated:
      'A payload from a template has no fingerprint. A group that fires again has the same bytes, so every delivery is a new event.',
  },
]
