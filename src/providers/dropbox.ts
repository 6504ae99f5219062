import { defineProvider, hmacScheme, seconds } from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

export const dropbox = defineProvider({
  key: 'dropbox',
  name: 'Dropbox',
  docs: 'https://www.dropbox.com/developers/reference/webhooks',
  confidence: 'verified',
  aliases: { appSecret: 'secret' },
  // The secret is the app secret: fifteen letters and digits.
  verify: hmacScheme({
    signature: 'header:x-dropbox-signature',
    encoding: 'hex',
    secret: { minBytes: { least: 15, why: 'Dropbox creates app secrets of fifteen characters' } },
  }),
  events: {
    // The body has only the ids of accounts with changes: the next change of an account has the same bytes. A retry has
    // them too and is handled again, which is harmless: the handler fetches the changes twice.
    id: 'unique',
    type: 'const:list_folder',
    reference: 'json:list_folder.accounts[]',
  },
  contentGuard: 'accept',
  handshakes: [
    {
      when: { method: 'GET', 'query:challenge': true },
      signed: false,
      reply: { text: '{query:challenge}' },
    },
  ],
  retryWindowMs: null,
  // unchecked
  answer: { timeLimitMs: seconds(10) },
  samples: sampleFile('dropbox'),
})
