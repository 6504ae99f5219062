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
      // ClickUp advises webhook and history item. One change gives several events (taskUpdated, taskStatusUpdated) with
      // the same item, so the event is part of it.
      id: composite('json:webhook_id', 'json:event', 'json:history_items.0.id'),
      type: 'json:event',
      reference,
    },
    {
      // Without history items the body is the kind and the object's id: two renamings of a folder are equal to the last
      // byte. Better a retry taken for an event than an event for a retry.
      id: composite('json:webhook_id', 'json:event', 'unique'),
      type: 'json:event',
      reference,
      otherwise: true,
    },
  ],
  contentGuard: 'accept',
  // Up to five attempts; over what time is not documented.
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(7) },
  sampleId: 'number',
  samples: sampleFile('clickup'),
})
