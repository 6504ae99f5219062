import { gitlab, hookdeck, mailgun, okta, polar, resend, svix, telnyx, workos } from 'hookonce/providers'
import {
  gitlabApi,
  hookdeckApi,
  mailgunApi,
  oktaApi,
  polarApi,
  resendApi,
  svixApi,
  telnyxApi,
  workosApi,
} from '../../support/sender-apis/platforms.js'
import { listContract } from './contract.js'

listContract({
  factory: workos,
  key: 'sk_live_events',
  options: { events: Object.keys(workos.definition.samples) },
  shape: workosApi(),
})
listContract({
  factory: mailgun,
  key: 'key-private',
  options: { domain: 'mg.example.com' },
  shape: mailgunApi(),
})
listContract({
  factory: gitlab,
  key: 'glpat-maintainer',
  options: { project: 'mike/diaspora', hook: '42' },
  shape: gitlabApi(),
})
listContract({ factory: polar, key: 'polar_oat_read', options: { endpoint: 'we_1' }, shape: polarApi() })
listContract({ factory: resend, key: 're_full', options: { webhook: '4dd369bc' }, shape: resendApi() })
listContract({
  factory: svix,
  key: 'testsk_portal.eu',
  options: { application: 'app_1', endpoint: 'ep_1' },
  shape: svixApi(),
})
listContract({ factory: telnyx, key: 'KEY0199_secret', shape: telnyxApi() })
listContract({ factory: okta, key: '00apiToken', shape: oktaApi() })
listContract({
  factory: hookdeck,
  key: 'hookdeckKey',
  options: { destination: 'des_1' },
  shape: hookdeckApi(),
})
