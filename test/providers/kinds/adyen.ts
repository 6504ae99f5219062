import type { Kinds } from 'hookonce/testing/contracts'

const item = {
  additionalData: { hmacSignature: '' },
  amount: { currency: 'EUR', value: 1130 },
  eventCode: 'AUTHORISATION',
  eventDate: '2018-07-18T17:30:50+02:00',
  merchantAccountCode: 'TestMerchant',
  merchantReference: 'TestPayment-1407325143704',
  originalReference: '',
  paymentMethod: 'visa',
  pspReference: '7914073381342284',
  reason: '',
  success: 'true',
}
const delivery = (...items: object[]) => ({
  live: 'false',
  notificationItems: items.map((NotificationRequestItem) => ({ NotificationRequestItem })),
})
const path = 'json:notificationItems.0.NotificationRequestItem'

export const adyen: Kinds = [
  {
    name: 'an authorisation',
    body: delivery(item),
    events: ['AUTHORISATION'],
    another: [
      { [`${path}.pspReference`]: '7914073381342285' },
      { [`${path}.success`]: 'false' },
      { [`${path}.eventCode`]: 'CANCELLATION' },
    ],
  },
  {
    name: 'a modification of a payment',
    docs: 'https://docs.adyen.com/development-resources/webhooks/webhook-types/',
    body: delivery({
      ...item,
      eventCode: 'CAPTURE',
      originalReference: '7914073381342284',
      pspReference: '8825408195409505',
    }),
    events: ['CAPTURE'],
    another: [
      { [`${path}.pspReference`]: '8825408195409506' },
      { [`${path}.originalReference`]: '7914073381342285' },
      { [`${path}.eventCode`]: 'CAPTURE_FAILED' },
    ],
  },
  {
    name: 'several items in one delivery',
    body: delivery(item, { ...item, pspReference: '7914073381342290' }),
    events: 2,
    another: { 'json:notificationItems.1.NotificationRequestItem.pspReference': '7914073381342291' },
  },
  {
    name: 'a report that is ready',
    body: delivery({
      ...item,
      eventCode: 'REPORT_AVAILABLE',
      pspReference: 'settlement_detail_report_batch_1.csv',
    }),
    events: ['REPORT_AVAILABLE'],
    another: { [`${path}.pspReference`]: 'settlement_detail_report_batch_2.csv' },
  },
]
