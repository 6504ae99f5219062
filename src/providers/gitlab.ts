import {
  choose,
  composite,
  defineProvider,
  join,
  optional,
  seconds,
  tokenScheme,
} from '../verification/define-provider.js'
import { gitlabList } from './lists/gitlab.js'
import { sampleFile } from './sample.js'
import { standardHmac } from './shared/standard.js'

const hook = ['header:x-gitlab-event', 'json:object_kind'] as const
const path = [
  'json:project.path_with_namespace',
  // System hooks, and hooks of a group.
  'json:path_with_namespace',
  'json:project_path_with_namespace',
  'json:group_path',
  'json:full_path',
] as const
const number = 'json:object_attributes.iid'

/** A comment or a reaction is about the object that is beside it. */
const subject = [
  join('!', path, 'json:merge_request.iid'),
  join('#', path, 'json:issue.iid'),
  join('$', path, 'json:snippet.id'),
  join('@', path, 'json:commit.id'),
] as const

export const gitlab = defineProvider({
  key: 'gitlab',
  name: 'GitLab',
  docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
  confidence: 'verified',
  // `secret`: the secret token, which is sent in clear and signs nothing. `signingSecret`: the signing token
  // (`whsec_...`, 2026) of Standard Webhooks; webhook-id then equals Idempotency-Key.
  verify: {
    secret: tokenScheme({ in: 'header:x-gitlab-token' }),
    signingSecret: standardHmac('webhook'),
  },
  events: {
    // New in 17.4. A chain of webhooks shares X-Gitlab-Event-UUID (new in 14.8), so the id also has the hash of the body.
    // Older releases have no id: handling a delivery twice is better than losing an equal push.
    id: [
      'header:webhook-id',
      'header:idempotency-key',
      composite('header:x-gitlab-event-uuid', 'hash'),
      'unique',
    ],
    // `Merge Request Hook.open`, `Pipeline Hook.success`, `System Hook.user_create`.
    type: join(
      '.',
      hook,
      optional(
        choose(hook, {
          'System Hook': ['json:event_name', 'json:object_kind'],
          'Member Hook': 'json:event_name',
          'Subgroup Hook': 'json:event_name',
          'Project Hook': 'json:event_name',
          'Resource Access Token Hook': 'json:event_name',
        }),
      ),
      optional([
        'json:object_attributes.action',
        'json:action',
        'json:build_status',
        choose('json:object_kind', { pipeline: 'json:object_attributes.status', deployment: 'json:status' }),
      ]),
    ),
    // As in GitLab's own links: `group/project!1` is a merge request, `group/project#1` an issue.
    reference: [
      choose('json:object_kind', {
        merge_request: join('!', path, number),
        issue: join('#', path, number),
        work_item: join('#', path, number),
        note: subject,
        emoji: subject,
        // The jobs of a pipeline follow its own events. A job of an old release has no path.
        pipeline: join('', path, 'const:/-/pipelines/', 'json:object_attributes.id'),
        build: [join('', path, 'const:/-/pipelines/', 'json:pipeline_id'), 'json:pipeline_id'],
        deployment: join('', path, 'const:/-/deployments/', 'json:deployment_id'),
        release: join('', path, 'const:/-/releases/', 'json:tag'),
        wiki_page: join('', path, 'const:/-/wikis/', 'json:object_attributes.slug'),
        feature_flag: join('', path, 'const:/-/feature_flags/', 'json:object_attributes.id'),
        milestone: join('', path, 'const:/-/milestones/', number),
      }),
      join('@', path, 'json:ref'),
      'json:object_attributes.noteable_id',
      'json:object_attributes.id',
      path,
    ],
    references: {
      project: ['json:project.path_with_namespace', 'json:path_with_namespace'],
      user: ['json:user.username', 'json:user_username', 'json:username'],
    },
  },
  typeSeparator: '.',
  retryWindowMs: null,
  list: gitlabList,
  disables: {
    when: 'disables a webhook for minutes to a day after 4 failures in a row, and for good after 40',
    again: 'Send a test request from Settings, Webhooks of the project or group: a success enables it.',
    docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
    confidence: 'verified',
  },
  answer: { timeLimitMs: seconds(10) },
  keepHeaders: ['x-gitlab-event', 'x-gitlab-instance', 'idempotency-key'],
  samples: sampleFile('gitlab'),
})
