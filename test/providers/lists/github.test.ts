import { github } from 'hookonce/providers'
import { expect, test } from 'vitest'
import { githubApi, hook } from '../../support/sender-apis/github.js'
import { listContract } from './contract.js'

listContract({ factory: github as never, key: 'github_pat_lists', options: { hook }, shape: githubApi() })

test('the list of GitHub needs a webhook, in the form of its path', () => {
  const secret = 'a secret that is long enough'
  expect(github({ secret, apiKey: 'github_pat_1' }).list!.problem).toMatch(
    /hook.*repos\/OWNER\/REPO\/hooks\/ID/,
  )
  expect(() => github({ secret, apiKey: 'github_pat_1', hook: 'acme/shop' })).toThrow(/hook.*must be/)
  expect(github({ secret }).list!.problem).toMatch(/apiKey/)
})
