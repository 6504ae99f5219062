import type { Kinds } from 'hookonce/testing/contracts'

export const azureDevops: Kinds = [
  {
    name: 'an event',
    docs: 'https://learn.microsoft.com/en-us/azure/devops/service-hooks/events',
    body: {
      subscriptionId: '00000000-0000-0000-0000-000000000000',
      notificationId: 1,
      id: '4a5d99d6-1c75-4e53-91b9-ee80057d4ce3',
      eventType: 'build.complete',
      publisherId: 'tfs',
      resource: { id: 2, status: 'succeeded' },
      createdDate: '2016-09-19T13:03:28.17Z',
    },
    events: ['build.complete'],
    redelivery: { 'json:notificationId': 2 },
    another: { 'json:id': '5a5d99d6-1c75-4e53-91b9-ee80057d4ce3' },
  },
  {
    name: 'two updates of one work item',
    body: {
      id: '27646e0e-b520-4d2b-9411-bba7524947cd',
      eventType: 'workitem.updated',
      resource: { id: 2, workItemId: 0, rev: 2 },
    },
    events: ['workitem.updated'],
    another: { 'json:id': '37646e0e-b520-4d2b-9411-bba7524947cd' },
  },
]
