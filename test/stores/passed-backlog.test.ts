import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PassedBacklog } from '#dist/stores/shared/passed-backlog.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('a backlog that was left out is passed for a second, with the same types only, and its last rows are read again', () => {
  const passed = new PassedBacklog()
  expect(passed.before('shop', '["a"]')).toBe(0)
  passed.note('shop', '["a"]', 10_000)
  expect(passed.before('shop', '["a"]')).toBe(8_000)
  expect([
    passed.before('shop', '["a","b"]'),
    passed.before('shop', null),
    passed.before('bank', '["a"]'),
  ]).toEqual([0, 0, 0])
  vi.advanceTimersByTime(999)
  passed.note('shop', '["a"]', 10_999)
  expect(passed.before('shop', '["a"]')).toBe(8_000)
  vi.advanceTimersByTime(1)
  expect(passed.before('shop', '["a"]')).toBe(0)
})
