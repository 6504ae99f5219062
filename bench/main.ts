/** `npm run bench -- store`, `-- intake` or `-- processing`: compares side by side in one run, interleaved, and prints a table. */
import { intakeBench } from './intake.js'
import { processingBench } from './processing.js'
import { storeBench } from './store.js'

const benches: Record<string, (args: string[]) => Promise<void>> = {
  store: storeBench,
  intake: intakeBench,
  processing: processingBench,
}

const [name = '', ...args] = process.argv.slice(2)
const bench = benches[name]
if (!bench) {
  console.error(`Which bench? npm run bench -- ${Object.keys(benches).join(' | ')}`)
  process.exit(2)
}
await bench(args)
