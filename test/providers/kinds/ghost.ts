import type { Kinds } from 'hookonce/testing/contracts'

const post = {
  current: { id: '63d8f1d2', title: 'Welcome', status: 'published', updated_at: '2026-11-01T10:00:00.000Z' },
  previous: { status: 'draft', updated_at: '2026-11-01T09:00:00.000Z' },
}

export const ghost: Kinds = [
  {
    name: 'a changed post',
    body: { event: 'post.edited', post },
    events: ['post.edited'],
    redelivery: { timestamp: 0 },
    another: { 'json:post.current.updated_at': '2026-11-01T11:00:00.000Z' },
  },
  {
    name: 'a changed post of an older release',
    body: { post },
    events: ['post'],
    redelivery: { timestamp: 0 },
    another: { 'json:post.current.updated_at': '2026-11-01T11:00:00.000Z' },
  },
  {
    name: 'a changed site',
    body: {},
    another: { timestamp: 1 },
    repeated: '`site.changed` always has an empty body. So a retry is handled again.',
  },
]
