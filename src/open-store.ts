/** Loads a store only when its URL asks for it: drivers are optional, and `import 'hookonce'` adds no store to a bundle. */
import { HookonceError } from './errors.js'
import { importPart, isMissing } from './optional-module.js'
import type { CompleteStore } from './store.js'

export async function openStore(url: string): Promise<CompleteStore> {
  if (url.startsWith('sqlite:')) {
    const { sqlite } = await importPart<typeof import('./stores/sqlite/sqlite.js')>('hookonce/sqlite')
    return sqlite(url.slice('sqlite:'.length))
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { postgres } = await importPart<typeof import('./stores/postgres/postgres.js')>(
      'hookonce/postgres',
    ).catch((error: unknown) => {
      throw isMissing(error, 'pg') ? new HookonceError('DRIVER_MISSING', { driver: 'pg' }) : error
    })
    return postgres({ url })
  }
  throw new HookonceError('STORE_URL', { url: withoutPassword(url) })
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//***@').slice(0, 100)
}
