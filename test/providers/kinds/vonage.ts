import type { Kinds } from 'hookonce/testing/contracts'

export const vonage: Kinds = [
  {
    name: 'the status of a message',
    body: {
      message_uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      to: '447700900000',
      timestamp: '2020-01-01T14:00:00.000Z',
      status: 'delivered',
      channel: 'sms',
    },
    events: ['delivered'],
    another: { 'json:status': 'read' },
  },
  {
    name: 'an inbound message',
    body: {
      message_uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      to: '447700900000',
      from: '447700900001',
      timestamp: '2020-01-01T14:00:00.000Z',
      channel: 'whatsapp',
      message_type: 'text',
      text: 'Hello there!',
    },
    events: ['text'],
    another: { 'json:message_uuid': 'aaaaaaaa-bbbb-cccc-dddd-0123456789ac' },
  },
  {
    name: 'a state of a call',
    docs: 'https://developer.vonage.com/en/voice/voice-api/webhook-reference',
    body: {
      uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      conversation_uuid: 'CON-aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      status: 'ringing',
      direction: 'outbound',
      timestamp: '2020-01-01T12:00:00.000Z',
    },
    events: ['ringing'],
    another: [{ 'json:status': 'answered' }, { 'json:timestamp': '2020-01-01T12:00:01.000Z' }],
  },
  {
    name: 'the question how to answer a call',
    docs: 'https://developer.vonage.com/en/voice/voice-api/webhook-reference',
    body: {
      from: '442079460000',
      to: '447700900000',
      uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      conversation_uuid: 'CON-aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
    },
    another: { 'json:uuid': 'aaaaaaaa-bbbb-cccc-dddd-0123456789ac' },
  },
  {
    name: 'digits that a caller pressed',
    docs: 'https://developer.vonage.com/en/voice/voice-api/webhook-reference',
    body: {
      dtmf: { digits: '42', timed_out: true },
      uuid: 'aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      conversation_uuid: 'CON-aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      timestamp: '2020-01-01T14:00:00.000Z',
    },
    // Pressed again in the same call.
    another: { 'json:timestamp': '2020-01-01T14:00:10.000Z' },
  },
  {
    name: 'a recording',
    docs: 'https://developer.vonage.com/en/voice/voice-api/webhook-reference',
    body: {
      start_time: '2020-01-01T12:00:00.000Z',
      recording_url: 'https://api.nexmo.com/v1/files/aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      recording_uuid: 'cccccccc-bbbb-cccc-dddd-0123456789ab',
      conversation_uuid: 'CON-aaaaaaaa-bbbb-cccc-dddd-0123456789ab',
      timestamp: '2020-01-01T14:00:00.000Z',
    },
    // Two recordings of one conversation.
    another: { 'json:recording_uuid': 'cccccccc-bbbb-cccc-dddd-0123456789ac' },
  },
  {
    name: 'a verification event',
    docs: 'https://developer.vonage.com/en/verify/guides/verify-v2-webhooks',
    body: {
      request_id: 'c11236f4-00bf-4b89-84ba-88b25df97315',
      triggered_at: '2020-01-01T14:00:00.000Z',
      type: 'event',
      channel: 'silent_auth',
      status: 'action_pending',
    },
    events: ['action_pending'],
    another: { 'json:triggered_at': '2020-01-01T14:00:05.000Z' },
  },
]
