import type { Kinds } from 'hookonce/testing/contracts'

export const wordpress: Kinds = [
  {
    name: 'a published post',
    body: { hook: 'publish_post', ID: '14', post_title: 'Hello world', post_modified: '2026-01-01 10:00:00' },
    events: ['publish_post'],
    another: { 'form:post_modified': '2026-01-01 10:05:00' },
    merged:
      'The site owner selects the fields. Two changes of a post with equal fields count as one event. Select `post_modified` to distinguish them.',
  },
  {
    name: 'a comment',
    body: { hook: 'comment_post', comment_ID: '9', comment_content: 'Nice', comment_post_ID: '12' },
    events: ['comment_post'],
    another: { 'form:comment_ID': '10' },
  },
]
