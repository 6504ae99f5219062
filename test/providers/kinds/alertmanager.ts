import type { Kinds } from 'hookonce/testing/contracts'

const alert = {
  status: 'firing',
  labels: { alertname: 'ProbeFailure', severity: 'critical' },
  annotations: { summary: 'The probe fails' },
  startsAt: '2023-02-06T13:08:45.828Z',
  endsAt: '0001-01-01T00:00:00Z',
  generatorURL: 'http://prometheus.example.org:9090/graph',
  fingerprint: '1a30ba71cca2921f',
}
const group = { receiver: 'hookonce', status: 'firing', version: '4', groupKey: '{}:{}', truncatedAlerts: 0 }

export const alertmanager: Kinds = [
  {
    name: 'a group of alerts',
    body: {
      ...group,
      alerts: [
        alert,
        {
          ...alert,
          fingerprint: '2a30ba71cca2921f',
          status: 'resolved',
          endsAt: '2023-02-06T13:18:45.828Z',
        },
      ],
    },
    events: ['firing', 'resolved'],
    // The group is sent again while it fires: no alert has started or ended.
    redelivery: { 'json:alerts.0.annotations': { summary: 'The probe fails for an hour' } },
    another: [
      { 'json:alerts.0.status': 'resolved', 'json:alerts.0.endsAt': '2023-02-06T13:28:45.828Z' },
      { 'json:alerts.0.startsAt': '2023-02-06T14:08:45.828Z' },
      { 'json:receiver': 'pager' },
    ],
  },
  {
    name: 'an alert that fires again after Alertmanager ended it for lack of news',
    body: { ...group, alerts: [alert] },
    events: ['firing'],
    merged:
      'When Prometheus cannot be reached, Alertmanager ends an alert and later sends it again with the same start. That second start counts as a redelivery; its end is a new event.',
  },
  {
    name: 'a payload of the user, by a template',
    body: { text: 'The probe fails' },
    another: {},
    repeated:
      'A payload from a template has no fingerprint. A group that fires again has the same bytes, so every delivery is a new event.',
  },
]
