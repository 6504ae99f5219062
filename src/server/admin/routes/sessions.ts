/** Sign-in exchanges a token for a cookie that scripts cannot read and other sites cannot send. */
import { z } from 'zod'
import type { WholeInbox } from '../../../inbox/internals.js'
import type { Authenticator } from '../access.js'
import { audit } from '../capabilities.js'
import { isEncrypted } from '../hosts.js'
import { permissionsOf, type Role } from '../options.js'
import { type Route, route } from '../route.js'
import { setCookie } from '../session.js'
import { json, sessionShape } from '../shapes.js'
import { withInstants } from '../views.js'

export function sessionRoutes(inbox: WholeInbox, authenticator: Authenticator, basePath: string): Route[] {
  const path = basePath || '/'
  const about = (role: Role) => ({
    permissions: permissionsOf(role),
    version: inbox.setup.version,
    startedAt: inbox.setup.startedAt,
  })

  return [
    route({
      method: 'POST',
      path: '/api/sessions',
      id: 'signIn',
      summary: 'Sign in: exchange a token for a session cookie',
      can: 'anyone',
      body: z.strictObject({ token: z.string().min(1).max(1_000).describe('A token of the admin API') }),
      answers: { 201: json('Signed in.', sessionShape) },
      async run({ request, address, body: { token } }) {
        const { value, ...session } = await authenticator.signIn(token, address)
        await audit(inbox, { actor: session.actor, verb: 'sign_in', note: '' })
        const maxAgeS = Math.max(1, Math.floor((session.expiresAt - Date.now()) / 1_000))
        return Response.json(withInstants({ ...session, ...about(session.role) }), {
          status: 201,
          headers: { 'set-cookie': setCookie(value, maxAgeS, path, isEncrypted(request)) },
        })
      },
    }),
    route({
      method: 'DELETE',
      path: '/api/sessions',
      id: 'signOut',
      summary: 'Sign out: remove the session cookie',
      can: 'anyone',
      answers: { 204: { about: 'Signed out.', content: null } },
      async run({ request }) {
        return new Response(null, {
          status: 204,
          headers: { 'set-cookie': setCookie('', 0, path, isEncrypted(request)) },
        })
      },
    }),
    route({
      method: 'GET',
      path: '/api/session',
      id: 'getSession',
      summary: 'The current session: actor, role and expiry',
      can: 'signed-in',
      answers: { 200: json('The session.', sessionShape) },
      async run({ access }) {
        const { actor, role, by, expiresAt } = access!
        return { actor, role, by, expiresAt, ...about(role) }
      },
    }),
  ]
}
