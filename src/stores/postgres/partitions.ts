/** The partitions of payloads: months or days, made ahead and on demand. */
import { invalid } from '../../errors.js'
import type { Statement } from './database.js'

export type PartitionUnit = 'month' | 'day'

export function checkUnit(unit: PartitionUnit): PartitionUnit {
  if (unit !== 'month' && unit !== 'day')
    throw invalid('The option partitions', `must be 'month' or 'day', not "${unit}"`)
  return unit
}

/** $1 instant in ms, or null for now   $2 how many after it   $3 unit */
export const ensurePartitions: Statement = {
  name: 'ensure_partitions',
  sql: `
select name from hookonce.ensure_partitions(coalesce(to_timestamp($1::float8 / 1000), hookonce.clock()), $2::int, $3) as name`,
}

export const countAhead: Statement = {
  name: 'partitions_ahead',
  sql: 'select count(*)::int as ahead from hookonce.payload_partitions() where low > hookonce.clock()',
}
