/** Every trial, in the order they are held. Adding one = a file and a line. */
import type { Trial } from './trial.js'
import { accepts } from './trials/acceptance.js'
import { burst10, burst50 } from './trials/bursts.js'
import { conflict, order } from './trials/content.js'
import { crash, failure } from './trials/failures.js'
import { forged, mangled, stale, tampered, unsigned } from './trials/forgeries.js'
import { again, later, restart } from './trials/repeats.js'
import { spelling } from './trials/spelling.js'
import { answerTime, slowClient } from './trials/transport.js'

export const trials: readonly Trial[] = [
  accepts,
  again,
  burst10,
  burst50,
  conflict,
  later,
  restart,
  failure,
  crash,
  tampered,
  unsigned,
  forged,
  mangled,
  stale,
  spelling,
  slowClient,
  order,
  answerTime,
]
