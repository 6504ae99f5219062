import { basicScheme, defineProvider, hours, join } from '../verification/define-provider.js'
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
      // A comment on a pull request.
      'json:resource.pullRequest.pullRequestId',
      // Every push has another id: the branch is what changes.
      join('@', 'json:resource.repository.id', 'json:resource.refUpdates[].name'),
      'json:resource.id',
    ],
    // subscriptionId and notificationId of one event differ for each subscription.
    content: 'none',
  },
  retryWindowMs: hours(36),
  samples: sampleFile('azure-devops'),
})
