import { defineProvider, jwtScheme } from '../verification/define-provider.js'

export const netlify = defineProvider({
  key: 'netlify',
  name: 'Netlify (outgoing webhook notifications)',
  docs: 'https://docs.netlify.com/site-deploys/notifications/#payload-signature',
  confidence: 'verified',
  // The token has no times in it: nothing but the dedupe stops a replay.
  verify: jwtScheme({
    in: 'header:x-webhook-signature',
    algorithms: ['HS256'],
    claims: { iss: 'netlify' },
    bodyHash: { claim: 'sha256' },
  }),
  events: {
    // `id` is the deploy's (or the submission's) and comes back with each of its states.
    id: 'hash',
    type: ['header:x-netlify-event', 'json:state'],
    reference: 'json:id',
  },
  retryWindowMs: null,
  keepHeaders: ['x-netlify-event'],
  samples: {
    deploy_created: {
      id: '{id}',
      site_id: '0d3a9d2f-ef94-4380-93df-27ee400e2048',
      build_id: '5bbb21a1792f8d0f7a9c0d3e',
      state: 'ready',
      name: 'my-site',
      url: 'https://my-site.netlify.app',
      branch: 'main',
      context: 'production',
      created_at: '{now:iso}',
      updated_at: '{now:iso}',
    },
    submission_created: {
      id: '{id}',
      number: 7,
      form_name: 'contact',
      site_url: 'https://my-site.netlify.app',
      data: { email: 'jane@example.com', message: 'Hello' },
      created_at: '{now:iso}',
    },
  },
})
