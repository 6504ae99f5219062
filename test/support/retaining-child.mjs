/** Runs retention, or brings bytes back from an archive, and says each step of it. Meant to be killed. */
import { createInbox, silentLog } from 'hookonce'
import { archiveRestore, directory } from 'hookonce/archive'
import { unverified } from '#dist/providers/generic/credentials.js'
import { childStore, say } from './child-store.mjs'

const [mode = 'retain', folder = '', ages = '{}', ...where] = process.argv.slice(2)
/** @type {import('hookonce/testing/contracts').CompleteStore} */
const store = await childStore(where)
const inbox = createInbox({
  store,
  sources: { shop: unverified({ id: 'json:id', type: 'json:type' }) },
  retention: { ...JSON.parse(ages), batch: 20, ...(folder ? { archive: directory(folder) } : {}) },
  processing: false,
  log: silentLog,
})
if (mode === 'restore') {
  await store.migrate()
  // In small portions, so that there is always something to be killed in.
  const small = {
    ...store,
    archive: {
      ...store.archive,
      /** @type {import('hookonce/testing/contracts').Archive['restore']} */
      async restore(deliveries) {
        const results = []
        for (const delivery of deliveries) {
          results.push(...(await store.archive.restore([delivery])))
          say('restored')
        }
        return results
      },
    },
  }
  const by = { actor: 'ada', note: 'test' }
  const { restored, skipped } = await archiveRestore({ store: small, target: directory(folder), ...by })
  say(`done ${restored} ${skipped}`)
} else {
  const report = await inbox.retain({ onProgress: ({ step }) => say(step) })
  say(`done ${JSON.stringify(report)}`)
}
await inbox.stop()
