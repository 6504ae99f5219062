import type { Kinds } from 'hookonce/testing/contracts'

const merged =
  'In the older format, two changes of one record within a second count as one event. The event says only that the record changed.'
const customer = { name: 'Customer', id: '1', operation: 'Update', lastUpdated: '2015-10-05T14:42:19-0700' }

export const quickbooks: Kinds = [
  {
    name: 'changes of several companies, in the older format',
    body: {
      eventNotifications: [
        {
          realmId: '1185883450',
          dataChangeEvent: { entities: [customer, { ...customer, name: 'Vendor', operation: 'Create' }] },
        },
        { realmId: '1185883451', dataChangeEvent: { entities: [customer] } },
      ],
    },
    events: ['Customer.Update', 'Vendor.Create', 'Customer.Update'],
    another: {
      'json:eventNotifications.0.dataChangeEvent.entities.0.lastUpdated': '2015-10-05T14:42:20-0700',
    },
    merged,
  },
  {
    name: 'a merge of two records',
    body: {
      eventNotifications: [
        {
          realmId: '1185883450',
          dataChangeEvent: { entities: [{ ...customer, operation: 'Merge', deletedId: '7' }] },
        },
      ],
    },
    events: ['Customer.Merge'],
    another: { 'json:eventNotifications.0.dataChangeEvent.entities.0.deletedId': '8' },
  },
  {
    name: 'a batch of CloudEvents',
    body: [
      { specversion: '1.0', id: 'a', type: 'qbo.invoice.updated.v1', intuitentityid: '1234', data: {} },
      { specversion: '1.0', id: 'b', type: 'qbo.invoice.updated.v1', intuitentityid: '1234', data: {} },
    ],
    events: ['qbo.invoice.updated.v1', 'qbo.invoice.updated.v1'],
    another: { 'json:0.id': 'c' },
  },
]
