import type { Kinds } from 'hookonce/testing/contracts'

export const jira: Kinds = [
  {
    name: 'an event of Jira Cloud, whose body may be equal',
    docs: 'https://developer.atlassian.com/cloud/jira/platform/webhooks/',
    headers: { 'x-atlassian-webhook-identifier': '4f1b1f6c-2a3e-4a55-9d5c-0b8e7d1a2c3d' },
    body: {
      timestamp: 1525698237764,
      webhookEvent: 'jira:issue_updated',
      issue: { id: '99291', key: 'JRA-20002' },
    },
    events: ['jira:issue_updated'],
    redelivery: { 'header:x-atlassian-webhook-retry': '1' },
    another: { 'header:x-atlassian-webhook-identifier': '5f1b1f6c-2a3e-4a55-9d5c-0b8e7d1a2c3d' },
  },
  {
    name: 'an event of Data Center, without an identifier',
    docs: 'https://developer.atlassian.com/server/jira/platform/webhooks/',
    body: { timestamp: 1525698237764, webhookEvent: 'comment_created', comment: { id: '252789' } },
    events: ['comment_created'],
    another: [{ 'json:timestamp': 1525698237765 }, { 'json:comment.id': '252790' }],
  },
]
