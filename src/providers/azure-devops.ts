import { basicScheme, defineProvider, hours } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const azureDevops = defineProvider({
  key: 'azureDevops',
  name: 'Azure DevOps Service Hooks',
  docs: 'https://learn.microsoft.com/en-us/azure/devops/service-hooks/services/webhooks',
  confidence: 'verified',
  verify: basicScheme(),
  events: {
    id: 'json:id',
    type: 'json:eventType',
    // The update of a work item has its own number in `id`.
    reference: [
      'json:resource.workItemId',
      'json:resource.pullRequestId',
      'json:resource.pushId',
      'json:resource.id',
    ],
    // The same event has a different subscriptionId and notificationId for each subscription.
    content: 'none',
  },
  retryWindowMs: hours(36),
  samples: sampleFile('azure-devops'),
})
