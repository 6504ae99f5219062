import { composite, defineProvider, optional, seconds, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const statuspage = defineProvider({
  key: 'statuspage',
  name: 'Atlassian Statuspage (subscriber webhooks)',
  docs: 'https://support.atlassian.com/statuspage/docs/enable-webhook-notifications',
  confidence: 'likely',
  // It signs nothing and has no secret: subscribe with `?token=<secret>` in the URL.
  verify: tokenScheme({ in: 'query:token' }),
  events: {
    // unchecked: that the newest update comes first. The time of the incident's last change tells updates apart anyhow.
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
    // `meta` and `page` are those of the moment of sending.
    content: 'none',
  },
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(30) },
  samples: sampleFile('statuspage'),
})
