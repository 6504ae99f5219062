import type { Kinds } from 'hookonce/testing/contracts'

export const sanity: Kinds = [
  {
    name: 'a change with a projection that has equal bodies',
    headers: {
      'idempotency-key': 'IhRNa5sRMJl2E1Ccso2m8V-3d3d5d9e',
      'sanity-operation': 'update',
      'sanity-document-id': '3d3d5d9e-7e5a-4c3b-9d0f-1c3c0a1f6b2a',
    },
    body: { _id: '3d3d5d9e-7e5a-4c3b-9d0f-1c3c0a1f6b2a' },
    events: ['update'],
    redelivery: { timestamp: 30_000 },
    another: { 'header:idempotency-key': 'JhRNa5sRMJl2E1Ccso2m8V-3d3d5d9e' },
  },
  {
    name: 'a deletion',
    headers: {
      'idempotency-key': 'KhRNa5sRMJl2E1Ccso2m8V-3d3d5d9e',
      'sanity-operation': 'delete',
      'sanity-document-id': '3d3d5d9e-7e5a-4c3b-9d0f-1c3c0a1f6b2a',
    },
    body: { _id: '3d3d5d9e-7e5a-4c3b-9d0f-1c3c0a1f6b2a', _type: 'post' },
    events: ['delete'],
    another: { 'header:idempotency-key': 'LhRNa5sRMJl2E1Ccso2m8V-3d3d5d9e' },
  },
]
