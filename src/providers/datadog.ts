import { basicScheme, defineProvider, seconds, tokenScheme } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const datadog = defineProvider({
  key: 'datadog',
  name: 'Datadog (webhooks integration)',
  docs: 'https://docs.datadoghq.com/integrations/webhooks/',
  confidence: 'verified',
  // Nothing is signed. `secret` is in a custom header of the webhook, `basicAuth` in its auth method.
  verify: { secret: tokenScheme({ in: 'header:{option:header}' }), basicAuth: basicScheme() },
  options: {
    header: {
      what: 'The custom header of the webhook with the secret',
      default: 'x-webhook-secretkey',
      example: 'x-webhook-secretkey',
    },
    idPath: {
      what: 'The field of the payload template with $ID',
      default: 'id',
      example: 'id',
    },
    typePath: {
      what: 'The field of the payload template with $EVENT_TYPE',
      default: 'event_type',
      example: 'event_type',
    },
  },
  // The body is a template of the user. unchecked: these are the names in the default template. A template without $ID
  // has no event id: every delivery is then a new event.
  events: {
    id: ['json:{option:idPath}', 'unique'],
    type: 'json:{option:typePath}',
    reference: 'json:alert_id',
  },
  // Five retries, at undocumented times.
  retryWindowMs: null,
  answer: { timeLimitMs: seconds(15) },
  sampleId: 'number',
  samples: sampleFile('datadog'),
})
