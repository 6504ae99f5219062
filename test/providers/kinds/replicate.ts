import type { Kinds } from 'hookonce/testing/contracts'

export const replicate: Kinds = [
  {
    name: 'a prediction that succeeded',
    headers: { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
    body: { id: 'ufawqhfynnddngldkgtslldrkq', status: 'succeeded', output: 'hello Alice' },
    events: ['succeeded'],
    another: { 'header:webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJel' },
  },
]
