/** The keys of what goes out: destinations and alerts. */
import type { Destination } from '../forward/destination.js'
import { callable, either, listOf, mapOf, off, type Rule, rule, shape, text, whole } from '../options.js'
import type { Alerts } from '../telemetry/alert-rules.js'
import { retry } from './inbox-keys.js'

export const destination = shape({
  url: text,
  secret: either(text, listOf(text), callable),
  source: text,
  sources: listOf(text),
  types: listOf(text),
  timeoutMs: whole(1),
  retry,
  ratePerSecond: rule('a number above 0', (value) => typeof value === 'number' && value > 0),
  concurrency: whole(1),
  allowPrivate: listOf(text),
  pauseAfter: either(off, shape({ failures: whole(1), lastingMs: whole(0) })),
  probeEveryMs: whole(1),
  headers: mapOf(text),
  ca: text,
} satisfies Record<keyof Destination, Rule>)

const duration = either({ ...text, expected: 'a time such as "5m"' }, whole(0))

export const alerts = shape({
  deadLetters: shape({ above: whole(0) }),
  oldestAge: shape({ above: duration }),
  signatureFailures: shape({ perMinute: whole(0) }),
  conflicts: shape({ perMinute: whole(0) }),
  flagged: shape({ perMinute: whole(0) }),
  notify: either(
    { ...callable, expected: 'a function' },
    shape({
      url: text,
      secret: either(text, listOf(text), callable),
      allowPrivate: listOf(text),
      command: listOf(text),
      timeoutMs: whole(1),
    }),
  ),
  every: duration,
  cooldown: duration,
} satisfies Record<keyof Alerts, Rule>)
