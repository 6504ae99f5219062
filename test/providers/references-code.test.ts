/** Code hosts, trackers and queues: the type and the reference of an event, what a user routes by and orders by. */
import {
  azureDevops,
  bitbucket,
  bitbucketServer,
  dockerhub,
  gitlab,
  googlePubsub,
  intercom,
  jira,
  linear,
  notion,
} from 'hookonce/providers'
import { expectEach } from '../support/references.js'

const project = { id: 1, path_with_namespace: 'gitlabhq/gitlab-test' }
const hook = (name: string) => ({ 'x-gitlab-event': name, 'idempotency-key': 'f5e5f430' })
expectEach(gitlab, [
  {
    name: 'an opened merge request',
    headers: hook('Merge Request Hook'),
    body: { object_kind: 'merge_request', project, object_attributes: { id: 99, iid: 1, action: 'open' } },
    type: 'Merge Request Hook.open',
    reference: 'gitlabhq/gitlab-test!1',
  },
  {
    name: 'a comment on a merge request',
    headers: hook('Note Hook'),
    body: {
      object_kind: 'note',
      project,
      object_attributes: { id: 1244, noteable_type: 'MergeRequest', noteable_id: 99, action: 'create' },
      merge_request: { id: 99, iid: 1 },
    },
    type: 'Note Hook.create',
    reference: 'gitlabhq/gitlab-test!1',
  },
  {
    name: 'a closed issue',
    headers: hook('Issue Hook'),
    body: { object_kind: 'issue', project, object_attributes: { id: 301, iid: 23, action: 'close' } },
    type: 'Issue Hook.close',
    reference: 'gitlabhq/gitlab-test#23',
  },
  {
    name: 'a comment on an issue, of a release without its action',
    headers: hook('Note Hook'),
    body: {
      object_kind: 'note',
      project,
      object_attributes: { id: 1241, noteable_type: 'Issue', noteable_id: 301 },
      issue: { id: 301, iid: 23 },
    },
    type: 'Note Hook',
    reference: 'gitlabhq/gitlab-test#23',
  },
  {
    name: 'a push',
    headers: hook('Push Hook'),
    body: { object_kind: 'push', event_name: 'push', project, ref: 'refs/heads/main' },
    type: 'Push Hook',
    reference: 'gitlabhq/gitlab-test@refs/heads/main',
  },
  {
    name: 'a pipeline of a merge request',
    headers: hook('Pipeline Hook'),
    body: {
      object_kind: 'pipeline',
      project,
      object_attributes: { id: 31, iid: 3, ref: 'main', status: 'success' },
      merge_request: { id: 1, iid: 1 },
    },
    type: 'Pipeline Hook.success',
    reference: 'gitlabhq/gitlab-test/-/pipelines/31',
  },
  {
    name: 'a job',
    headers: hook('Job Hook'),
    body: {
      object_kind: 'build',
      project,
      ref: 'main',
      build_id: 1977,
      build_status: 'failed',
      pipeline_id: 31,
    },
    type: 'Job Hook.failed',
    reference: 'gitlabhq/gitlab-test/-/pipelines/31',
  },
  {
    name: 'a new user',
    headers: hook('System Hook'),
    body: { event_name: 'user_create', user_id: 41, username: 'js' },
    type: 'System Hook.user_create',
    reference: null,
  },
  {
    name: 'a merge request in a system hook',
    headers: hook('System Hook'),
    body: { object_kind: 'merge_request', project, object_attributes: { id: 90, iid: 1, action: 'open' } },
    type: 'System Hook.merge_request.open',
    reference: 'gitlabhq/gitlab-test!1',
  },
])

