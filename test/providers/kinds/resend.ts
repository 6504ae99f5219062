import type { Kinds } from 'hookonce/testing/contracts'

export const resend: Kinds = [
  {
    name: 'an e-mail that was opened',
    headers: { 'svix-id': 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axj' },
    body: {
      type: 'email.opened',
      created_at: '2023-02-22T23:41:12.126Z',
      data: { email_id: '56761188-7520-42d8-8898-ff6fc54ce618', to: ['delivered@example.com'] },
    },
    events: ['email.opened'],
    another: { 'header:svix-id': 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axk' },
  },
  {
    name: 'a contact',
    headers: { 'svix-id': 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axj' },
    body: { type: 'contact.updated', data: { id: 'e169aa45-1ecf-4183-9955-b1499d5701d3' } },
    events: ['contact.updated'],
    another: { 'header:svix-id': 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axk' },
  },
]
