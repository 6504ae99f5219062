import type { Kinds } from 'hookonce/testing/contracts'

const shared = {
  organizationId: '0d8a7a1b',
  webhookTimestamp: 0,
  webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
}

export const linear: Kinds = [
  {
    name: 'a change of an object',
    headers: { 'linear-delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72', 'linear-event': 'Issue' },
    body: {
      ...shared,
      action: 'update',
      type: 'Issue',
      data: { id: '2174add1' },
      updatedFrom: { title: 'a' },
    },
    events: ['Issue.update'],
    another: { 'header:linear-delivery': '334d1a4e-b617-4388-90fe-adc3633d6b72' },
  },
  {
    name: 'an event of an agent session',
    docs: 'https://linear.app/developers/agent-interaction',
    headers: {
      'linear-delivery': '434d1a4e-b617-4388-90fe-adc3633d6b72',
      'linear-event': 'AgentSessionEvent',
    },
    body: { ...shared, action: 'prompted', type: 'AgentSessionEvent', agentSession: { id: 'a1' } },
    events: ['AgentSessionEvent.prompted'],
    another: { 'header:linear-delivery': '534d1a4e-b617-4388-90fe-adc3633d6b72' },
  },
]
