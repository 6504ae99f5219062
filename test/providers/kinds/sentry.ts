import type { Kinds } from 'hookonce/testing/contracts'

const headers = { 'request-id': '2b8e8d1a5f6c4c0bb2b0e5a7d6e4f3a1', 'sentry-hook-resource': 'issue' }
const installation = { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' }
const repeated =
  'Sentry sends a new `Request-ID` each time. An event that is sent again is handled again and flagged.'

export const sentry: Kinds = [
  {
    name: 'an issue that was resolved',
    headers,
    body: { action: 'resolved', installation, data: { issue: { id: '1170820242', status: 'resolved' } } },
    events: ['issue.resolved'],
    redelivery: { 'header:request-id': '2b8e8d1a5f6c4c0bb2b0e5a7d6e4f3a2' },
    // Resolved, reopened and resolved again.
    another: { 'header:request-id': '2b8e8d1a5f6c4c0bb2b0e5a7d6e4f3a3' },
    repeated,
  },
  {
    name: 'an alert',
    headers: { ...headers, 'sentry-hook-resource': 'event_alert' },
    body: {
      action: 'triggered',
      installation,
      data: { event: { issue_id: '1117540176' }, triggered_rule: 'Rule' },
    },
    events: ['event_alert.triggered'],
    redelivery: {},
    another: { 'header:request-id': '2b8e8d1a5f6c4c0bb2b0e5a7d6e4f3a3' },
  },
  {
    name: 'an installation',
    headers: { ...headers, 'sentry-hook-resource': 'installation' },
    body: { action: 'created', installation, data: { installation } },
    events: ['installation.created'],
    another: { 'header:request-id': '2b8e8d1a5f6c4c0bb2b0e5a7d6e4f3a3' },
  },
]
