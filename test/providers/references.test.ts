/** The reference of an event: what a user orders by. */
import { hubspot, twitchEventsub } from 'hookonce/providers'
import { expect, it } from 'vitest'

const secret = 'a secret that is long enough'
const now = 1_700_000_000_000

it('HubSpot: merges and changes of associations are about the object they name', async () => {
  const source = hubspot({ secret })
  const common = { portalId: 1, subscriptionId: 2, occurredAt: 3 }
  const body = [
    { ...common, eventId: 1, subscriptionType: 'contact.creation', objectId: 7 },
    { ...common, eventId: 2, subscriptionType: 'contact.merge', primaryObjectId: 8, mergedObjectIds: [9] },
    { ...common, eventId: 3, subscriptionType: 'contact.associationChange', fromObjectId: 9, toObjectId: 10 },
  ]
  const events = source.identify(await source.sign({ body: JSON.stringify(body), now }))
  expect(events.map(({ reference }) => reference)).toEqual(['7', '8', '9'])
})

it('Twitch: the start and the end of a stream have the broadcaster as their reference', async () => {
  const source = twitchEventsub({ secret })
  const referenceOf = async (type: string, body: object) => {
    const headers = { 'twitch-eventsub-message-id': type, 'twitch-eventsub-subscription-type': type }
    const signed = await source.sign({ body: JSON.stringify(body), headers, now })
    return source.identify(signed)[0]!.reference
  }
  const condition = { broadcaster_user_id: '1337' }
  const event = { broadcaster_user_id: '1337' }
  expect(await referenceOf('stream.online', { subscription: { id: 'a', condition }, event })).toBe('1337')
  expect(await referenceOf('stream.offline', { subscription: { id: 'b', condition }, event })).toBe('1337')
  expect(await referenceOf('stream.online', { subscription: { id: 'a', condition } })).toBe('1337')
  expect(await referenceOf('user.update', { subscription: { id: 'c' }, event: {} })).toBe('c')
})
