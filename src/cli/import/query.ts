/** The rows of a SELECT, through a cursor in a read-only transaction: any query, with little memory. */
import type pg from 'pg'
import { importOptional } from '../../optional-module.js'
import { Failure, firstSentence } from '../failure.js'
import type { ImportRow } from './csv.js'

const FETCH = 1_000

export async function* queryRows(url: string, select: string): AsyncGenerator<ImportRow> {
  const { default: driver } = await importOptional<{ default: typeof pg }>('pg')
  const client = new driver.Client({ connectionString: url, application_name: 'hookonce import' })
  try {
    await client.connect()
    await client.query('begin transaction read only')
    await client.query(`declare hookonce_import no scroll cursor for ${select.trim().replace(/;+$/, '')}`)
    for (;;) {
      const { rows } = await client.query<ImportRow>(`fetch ${FETCH} from hookonce_import`)
      yield* rows
      if (rows.length < FETCH) return
    }
  } catch (error) {
    throw error instanceof driver.DatabaseError
      ? new Failure(`--query failed: ${firstSentence(error)}`)
      : error
  } finally {
    await client.end().catch(() => {})
  }
}
