/** `npm run bench -- store`, `intake`, `delivery`, `processing`, `retention` or `forward`: runs the variants interleaved and prints a table. */
import { deliveryBench } from './delivery.js'
import { forwardBench } from './forward.js'
import { intakeBench } from './intake.js'
import { processingBench } from './processing.js'
import { retentionBench } from './retention.js'
import { storeBench } from './store.js'

const benches: Record<string, (args: string[]) => Promise<void>> = {
  store: storeBench,
  intake: intakeBench,
  delivery: deliveryBench,
  processing: processingBench,
  retention: retentionBench,
  forward: forwardBench,
}

const [name = '', ...args] = process.argv.slice(2)
const bench = benches[name]
if (!bench) {
  console.error(`Which bench? npm run bench -- ${Object.keys(benches).join(' | ')}`)
  process.exit(2)
}
await bench(args)
