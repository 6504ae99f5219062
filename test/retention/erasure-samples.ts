/** Deliveries about a person, as the documents of each sender show them. The name of the person is what must be gone. */
import { catalogue } from 'hookonce/providers'
import type { Sent } from '../support/references.js'

type Factory = (typeof catalogue)[keyof typeof catalogue]

export interface Person {
  /** Other digits make another person. */
  readonly digits: string
  readonly name: string
}

export interface PersonalSender {
  readonly factory: Factory
  readonly label: string
  idOf(person: Person): string
  sent(id: string, person: Person): readonly Sent[]
}

const at = '2026-11-19T12:00:00Z'
const sender = (
  factory: Factory,
  label: string,
  prefix: string,
  sent: (id: string, name: string) => readonly Sent[],
): PersonalSender => ({
  ...{ factory, label },
  idOf: ({ digits }) => `${prefix}${digits}`,
  sent: (id, { name }) => sent(id, name),
})
const body = (value: unknown, headers: Record<string, string> = {}): Sent => ({ body: value, headers })

const c = catalogue
export const personalSenders: readonly PersonalSender[] = [
  sender(c.stripe, 'customer', 'cus_', (id, name) => {
    const about = (type: string, object: object) => body({ id: `evt_${type}_${id}`, type, data: { object } })
    return [
      about('customer.updated', { id, object: 'customer', name }),
      about('invoice.paid', { id: `in_${id}`, object: 'invoice', customer: id, customer_name: name }),
      about('charge.succeeded', {
        id: `ch_${id}`,
        object: 'charge',
        customer: { id, object: 'customer', name },
      }),
      about('checkout.session.completed', { id: `cs_${id}`, object: 'checkout.session', customer: id, name }),
    ]
  }),
  sender(c.github, 'user', 'mona', (id, name) =>
    ['opened', 'edited'].map((action) =>
      body(
        {
          action,
          issue: { number: 7, title: name },
          repository: { full_name: 'acme/shop' },
          sender: { login: id },
        },
        { 'x-github-event': 'issues', 'x-github-delivery': `${action}-${id}` },
      ),
    ),
  ),
  sender(c.gitlab, 'user', 'mona', (id, name) => {
    const project = { path_with_namespace: 'acme/shop' }
    const push = { object_kind: 'push', user_username: id, user_name: name, ref: 'refs/heads/main', project }
    const issue = {
      object_kind: 'issue',
      user: { username: id, name },
      project,
      object_attributes: { iid: 3 },
    }
    return [
      body(push, { 'x-gitlab-event': 'Push Hook', 'idempotency-key': `push-${id}` }),
      body(issue, { 'x-gitlab-event': 'Issue Hook', 'idempotency-key': `issue-${id}` }),
    ]
  }),
  sender(c.shopify, 'customer', '', (id, name) => {
    const about = (topic: string, value: object) =>
      body(value, { 'x-shopify-topic': topic, 'x-shopify-webhook-id': `${topic}-${id}` })
    return [
      about('customers/update', { id: Number(id), first_name: name }),
      about('orders/create', { id: Number(`9${id}`), customer: { id: Number(id), first_name: name } }),
      about('customers/data_request', { shop_id: 1, customer: { id: Number(id), email: name } }),
    ]
  }),
  sender(c.woocommerce, 'customer', '', (id, name) => {
    const about = (topic: string, value: object) =>
      body(value, { 'x-wc-webhook-topic': topic, 'x-wc-webhook-delivery-id': `${topic}-${id}` })
    return [
      about('customer.updated', { id: Number(id), first_name: name }),
      about('order.created', {
        id: Number(`9${id}`),
        customer_id: Number(id),
        billing: { first_name: name },
      }),
    ]
  }),
  sender(c.paypal, 'customer', 'QYR5Z8XDV', (id, name) => [
    body({
      id: `WH-1-${id}`,
      event_type: 'CHECKOUT.ORDER.APPROVED',
      resource_type: 'checkout-order',
      resource: { id: `O-${id}`, payer: { payer_id: id, name: { given_name: name } } },
    }),
    body({
      id: `WH-2-${id}`,
      event_type: 'BILLING.SUBSCRIPTION.CREATED',
      resource_type: 'subscription',
      resource: { id: `I-${id}`, subscriber: { payer_id: id, name: { given_name: name } } },
    }),
  ]),
  sender(c.square, 'customer', 'CUST', (id, name) => {
    const about = (type: string, object: string, value: object) =>
      body({ event_id: `${type}-${id}`, type, data: { type: object, id: `${object}-${id}`, object: value } })
    return [
      body({
        event_id: `updated-${id}`,
        type: 'customer.updated',
        data: { type: 'customer', id, object: { customer: { id, given_name: name } } },
      }),
      about('payment.created', 'payment', { payment: { customer_id: id, note: name } }),
      about('invoice.published', 'invoice', {
        invoice: { primary_recipient: { customer_id: id, given_name: name } },
      }),
    ]
  }),
  sender(c.paddle, 'customer', 'ctm_', (id, name) => [
    body({ event_id: `evt_1${id}`, event_type: 'customer.updated', data: { id, name } }),
    body({
      event_id: `evt_2${id}`,
      event_type: 'transaction.completed',
      data: { id: `txn_${id}`, customer_id: id, custom_data: { name } },
    }),
  ]),
  sender(c.adyen, 'customer', 'shopper-', (id, name) =>
    ['AUTHORISATION', 'RECURRING_CONTRACT'].map((eventCode, i) =>
      body({
        live: 'false',
        notificationItems: [
          {
            NotificationRequestItem: {
              additionalData: {
                hmacSignature: '',
                shopperName: name,
                [i === 0 ? 'shopperReference' : 'recurring.shopperReference']: id,
              },
              amount: { currency: 'EUR', value: 1130 },
              ...{ pspReference: `psp${i}${id}`, eventCode, eventDate: at, success: 'true' },
              ...{ merchantAccountCode: 'Acme', merchantReference: `order-${id}`, paymentMethod: 'visa' },
            },
          },
        ],
      }),
    ),
  ),
  sender(c.slack, 'user', 'U', (id, name) => [
    body({
      ...{ event_id: `Ev${id}`, type: 'event_callback', team_id: 'T1' },
      event: { type: 'message', user: id, text: name, channel: 'C1' },
    }),
    { form: { trigger_id: `t${id}`, command: '/hello', user_id: id, text: name, channel_id: 'C1' } },
    body({ trigger_id: `b${id}`, type: 'block_actions', user: { id, name }, actions: [{ action_id: 'ok' }] }),
  ]),
  sender(c.hubspot, 'contact', '', (id, name) =>
    [
      { subscriptionType: 'contact.propertyChange' },
      { subscriptionType: 'object.creation', objectTypeId: '0-1' },
    ].map((kind, i) =>
      body([
        {
          ...{
            ...kind,
            eventId: Number(`${i}${id}`),
            subscriptionId: 1,
            portalId: 2,
            occurredAt: 1_700_000_000_000,
          },
          ...{ objectId: Number(id), propertyName: 'firstname', propertyValue: name, attemptNumber: 0 },
        },
      ]),
    ),
  ),
  sender(c.chargebee, 'customer', 'AzZ', (id, name) => [
    body({
      id: `ev_1${id}`,
      event_type: 'customer_changed',
      content: { customer: { id, first_name: name } },
    }),
    body({
      id: `ev_2${id}`,
      event_type: 'invoice_generated',
      content: { invoice: { id: `inv-${id}`, customer_id: id, billing_address: { first_name: name } } },
    }),
  ]),
  sender(c.recurly, 'customer', 'acct-', (id, name) => [
    body({
      ...{ id: `a${id}`, object_type: 'account', site_id: 's', event_type: 'updated', event_time: at },
      ...{ account_code: id, note: name },
    }),
  ]),
  sender(c.gocardless, 'customer', 'CU', (id, name) => [
    body({
      events: [
        {
          ...{ id: `EV${id}`, created_at: at, resource_type: 'billing_requests', action: 'fulfilled' },
          links: { billing_request: `BRQ${id}`, customer: id },
          metadata: { name },
        },
      ],
    }),
  ]),
  sender(c.razorpay, 'customer', 'cust_', (id, name) => [
    body(
      {
        event: 'payment.captured',
        payload: { payment: { entity: { id: `pay_${id}`, customer_id: id, email: name } } },
      },
      { 'x-razorpay-event-id': `r-${id}` },
    ),
  ]),
  sender(c.intercom, 'contact', '64c0', (id, name) => {
    const about = (topic: string, item: object) => body({ id: `${topic}_${id}`, topic, data: { item } })
    return [
      about('contact.user.updated', { type: 'contact', id, name }),
      about('conversation.user.created', {
        ...{ type: 'conversation', id: `c${id}`, source: { body: name } },
        contacts: { type: 'contact.list', contacts: [{ type: 'contact', id }] },
      }),
    ]
  }),
  sender(c.zendesk, 'user', '6596', (id, name) => {
    const about = (type: string, subject: string, detail: object) =>
      body({
        account_id: 1,
        id: `${type}-${id}`,
        type,
        subject,
        time: at,
        zendesk_event_version: '2022-06-20',
        detail,
      })
    return [
      about('zen:event-type:user.name_changed', `zen:user:${id}`, { id, name }),
      about('zen:event-type:ticket.created', 'zen:ticket:5158', {
        id: '5158',
        requester_id: id,
        subject: name,
      }),
    ]
  }),
  sender(c.bigcommerce, 'customer', '', (id, name) => [
    body(
      {
        scope: 'store/customer/updated',
        store_id: '1',
        data: { type: 'customer', id: Number(id) },
        producer: name,
      },
      { 'webhook-id': `bc-${id}` },
    ),
  ]),
  sender(c.xero, 'contact', '717f2bfc-c6d4-41fd-b238-', (id, name) => [
    body({
      events: [
        {
          ...{ resourceId: id, eventDateUtc: at, eventType: 'UPDATE', eventCategory: 'CONTACT' },
          ...{ tenantId: 'tenant', resourceUrl: `https://api.xero.com/${name}` },
        },
      ],
    }),
  ]),
  sender(c.quickbooks, 'customer', '', (id, name) => [
    body({
      eventNotifications: [
        {
          realmId: '1',
          dataChangeEvent: {
            entities: [{ name: 'Customer', id, operation: 'Update', lastUpdated: at, note: name }],
          },
        },
      ],
    }),
    body([
      {
        ...{
          specversion: '1.0',
          id: `ce-${id}`,
          source: 'intuit',
          type: 'qbo.customer.updated.v1',
          time: at,
        },
        ...{ intuitentityid: id, intuitaccountid: '1', data: { name } },
      },
    ]),
  ]),
  sender(c.lemonSqueezy, 'customer', '', (id, name) => [
    body({
      meta: { event_name: 'order_created' },
      data: { type: 'orders', id: `9${id}`, attributes: { customer_id: Number(id), user_name: name } },
    }),
  ]),
  sender(c.paystack, 'customer', 'CUS_', (id, name) => [
    body({
      event: 'charge.success',
      data: { id: 1, reference: `ref${id}`, customer: { customer_code: id, first_name: name } },
    }),
  ]),
  sender(c.flutterwave, 'customer', 'cus_', (id, name) => [
    body({
      type: 'charge.completed',
      data: { id: `chg_${id}`, status: 'succeeded', customer: { id, name } },
    }),
  ]),
  sender(c.polar, 'customer', 'pol-', (id, name) => [
    body({ type: 'customer.updated', data: { id, name } }, { 'webhook-id': `p1-${id}` }),
    body(
      { type: 'order.paid', data: { id: `o-${id}`, customer_id: id, name } },
      { 'webhook-id': `p2-${id}` },
    ),
  ]),
  sender(c.clerk, 'user', 'user_', (id, name) => [
    body(
      { type: 'user.updated', data: { id, object: 'user', first_name: name } },
      { 'svix-id': `msg_1${id}` },
    ),
    body(
      { type: 'session.created', data: { id: `sess_${id}`, object: 'session', user_id: id, note: name } },
      { 'svix-id': `msg_2${id}` },
    ),
  ]),
  sender(c.orb, 'customer', 'orb-', (id, name) => [
    body({ id: `o1${id}`, type: 'customer.edited', created_at: at, customer: { id, name } }),
    body({
      id: `o2${id}`,
      type: 'invoice.issued',
      created_at: at,
      invoice: { id: `i${id}`, customer: { id, name } },
    }),
  ]),
  sender(c.checkoutCom, 'customer', 'cus_', (id, name) => [
    body({ id: `evt_${id}`, type: 'payment_approved', data: { id: `pay_${id}`, customer: { id, name } } }),
  ]),
  sender(c.jira, 'user', '5b10', (id, name) => [
    body(
      { webhookEvent: 'user_updated', user: { accountId: id, displayName: name } },
      { 'x-atlassian-webhook-identifier': `j-${id}` },
    ),
  ]),
]
