/**
 * The pages for a browser: the files of a dashboard if there are any, else the built-in page with its style and script.
 */
import { HookonceError, isHookonceError } from '../../../errors.js'
import type { Inbox } from '../../../inbox.js'
import type { Authenticator } from '../access.js'
import { hostOf, isEncrypted } from '../hosts.js'
import { type AdminOptions, may, rolesThatMay } from '../options.js'
import { eventView, seesDetail } from '../views.js'
import { eventsPage, pageCss, pageScript, refusedPage, signInPage } from './page.js'

const SHOWN = 20

export interface Pages {
  /** Null when there is no page at this path. */
  serve(path: string, request: Request, address: string | null): Promise<Response | null>
}

export function createPages(
  inbox: Inbox,
  authenticator: Authenticator,
  basePath: string,
  files: AdminOptions['static'],
): Pages {
  async function front(request: Request, address: string | null): Promise<Response> {
    const access = await authenticator.authenticate(request, address)
    if (access === null) {
      return authenticator.takesTokens
        ? signInPage(basePath, null)
        : refusedPage(basePath, new HookonceError('UNAUTHENTICATED'))
    }
    if (!may(access.role, 'read')) {
      const refused = new HookonceError('FORBIDDEN', {
        role: access.role,
        roles: rolesThatMay('read').join(', '),
      })
      return refusedPage(basePath, refused)
    }
    const { events } = await inbox.events.list({}, { limit: SHOWN })
    return eventsPage({
      basePath,
      access,
      events: events.map((event) => eventView(event, seesDetail(access))),
      origin: `${isEncrypted(request) ? 'https' : 'http'}://${hostOf(request)}`,
      example: exampleOf(inbox),
    })
  }

  return {
    async serve(path, request, address) {
      const file = await files?.(path)
      if (file) return file
      if (path === '/page.css') return fileOf(pageCss, 'text/css')
      if (path === '/page.js') return fileOf(pageScript, 'text/javascript')
      if (path !== '/' && path !== '') return null
      try {
        return await front(request, address)
      } catch (error) {
        // A browser gets the error as a page.
        if (isHookonceError(error)) return refusedPage(basePath, error)
        throw error
      }
    },
  }
}

function fileOf(text: string, type: string): Response {
  return new Response(text, { headers: { 'content-type': `${type}; charset=utf-8` } })
}

function exampleOf(inbox: Inbox): { name: string; unverified: boolean } | null {
  const all = [...inbox.sources].map(([name, source]) => ({ name, unverified: source.unverified }))
  return (
    all.find((source) => source.unverified) ?? all.find(({ name }) => name === 'stripe') ?? all[0] ?? null
  )
}
