import { basicScheme, defineProvider, hours } from '../verification/define-provider.js'

export const azureDevops = defineProvider({
  key: 'azureDevops',
  name: 'Azure DevOps Service Hooks',
  docs: 'https://learn.microsoft.com/en-us/azure/devops/service-hooks/services/webhooks',
  confidence: 'verified',
  verify: basicScheme(),
  events: {
    id: 'json:id',
    type: 'json:eventType',
    // A work item's update has its own number in `id`.
    reference: [
      'json:resource.workItemId',
      'json:resource.pullRequestId',
      'json:resource.pushId',
      'json:resource.id',
    ],
    // The same event with another subscriptionId and notificationId for each subscription.
    content: 'none',
  },
  retryWindowMs: hours(36),
  samples: {
    'build.complete': {
      subscriptionId: '00000000-0000-0000-0000-000000000000',
      notificationId: 3,
      id: '{id}',
      eventType: 'build.complete',
      publisherId: 'tfs',
      message: { text: 'Build ConsumerAddressModule_20150407.2 succeeded' },
      resource: {
        id: 2,
        buildNumber: 'ConsumerAddressModule_20150407.1',
        status: 'completed',
        result: 'succeeded',
      },
      resourceVersion: '2.0',
      createdDate: '{now:iso}',
    },
    'workitem.updated': {
      subscriptionId: '00000000-0000-0000-0000-000000000000',
      notificationId: 4,
      id: '{id}',
      eventType: 'workitem.updated',
      publisherId: 'tfs',
      message: { text: 'Bug #5 (Some great new idea!) updated by Jamal Hartnett' },
      resource: {
        id: 2,
        workItemId: 5,
        rev: 2,
        fields: { 'System.State': { oldValue: 'New', newValue: 'Approved' } },
      },
      resourceVersion: '1.0',
      createdDate: '{now:iso}',
    },
  },
})
