import { days, defineProvider, hmacScheme, join, optional, seconds } from '../verification/define-provider.js'
import { githubList } from './lists/github.js'
import { sampleFile } from './sample.js'

const repository = 'json:repository.full_name'

export const github = defineProvider({
  key: 'github',
  name: 'GitHub',
  docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
  confidence: 'verified',
  aliases: { webhookSecret: 'secret' },
  // x-hub-signature (SHA-1) is for old receivers and is not read.
  verify: hmacScheme({ signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' }, encoding: 'hex' }),
  // The body is JSON, or a form with the JSON in `payload`: the webhook has a setting for it.
  document: { form: 'payload' },
  events: {
    id: 'header:x-github-delivery',
    type: join('.', 'header:x-github-event', optional('json:action')),
    // Issues, pull requests and discussions of a repository share one series of numbers, and a comment on a pull request
    // has it as `issue`: one reference for all events of one of them.
    reference: [
      join('#', repository, 'json:pull_request.number'),
      join('#', repository, 'json:issue.number'),
      join('#', repository, 'json:discussion.number'),
      join('', repository, 'const:/actions/runs/', ['json:workflow_run.id', 'json:workflow_job.run_id']),
      join('', repository, 'const:/check-suites/', ['json:check_run.check_suite.id', 'json:check_suite.id']),
      join('', repository, 'const:/deployments/', 'json:deployment.id'),
      join('', repository, 'const:/releases/', 'json:release.id'),
      join('@', repository, 'json:ref'),
      // The status of a commit.
      join('@', repository, 'json:sha'),
      repository,
      'json:organization.login',
    ],
    references: {
      repository,
      organization: 'json:organization.login',
      user: 'json:sender.login',
      installation: 'json:installation.id',
    },
  },
  typeSeparator: '.',
  // No automatic retries; a user can request a delivery again for three days.
  retryWindowMs: days(3),
  list: githubList,
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-github-delivery', 'x-github-event', 'x-github-hook-id'],
  samples: sampleFile('github'),
})
