import type { Kinds } from 'hookonce/testing/contracts'

export const shortcut: Kinds = [
  {
    name: 'a changed story',
    body: {
      id: '595285dc-9c43-4b9c-a1e6-0cd9aff5b084',
      changed_at: '2017-06-27T16:20:44Z',
      primary_id: 16927,
      version: 'v1',
      actions: [
        { id: 16927, entity_type: 'story', action: 'update', changes: { name: { new: 'b', old: 'a' } } },
      ],
    },
    events: ['story.update'],
    another: { 'json:id': '595285dc-9c43-4b9c-a1e6-0cd9aff5b085' },
  },
]
