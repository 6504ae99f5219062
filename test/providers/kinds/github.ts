import type { Kinds } from 'hookonce/testing/contracts'

const repository = { id: 186853002, full_name: 'octocat/hello-world' }

export const github: Kinds = [
  {
    name: 'an event as JSON',
    headers: { 'x-github-event': 'issues', 'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958' },
    body: { action: 'opened', issue: { id: 73464126, number: 7 }, repository },
    events: ['issues.opened'],
    another: { 'header:x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0959' },
  },
  {
    name: 'an action on a pull request',
    docs: 'https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request',
    headers: {
      'x-github-event': 'pull_request',
      'x-github-delivery': '82d3162e-cc78-11e3-81ab-4c9367dc0958',
    },
    body: { action: 'closed', number: 12, pull_request: { id: 279147437, number: 12 }, repository },
    events: ['pull_request.closed'],
    another: { 'header:x-github-delivery': '82d3162e-cc78-11e3-81ab-4c9367dc0959' },
  },
  {
    name: 'a workflow that is dispatched twice with the same inputs',
    docs: 'https://docs.github.com/en/webhooks/webhook-events-and-payloads#workflow_dispatch',
    headers: {
      'x-github-event': 'workflow_dispatch',
      'x-github-delivery': '0b989ba4-242f-11e5-81e1-c7b6966d2516',
    },
    body: {
      inputs: { level: 'debug' },
      ref: 'refs/heads/main',
      workflow: '.github/workflows/ci.yml',
      repository,
    },
    events: ['workflow_dispatch'],
    another: { 'header:x-github-delivery': '0b989ba4-242f-11e5-81e1-c7b6966d2517' },
  },
  {
    name: 'an event as a form',
    docs: 'https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks',
    format: 'form',
    headers: { 'x-github-event': 'push', 'x-github-delivery': '5e1d6c80-cc78-11e3-81ab-4c9367dc0958' },
    body: {
      payload: { ref: 'refs/heads/main', after: '59b20b8d5c6ff8d09518454d4dd8b7b30f095ab5', repository },
    },
    events: ['push'],
    another: { 'header:x-github-delivery': '5e1d6c80-cc78-11e3-81ab-4c9367dc0959' },
  },
  {
    name: 'the ping of a new webhook',
    headers: { 'x-github-event': 'ping', 'x-github-delivery': '6e1d6c80-cc78-11e3-81ab-4c9367dc0958' },
    body: { zen: 'Design for failure.', hook_id: 1, hook: { type: 'Repository', id: 1 } },
    events: ['ping'],
    another: { 'header:x-github-delivery': '6e1d6c80-cc78-11e3-81ab-4c9367dc0959' },
  },
]
