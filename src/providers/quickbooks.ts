import {
  choose,
  composite,
  defineProvider,
  hmacScheme,
  join,
  optional,
  part,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const quickbooks = defineProvider({
  key: 'quickbooks',
  name: 'QuickBooks Online (Intuit)',
  docs: 'https://developer.intuit.com/app/developer/qbo/docs/develop/webhooks/managing-webhooks-notifications',
  confidence: 'verified',
  // The secret is the verifier token.
  verify: hmacScheme({ signature: 'header:intuit-signature', encoding: 'base64' }),
  events: [
    // The older format has no event id: company, record, operation and time identify a change.
    {
      each: 'eventNotifications[].dataChangeEvent.entities[]',
      id: composite(
        'json:^.realmId',
        'json:name',
        'json:id',
        'json:operation',
        'json:lastUpdated',
        optional('json:deletedId'),
      ),
      type: join('.', 'json:name', 'json:operation'),
      reference: 'json:id',
      references: {
        customer: choose('json:name', { Customer: 'json:id' }),
        invoice: choose('json:name', { Invoice: 'json:id' }),
        company: 'json:^.realmId',
      },
    },
    // The newer format is an array of CloudEvents.
    {
      each: '[]',
      id: 'json:id',
      type: 'json:type',
      reference: 'json:intuitentityid',
      references: {
        customer: choose(part('.', 1, 'json:type'), { customer: 'json:intuitentityid' }),
        invoice: choose(part('.', 1, 'json:type'), { invoice: 'json:intuitentityid' }),
        company: 'json:intuitaccountid',
      },
    },
  ],
  retryWindowMs: null,
  // unchecked: the time limit.
  answer: { timeLimitMs: seconds(3) },
  samples: sampleFile('quickbooks'),
})
