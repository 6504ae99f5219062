import type { Kinds } from 'hookonce/testing/contracts'

const shared = {
  email: 'example@test.com',
  timestamp: 1513299569,
  'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>',
  sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
}

export const sendgrid: Kinds = [
  {
    name: 'a batch of delivery and engagement events',
    docs: 'https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event',
    body: [
      { ...shared, event: 'processed', sg_event_id: 'rbtnWrG1DVDGGGFHFyun0A==' },
      { ...shared, event: 'delivered', response: '250 OK', sg_event_id: 'ZGVsaXZlcmVkLTAtMQ==' },
      { ...shared, event: 'open', sg_machine_open: false, sg_event_id: 'b3Blbi0x' },
      { ...shared, event: 'click', url: 'https://example.com', sg_event_id: 'Y2xpY2stMQ==' },
    ],
    events: ['processed', 'delivered', 'open', 'click'],
    another: { 'json:3.sg_event_id': 'Y2xpY2stMg==' },
  },
  {
    name: 'the same link clicked again in the same second',
    body: [{ ...shared, event: 'click', url: 'https://example.com', sg_event_id: 'Y2xpY2stMQ==' }],
    another: { 'json:0.sg_event_id': 'Y2xpY2stMw==' },
  },
  {
    name: 'a change of the account',
    body: [
      {
        event: 'account_status_change',
        sg_event_id: 'MjEzNTg5OTcyOC10ZXJtaW5hdGUtMTcwNTk2NDY0MA',
        timestamp: 1705964640,
        type: 'compliance_suspend',
      },
    ],
    events: ['account_status_change'],
    another: { 'json:0.sg_event_id': 'MjEzNTg5OTcyOC10ZXJtaW5hdGUtMTcwNTk2NDY0MQ' },
  },
]
