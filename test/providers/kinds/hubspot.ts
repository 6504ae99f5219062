import type { Kinds } from 'hookonce/testing/contracts'

const shared = { eventId: 3816279340, subscriptionId: 25, portalId: 33, appId: 1160452, attemptNumber: 0 }
const changed = {
  ...shared,
  occurredAt: 1462216307945,
  subscriptionType: 'contact.propertyChange',
  objectId: 1148,
  propertyName: 'firstname',
  propertyValue: 'Ada',
  changeSource: 'CRM_UI',
}

/** HubSpot: "This value is not guaranteed to be unique" (eventId). */
export const hubspot: Kinds = [
  {
    name: 'a changed property',
    docs: 'https://developers.hubspot.com/docs/api-reference/webhooks-webhooks-v3/guide',
    body: [changed],
    events: ['contact.propertyChange'],
    redelivery: { 'json:0.attemptNumber': 1, timestamp: 60_000 },
    another: [
      { 'json:0.eventId': 3816279341 },
      { 'json:0.objectId': 1149 },
      { 'json:0.occurredAt': 1462216307946 },
      { 'json:0.propertyName': 'lastname' },
      { 'json:0.propertyValue': 'Grace' },
      { 'json:0.portalId': 34 },
    ],
  },
  {
    name: 'several events in one delivery, with one eventId',
    body: [changed, { ...changed, objectId: 1149 }, { ...changed, propertyName: 'lastname' }],
    events: 3,
    redelivery: { 'json:0.attemptNumber': 1, 'json:1.attemptNumber': 1, timestamp: 60_000 },
    another: { 'json:2.occurredAt': 1462216307999 },
  },
  {
    name: 'a changed association',
    body: [
      {
        ...shared,
        occurredAt: 1462216307945,
        subscriptionType: 'contact.associationChange',
        associationType: 'CONTACT_TO_COMPANY',
        fromObjectId: 1,
        toObjectId: 2,
        associationRemoved: false,
        isPrimaryAssociation: false,
      },
    ],
    another: [
      { 'json:0.toObjectId': 3 },
      { 'json:0.associationRemoved': true },
      { 'json:0.fromObjectId': 4 },
    ],
  },
  {
    name: 'merged objects',
    body: [
      {
        ...shared,
        occurredAt: 1462216307945,
        subscriptionType: 'contact.merge',
        primaryObjectId: 7,
        mergedObjectIds: [8],
        newObjectId: 9,
        numberOfPropertiesMoved: 2,
      },
    ],
    another: [{ 'json:0.primaryObjectId': 10 }, { 'json:0.newObjectId': 11 }],
  },
  {
    name: 'a new message in a conversation',
    body: [
      {
        ...shared,
        occurredAt: 1462216307945,
        subscriptionType: 'conversation.newMessage',
        objectId: 999,
        messageId: 'm1',
        messageType: 'MESSAGE',
      },
    ],
    another: [{ 'json:0.messageId': 'm2' }],
  },
]
