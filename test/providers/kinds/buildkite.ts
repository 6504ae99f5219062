import type { Kinds } from 'hookonce/testing/contracts'

export const buildkite: Kinds = [
  {
    name: 'an event of a build',
    docs: 'https://buildkite.com/docs/apis/webhooks/pipelines/build-events',
    headers: { 'x-buildkite-event': 'build.running' },
    body: {
      event: 'build.running',
      build: { id: 'f62a1b4d', state: 'running', started_at: '2026-11-15T12:00:00.000Z' },
    },
    events: ['build.running'],
    another: [{ 'json:build.started_at': '2026-11-15T12:00:01.000Z' }, { 'json:build.state': 'passed' }],
  },
  {
    name: 'an event of a job',
    headers: { 'x-buildkite-event': 'job.finished' },
    body: {
      event: 'job.finished',
      job: { id: 'b63254c0', state: 'passed', finished_at: '2026-11-15T12:00:00.000Z' },
    },
    events: ['job.finished'],
    another: { 'json:job.id': 'c63254c0' },
  },
  {
    name: 'a ping',
    headers: { 'x-buildkite-event': 'ping' },
    body: {
      event: 'ping',
      service: { id: 'c9f8372d', provider: 'webhook' },
      sender: { id: '1', name: 'Ada' },
    },
    events: ['ping'],
    merged: 'A ping has no id and no time. A second ping counts as a redelivery of the first.',
  },
]
