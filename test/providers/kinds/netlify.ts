import type { Kinds } from 'hookonce/testing/contracts'

export const netlify: Kinds = [
  {
    name: 'a state of a deploy',
    headers: { 'x-netlify-event': 'deploy_created' },
    body: { id: '5bbb21a1792f8d0f7a9c0d3e', state: 'ready', updated_at: '2018-10-08T09:22:41.000Z' },
    events: ['deploy_created'],
    another: [{ 'json:state': 'error' }, { 'json:updated_at': '2018-10-08T09:25:41.000Z' }],
  },
  {
    name: 'a submission of a form',
    headers: { 'x-netlify-event': 'submission_created' },
    body: { id: '5bbb21a1792f8d0f7a9c0d3f', number: 7, form_name: 'contact', data: { message: 'Hello' } },
    events: ['submission_created'],
    another: { 'json:id': '5bbb21a1792f8d0f7a9c0d40' },
  },
]
