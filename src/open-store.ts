/** Opens a store by its URL. Drivers are optional, so each store is imported only when a URL names it. */
import { HookonceError } from './errors.js'
import type { CompleteStore } from './store.js'

export async function openStore(url: string): Promise<CompleteStore> {
  if (url.startsWith('sqlite:')) {
    const { sqlite } = await import('./stores/sqlite/sqlite.js')
    return sqlite(url.slice('sqlite:'.length))
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { postgres } = await import('./stores/postgres/postgres.js').catch((error: { code?: string }) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
      throw new HookonceError('DRIVER_MISSING', { driver: 'pg' })
    })
    return postgres({ url })
  }
  throw new HookonceError('STORE_URL', { url: withoutPassword(url) })
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//***@').slice(0, 100)
}
