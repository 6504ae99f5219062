import { HookonceError } from '../errors.js'
import {
  type ContentFunction,
  defineProvider,
  hours,
  rsaScheme,
  seconds,
} from '../verification/define-provider.js'
import { sampleFile } from './sample.js'

const notification = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'] as const
const confirmation = [
  'Message',
  'MessageId',
  'SubscribeURL',
  'Timestamp',
  'Token',
  'TopicArn',
  'Type',
] as const
const all = [...new Set([...notification, ...confirmation])]

/**
 * `Name\nValue\n` of the fields that exist, in the order that AWS documents for both kinds of message. Line ends are
 * not escaped, so a value could imitate the next field: only Message, which is free text, may have line ends.
 */
const signedFields: ContentFunction = (field) => {
  const values = new Map(all.map((name) => [name, field(`json:${name}`)] as const))
  return (reading) => {
    const names = values.get('Type')!(reading) === 'Notification' ? notification : confirmation
    let text = ''
    for (const name of names) {
      const value = values.get(name)!(reading)
      if (value === undefined) {
        if (name === 'Subject') continue
        return null
      }
      if (name !== 'Message' && value.includes('\n')) return null
      text += `${name}\n${value}\n`
    }
    return [text]
  }
}

/** Certificates are on the host of the topic's region. China has its own domain. */
function certificateHosts(options: Readonly<Record<string, unknown>>): readonly string[] {
  return [options.topicArn].flat().map((arn) => {
    const found = /^arn:(aws[a-z-]*):sns:([a-z0-9-]+):/.exec(String(arn))
    if (found === null) {
      const problem = 'must be the ARN of a topic, such as "arn:aws:sns:us-west-2:123456789012:MyTopic"'
      throw new HookonceError('OPTION_INVALID', { provider: 'amazonSns', option: 'topicArn', problem })
    }
    const [, partition, region] = found
    return `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}`
  })
}

export const amazonSns = defineProvider({
  key: 'amazonSns',
  name: 'Amazon SNS',
  docs: 'https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html',
  confidence: 'verified',
  verify: rsaScheme({
    signature: 'json:Signature',
    encoding: 'base64',
    signed: signedFields,
    covers: { fields: all.map((name) => `json:${name}`) },
    // Version 1 is SHA-1, version 2 is SHA-256; the owner of the topic chooses. The version itself is not signed.
    digest: (field) => {
      const version = field('json:SignatureVersion')
      return (reading) => (({ '1': 'sha1', '2': 'sha256' }) as const)[version(reading) as '1' | '2']
    },
    // The time of publishing: retries for up to an hour have the same time.
    timestamp: { in: 'json:Timestamp', unit: 'iso', tolerance: null },
    certificate: {
      url: 'json:SigningCertURL',
      hosts: certificateHosts,
      path: /^\/[A-Za-z0-9_-]+\.pem$/,
    },
  }),
  // A valid signature means only that some topic of some account sent the message.
  sharedKey: { namedBy: 'topicArn', in: 'json:TopicArn' },
  options: {
    topicArn: {
      what: 'The ARN of the topic, or a list of ARNs; messages of other topics are rejected',
      required: true,
      list: true,
      example: 'arn:aws:sns:us-west-2:123456789012:MyTopic',
    },
  },
  // The content type is text/plain although the body is JSON. A SubscriptionConfirmation is an event: its handler
  // decides whether to open SubscribeURL.
  events: { id: 'json:MessageId', type: 'json:Type', reference: 'json:TopicArn' },
  retryWindowMs: hours(1),
  answer: { timeLimitMs: seconds(15) },
  keepHeaders: ['x-amz-sns-message-type', 'x-amz-sns-topic-arn'],
  format: 'text',
  sampleHeaders: { 'x-amz-sns-message-type': '{type}', 'x-amz-sns-message-id': '{id}' },
  samples: sampleFile('amazon-sns'),
})
