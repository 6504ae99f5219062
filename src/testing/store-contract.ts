/**
 * The contract of a store as a suite for any test runner: each case is a sentence of behaviour and a function that fails
 * when the store behaves otherwise.
 *
 *     for (const { name, run } of storeContract) test(name, () => run(freshHarness()))
 */
import type { Capability } from '../store.js'
import { archiveCases } from './store-contract/archive.js'
import { attemptCases } from './store-contract/attempts.js'
import { auditCases } from './store-contract/audits.js'
import { byteCases } from './store-contract/bytes.js'
import { claimCases } from './store-contract/claim.js'
import { conflictCases } from './store-contract/conflicts.js'
import { consumerCases } from './store-contract/consumers.js'
import { duplicateCases, repeatedCases } from './store-contract/duplicates.js'
import { effectCases } from './store-contract/effect.js'
import { flagCases } from './store-contract/flags.js'
import { grantCases } from './store-contract/grants.js'
import { examineCases, handledCases, historyCases } from './store-contract/history.js'
import { importCases } from './store-contract/imports.js'
import { inputCases } from './store-contract/input.js'
import { inspectCases } from './store-contract/inspect.js'
import { keyCases, watermarkCases } from './store-contract/keys.js'
import { laneCases } from './store-contract/lanes.js'
import { leaseCases } from './store-contract/leases.js'
import { lifecycleCases, walkCases } from './store-contract/lifecycle.js'
import { listCases, tailCases } from './store-contract/list.js'
import { openingCases } from './store-contract/opening.js'
import { operatorCases } from './store-contract/operator.js'
import { pauseCases } from './store-contract/pauses.js'
import { reconcileCases } from './store-contract/reconciles.js'
import { recordCases } from './store-contract/record.js'
import { recordClaimCases } from './store-contract/record-claim.js'
import { referenceCases } from './store-contract/references.js'
import { replyCases } from './store-contract/replies.js'
import { retentionCases } from './store-contract/retention.js'
import { standingCases } from './store-contract/standings.js'
import { statsCases } from './store-contract/stats.js'
import type { ContractCase, StoreCase } from './store-contract/support.js'
import { transactionCases } from './store-contract/transaction.js'

export type { StoreCase, StoreHarness } from './store-contract/support.js'

export const storeContract: readonly StoreCase[] = [
  ...section('log', [
    ...openingCases,
    ...recordCases,
    ...duplicateCases,
    ...conflictCases,
    ...flagCases,
    ...byteCases,
    ...lifecycleCases,
    ...walkCases,
    ...claimCases,
    ...recordClaimCases,
    ...laneCases,
    ...leaseCases,
    ...attemptCases,
    ...transactionCases,
    ...operatorCases,
    ...listCases,
    ...referenceCases,
    ...statsCases,
    ...tailCases,
    ...inputCases,
  ]),
  ...section('keys', [...effectCases, ...keyCases, ...watermarkCases]),
  ...section('retention', retentionCases),
  ...section('archive', archiveCases),
  ...section('audit', auditCases),
  ...section('inspect', [...inspectCases, ...examineCases, ...standingCases]),
  ...section('duplicates', repeatedCases),
  ...section('history', [...historyCases, ...handledCases]),
  ...section('imports', importCases),
  ...section('consumers', consumerCases),
  ...section('reconciles', reconcileCases),
  ...section('replies', replyCases),
  ...section('grants', grantCases),
  ...section('pauses', pauseCases),
]

/** A case that needs a missing capability has `skip`, and its name says which one is missing. */
export function storeContractFor(store: Partial<Record<Capability, unknown>>): readonly StoreCase[] {
  return storeContract.map((storeCase) => {
    const missing = storeCase.needs.filter((capability) => store[capability] === undefined)
    if (missing.length === 0) return storeCase
    const skip = `the store has no ${missing.join(', no ')}`
    return { ...storeCase, name: `${storeCase.name} (left out: ${skip})`, skip }
  })
}

function section(name: 'log' | Capability, cases: readonly ContractCase[]): StoreCase[] {
  return cases.map((contractCase) => ({
    ...contractCase,
    name: `${name}: ${contractCase.name}`,
    needs: [...new Set([...(name === 'log' ? [] : [name]), ...(contractCase.needs ?? [])])],
  }))
}
