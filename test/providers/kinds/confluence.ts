import type { Kinds } from 'hookonce/testing/contracts'

export const confluence: Kinds = [
  {
    name: 'an event of a page',
    body: { webhookEvent: 'page_updated', timestamp: 1473276163712, page: { id: 16777227, version: 2 } },
    events: ['page_updated'],
    another: { 'json:timestamp': 1473276163713 },
  },
  {
    name: 'an event of Data Center',
    docs: 'https://confluence.atlassian.com/doc/managing-webhooks-1021225606.html',
    body: { event: 'page_trashed', timestamp: 1473276163712, page: { id: 16777227 } },
    events: ['page_trashed'],
    another: { 'json:timestamp': 1473276163713 },
  },
]
