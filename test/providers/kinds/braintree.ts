import type { Kinds } from 'hookonce/testing/contracts'

const xml = (at: string, id = 'sub_1') =>
  `<notification><timestamp type="datetime">${at}</timestamp><kind>subscription_charged_successfully</kind><subject><subscription><id>${id}</id></subscription></subject></notification>`

export const braintree: Kinds = [
  {
    name: 'an event of a subscription',
    docs: 'https://developer.paypal.com/braintree/docs/reference/general/webhooks/overview',
    body: { bt_signature: '', bt_payload: { $base64: xml('2026-11-15T12:00:00Z') } },
    events: ['subscription_charged_successfully'],
    another: [
      { 'form:bt_payload': { $base64: xml('2026-11-15T12:00:01Z') } },
      { 'form:bt_payload': { $base64: xml('2026-11-15T12:00:00Z', 'sub_2') } },
    ],
  },
  {
    name: 'the check from the control panel',
    body: {
      bt_signature: '',
      bt_payload: {
        $base64:
          '<notification><timestamp type="datetime">2026-11-15T12:00:00Z</timestamp><kind>check</kind><subject><check type="boolean">true</check></subject></notification>',
      },
    },
    events: ['check'],
    another: { 'form:bt_payload': { $base64: xml('2026-11-15T12:00:05Z') } },
  },
]
