import { composite, defineProvider, optional, seconds, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const statuspage = defineProvider({
  key: 'statuspage',
  name: 'Atlassian Statuspage (subscriber webhooks)',
  docs: 'https://support.atlassian.com/statuspage/docs/enable-webhook-notifications',
  confidence: 'likely',
  // Nothing is signed and there is no secret: subscribe with `?token=<secret>` in the URL.
  verify: tokenScheme({ in: 'query:token' }),
  events: {
    // unchecked: that the newest update is first. The time of the last change of the incident distinguishes updates too.
    id: [
      'json:component_update.id',
      composite(
        'json:incident.id',
        'json:incident.updated_at',
        optional('json:incident.incident_updates.0.id'),
      ),
    ],
    type: 'keys:meta,page,component',
    reference: ['json:incident.id', 'json:component.id', 'json:component_update.component_id'],
    // `meta` and `page` have values of the time of sending.
    content: 'none',
  },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(30) },
  samples: sampleFile('statuspage'),
})
