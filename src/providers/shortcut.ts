import { defineProvider, hmacScheme, join } from '../verification/define-provider.js'

export const shortcut = defineProvider({
  key: 'shortcut',
  name: 'Shortcut',
  docs: 'https://help.shortcut.com/hc/en-us/articles/34734717380756',
  confidence: 'likely',
  // unchecked: its documentation says "HMAC hexdigest" and not of which hash; SHA-256 is what receivers use.
  verify: hmacScheme({ signature: 'header:payload-signature', encoding: 'hex' }),
  // unchecked: the paths. The first action is what was done, the others follow from it.
  events: {
    id: 'json:id',
    type: join('.', 'json:actions.0.entity_type', 'json:actions.0.action'),
    reference: ['json:primary_id', 'json:actions.0.id'],
  },
  retryWindowMs: null,
  samples: {
    'story.update': {
      id: '{id}',
      changed_at: '{now:iso}',
      primary_id: 16927,
      version: 'v1',
      member_id: '56d8a839-1c52-437f-b981-c3a15a11d6d4',
      actions: [
        {
          id: 16927,
          entity_type: 'story',
          action: 'update',
          name: 'test story',
          changes: { workflow_state_id: { new: 1495, old: 1493 } },
        },
      ],
    },
    'story-comment.create': {
      id: '{id}',
      changed_at: '{now:iso}',
      primary_id: 16927,
      version: 'v1',
      member_id: '56d8a839-1c52-437f-b981-c3a15a11d6d4',
      actions: [{ id: 19642, entity_type: 'story-comment', action: 'create', text: 'Looks good' }],
    },
  },
})
