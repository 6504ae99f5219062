import { github, linear, notion, sanity, workos } from 'hookonce/providers'
import { installExtras } from '../../../scripts/extras.mjs'
import { agree, delivery, header, oddBodies, text } from './oracle.js'

await installExtras('sdks')
const { LinearWebhookClient } = await import('@linear/sdk/webhooks')
const { signWebhookPayload, verifyWebhookSignature } = await import('@notionhq/client')
const { sign, verify } = await import('@octokit/webhooks-methods')
const { encodeSignatureHeader, isValidSignature, SIGNATURE_HEADER_NAME } = await import('@sanity/webhook')
const { WorkOS } = await import('@workos-inc/node')

const secret = "It's a Secret to Everybody"

agree('@octokit/webhooks-methods', github({ secret }), {
  sign: async ({ body, headers }) =>
    delivery(body, { ...headers, 'x-hub-signature-256': await sign(secret, body) }),
  verify: (sent) => verify(secret, text(sent.body), header(sent, 'x-hub-signature-256')),
  bodies: oddBodies,
})

const linearClient = new LinearWebhookClient(secret)
agree('@linear/sdk', linear({ secret }), {
  verify: (sent) => linearClient.verify(Buffer.from(sent.body), header(sent, 'linear-signature')),
})

agree('@notionhq/client', notion({ secret }), {
  sign: async ({ body }) =>
    delivery(body, { 'x-notion-signature': await signWebhookPayload({ body, verificationToken: secret }) }),
  verify: (sent) =>
    verifyWebhookSignature({
      body: text(sent.body),
      signature: header(sent, 'x-notion-signature'),
      verificationToken: secret,
    }),
  bodies: oddBodies,
})

agree('@sanity/webhook', sanity({ secret }), {
  sign: async ({ body, now }) =>
    delivery(body, { [SIGNATURE_HEADER_NAME]: await encodeSignatureHeader(body, now, secret) }),
  verify: (sent) => isValidSignature(text(sent.body), header(sent, SIGNATURE_HEADER_NAME), secret),
  bodies: oddBodies,
})

const { webhooks } = new WorkOS('sk_unused')
agree('@workos-inc/node', workos({ secret }), {
  sign: async ({ body, now }) => {
    const signature = await webhooks.computeSignature(now, JSON.parse(body), secret)
    return delivery(body, { 'workos-signature': `t=${now}, v1=${signature}` })
  },
  // It parses the body and signs what it writes from it: other spellings would fail in it alone.
  verify: (sent) =>
    webhooks.verifyHeader({
      payload: JSON.parse(text(sent.body)),
      sigHeader: header(sent, 'workos-signature'),
      secret,
    }),
})
