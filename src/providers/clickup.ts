import { composite, defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const reference = [
  'json:task_id',
  'json:list_id',
  'json:folder_id',
  'json:space_id',
  'json:goal_id',
  'json:key_result_id',
] as const

export const clickup = defineProvider({
  key: 'clickup',
  name: 'ClickUp',
  docs: 'https://developer.clickup.com/docs/webhooksignature',
  confidence: 'verified',
  verify: hmacScheme({ signature: 'header:x-signature', encoding: 'hex' }),
  events: [
    {
      // ClickUp recommends webhook and history item as the id. One change gives several events (taskUpdated,
      // taskStatusUpdated) with the same item, so the id includes the event name.
      id: composite('json:webhook_id', 'json:event', 'json:history_items.0.id'),
      type: 'json:event',
      reference,
    },
    {
      // A body without history items has only the event name and the id of the object: two renamings of a folder have
      // the same bytes. Handling a retry twice is better than losing an event.
      id: composite('json:webhook_id', 'json:event', 'unique'),
      type: 'json:event',
      reference,
      otherwise: true,
    },
  ],
  contentGuard: 'accept',
  // Up to five attempts within an undocumented time.
  retryWindowMs: null,
  disables: {
    when: 'suspends a webhook after 100 failed events, and at once after a 410',
    again: 'Set its status to active with the API of ClickUp.',
    docs: 'https://developer.clickup.com/docs/webhookhealth',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(7) },
  sampleId: 'number',
  samples: sampleFile('clickup'),
})
