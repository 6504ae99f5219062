import type { Kinds } from 'hookonce/testing/contracts'

export const elevenlabs: Kinds = [
  {
    name: 'the transcript of a call',
    body: {
      type: 'post_call_transcription',
      event_timestamp: 1739537297,
      data: { agent_id: 'xyz', conversation_id: 'abc', status: 'done' },
    },
    events: ['post_call_transcription'],
    another: [{ 'json:data.conversation_id': 'abd' }, { 'json:type': 'post_call_audio' }],
  },
]