const fullName = { repository: { uuid: '{673a}', full_name: 'team_name/repo_name' } }
const key = (name: string) => ({ 'x-event-key': name, 'x-request-uuid': 'r1', 'x-request-id': 'r1' })
expectEach(bitbucket, [
  {
    name: 'a pull request',
    headers: key('pullrequest:created'),
    body: { ...fullName, pullrequest: { id: 1 } },
    type: 'pullrequest:created',
    reference: 'team_name/repo_name/pull-requests/1',
  },
  {
    name: 'a push',
    headers: key('repo:push'),
    body: { ...fullName, push: { changes: [{ new: { type: 'branch', name: 'main' }, old: null }] } },
    type: 'repo:push',
    reference: 'team_name/repo_name@main',
  },
  {
    name: 'a deleted branch',
    headers: key('repo:push'),
    body: { ...fullName, push: { changes: [{ new: null, old: { type: 'branch', name: 'fix' } }] } },
    type: 'repo:push',
    reference: 'team_name/repo_name@fix',
  },
])
expectEach(bitbucketServer, [
  {
    name: 'a pull request',
    headers: key('pr:opened'),
    body: { pullRequest: { id: 1, toRef: { id: 'refs/heads/main', repository: { id: 84 } } } },
    type: 'pr:opened',
    reference: '84/pull-requests/1',
  },
  {
    name: 'a push',
    headers: key('repo:refs_changed'),
    body: { repository: { id: 84 }, changes: [{ ref: { id: 'refs/heads/main' }, type: 'UPDATE' }] },
    type: 'repo:refs_changed',
    reference: '84@refs/heads/main',
  },
])
expectEach(azureDevops, [
  {
    name: 'a push',
    body: {
      id: '03c1',
      eventType: 'git.push',
      resource: { pushId: 14, repository: { id: '278d' }, refUpdates: [{ name: 'refs/heads/main' }] },
    },
    type: 'git.push',
    reference: '278d@refs/heads/main',
  },
  {
    name: 'a comment on a pull request',
    body: {
      id: '03c2',
      eventType: 'ms.vss-code.git-pullrequest-comment-event',
      resource: { comment: { id: 2 }, pullRequest: { pullRequestId: 1 } },
    },
    type: 'ms.vss-code.git-pullrequest-comment-event',
    reference: '1',
  },
])
expectEach(dockerhub, [
  {
    name: 'a push',
    body: { push_data: { tag: '1.2', pushed_at: 1_582_439_108 }, repository: { repo_name: 'a/b' } },
    type: 'push',
    reference: 'a/b:1.2',
  },
])

expectEach(jira, [
  {
    name: 'a worklog',
    headers: { 'x-atlassian-webhook-identifier': 'w1' },
    body: { webhookEvent: 'worklog_created', worklog: { id: '100028', issueId: '10002' } },
    type: 'worklog_created',
    reference: '10002',
  },
])
expectEach(linear, [
  {
    name: 'a comment',
    headers: { 'linear-delivery': 'd1' },
    body: { type: 'Comment', action: 'create', data: { id: '2174add1', issueId: '539068e2' } },
    type: 'Comment.create',
    reference: '539068e2',
  },
  {
    name: 'an issue',
    headers: { 'linear-delivery': 'd2' },
    body: { type: 'Issue', action: 'update', data: { id: '539068e2' } },
    type: 'Issue.update',
    reference: '539068e2',
  },
])
expectEach(notion, [
  {
    name: 'a comment',
    body: {
      id: 'n1',
      type: 'comment.created',
      entity: { id: '153104cd', type: 'comment' },
      data: { page_id: '0ef104cd' },
    },
    type: 'comment.created',
    reference: '0ef104cd',
  },
])
expectEach(intercom, [
  {
    name: 'the tag of a contact',
    body: {
      id: 'notif_1',
      topic: 'contact.tag.created',
      data: { item: { type: 'contact_tag', tag: { id: '44' }, contact: { id: '5f16' } } },
    },
    type: 'contact.tag.created',
    reference: '5f16',
  },
])

expectEach(googlePubsub, [
  {
    name: 'a message with an ordering key',
    body: {
      message: { messageId: '1', orderingKey: 'customer-7' },
      subscription: 'projects/p/subscriptions/s',
    },
    type: 'pubsub.push',
    reference: 'customer-7',
  },
  {
    name: 'a changed object of Cloud Storage',
    body: {
      message: {
        messageId: '2',
        attributes: { eventType: 'OBJECT_FINALIZE', bucketId: 'b', objectId: 'o.txt' },
      },
      subscription: 'projects/p/subscriptions/s',
    },
    type: 'OBJECT_FINALIZE',
    reference: 'b/o.txt',
  },
])
