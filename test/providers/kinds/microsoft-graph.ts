import type { Kinds } from 'hookonce/testing/contracts'

const notification = {
  subscriptionId: '7f105c7d-2dc5-4530-97cd-4e7ae6534c07',
  subscriptionExpirationDateTime: '2016-11-20T18:23:45.9356913Z',
  clientState: '',
  changeType: 'updated',
  tenantId: '84bd8158-6d4d-4958-8b9f-9d6445542f95',
}

export const microsoftGraph: Kinds = [
  {
    name: 'a change with an id',
    body: { value: [{ ...notification, id: 'lsgTZMr9KwAAA', resource: 'users/1/messages/AAMkA' }] },
    events: ['updated'],
    another: { 'json:value.0.id': 'lsgTZMr9KwAAB' },
  },
  {
    name: 'several changes of mail, each with its version',
    body: {
      value: [
        {
          ...notification,
          resource: 'users/1/messages/A',
          resourceData: { id: 'A', '@odata.etag': 'W/"1"' },
        },
        {
          ...notification,
          resource: 'users/1/messages/B',
          resourceData: { id: 'B', '@odata.etag': 'W/"1"' },
        },
      ],
    },
    events: 2,
    another: { 'json:value.0.resourceData.@odata\\.etag': 'W/"2"' },
  },
  {
    name: 'a change of a drive',
    docs: 'https://learn.microsoft.com/en-us/graph/api/resources/changenotification',
    body: { value: [{ ...notification, resource: 'me/drive/root' }] },
    another: {},
    repeated:
      'Notifications of drives and presence have no id and no version. Two changes can have the same bytes, so every delivery is a new event.',
  },
  {
    name: 'a lifecycle event',
    docs: 'https://learn.microsoft.com/en-us/graph/change-notifications-lifecycle-events',
    body: { value: [{ ...notification, changeType: undefined, lifecycleEvent: 'reauthorizationRequired' }] },
    events: ['reauthorizationRequired'],
    another: {},
    repeated: 'A lifecycle event has no id and no time. So every delivery is a new event.',
  },
  {
    name: 'the validation of the endpoint',
    query: { validationToken: 'Validation: Testing client application reachability' },
    handshake: 'unsigned',
  },
]
