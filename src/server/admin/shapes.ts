/** The shapes of the API's answers. Instants are ISO 8601. */
import { z } from 'zod'
import type { AnswerShape } from './route.js'

export function json(about: string, content: z.ZodType): AnswerShape {
  return { about, content }
}

export function instant(at: number): string
export function instant(at: number | null): string | null
export function instant(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

export const at = z.iso.datetime()
const count = z.int().min(0)

export const statsShape = z.strictObject({
  sources: z.array(
    z.strictObject({
      source: z.string(),
      recorded: count,
      pending: count,
      processing: count,
      retrying: count,
      succeeded: count,
      ignored: count,
      dead: count,
      oldestDueAt: at.nullable(),
    }),
  ),
})
