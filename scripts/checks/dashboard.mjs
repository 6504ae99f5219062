/** Types of the dashboard, and that the types of the API which it uses are those of the API as built. */
import { generateSchema } from '../dashboard.mjs'
import { read, tool } from './run.mjs'

const schema = 'dashboard/src/api/schema.d.ts'

export const dashboardTypes = {
  name: 'dashboard types',
  async run() {
    const current = (await read(schema)) === (await generateSchema())
    return [
      ...(current ? [] : [`${schema} is not the one of the API; npm run build writes it: commit it`]),
      ...(await tool('tsc', ['-p', 'dashboard/tsconfig.json'])),
    ]
  },
}
