import { composite, defineProvider, optional, seconds, tokenScheme } from '../verification/define-provider.js'

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
  samples: {
    incident: {
      meta: {
        unsubscribe: 'https://status.example.com/?unsubscribe=j0vqr9kl3513',
        generated_at: '{now:iso}',
      },
      page: { id: 'j2mfxwj97wnj', status_indicator: 'major', status_description: 'Partial System Outage' },
      incident: {
        id: 'lbkhbwn21v5q',
        name: 'Virginia Is Down',
        status: 'identified',
        impact: 'critical',
        created_at: '2026-11-15T11:00:00.000Z',
        updated_at: '2026-11-15T11:58:00.000Z',
        resolved_at: null,
        incident_updates: [
          {
            id: '{id}',
            incident_id: 'lbkhbwn21v5q',
            status: 'identified',
            body: 'A fix is on its way.',
            created_at: '2026-11-15T11:58:00.000Z',
          },
        ],
      },
    },
    component_update: {
      meta: {
        unsubscribe: 'https://status.example.com/?unsubscribe=j0vqr9kl3513',
        generated_at: '{now:iso}',
      },
      page: { id: 'j2mfxwj97wnj', status_indicator: 'major', status_description: 'Partial System Outage' },
      component_update: {
        id: '{id}',
        component_id: 'rb5wg65z33tx',
        created_at: '2026-11-15T11:58:00.000Z',
        old_status: 'operational',
        new_status: 'major_outage',
      },
      component: { id: 'rb5wg65z33tx', name: 'Some Component', status: 'major_outage' },
    },
  },
})
