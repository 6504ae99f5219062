/*
 * The rules of the log: CAN_x says when x may happen to an event, DO_x what it changes. explore.pml tries them in every
 * order, trace.pml follows a history of the real program. Without one of the guards (BROKEN_x) explore.pml finds a fault:
 * that shows that the guard is needed.
 */

/* How the last run of an event ended. */
#define OPEN 0
#define SUCCEEDED 1
#define IGNORED 2
#define DEAD 3
/* Not an end: another attempt follows. */
#define RETRY 4

#ifndef NUMBER
#define NUMBER byte
#endif

NUMBER lastSeq = 0;

typedef Event {
  bool recorded;
  /* The order of recording. */
  NUMBER seq;
  bool payload;
  /* It has a row in work: it still needs something. */
  bool working;
  /* The time of its lease is over. */
  bool expired;
  /* 0: not leased. */
  NUMBER token;
  NUMBER attempt;
  /* The attempts of earlier runs. */
  NUMBER base;
  /* 0: no order. */
  NUMBER lane;
  byte outcome;
  /* Rows of the handler: in the transaction that is open, and committed in this run. */
  byte pending;
  byte effects
}
Event log[EVENTS];

#define LIVE(e) (log[e].token != 0 && !log[e].expired)

/* Another one of its lane is before it and unfinished, or leased. */
#define BLOCKS(other, e) (other != e && log[e].lane != 0 && log[other].lane == log[e].lane && log[other].working && (log[other].seq < log[e].seq || LIVE(other)))

/* ---- intake ---- */

/* The unique key decides. */
#ifdef BROKEN_KEY
#define CAN_RECORD(e) true
#else
#define CAN_RECORD(e) (!log[e].recorded)
#endif

inline do_record(e, ofLane) {
  lastSeq++;
  log[e].seq = lastSeq;
  log[e].recorded = true;
  log[e].payload = true;
  log[e].working = true;
  log[e].token = 0;
  log[e].expired = false;
  log[e].attempt = 0;
  log[e].base = 0;
  log[e].lane = ofLane;
  log[e].outcome = OPEN;
  log[e].pending = 0;
  log[e].effects = 0
}

/* Known signed content under a new id, where the source wants a review. */
inline do_withhold(e) {
  do_record(e, 0);
  log[e].working = false;
  log[e].outcome = IGNORED
}

/* ---- leases ---- */

/* laneIsFree: no event blocks it. */
#ifdef BROKEN_LANE
#define CAN_CLAIM(e, laneIsFree) (log[e].working && !LIVE(e))
#else
#define CAN_CLAIM(e, laneIsFree) (log[e].working && !LIVE(e) && (laneIsFree))
#endif

inline do_claim(e, newToken) {
  log[e].token = newToken;
  log[e].expired = false;
  log[e].attempt++
}

/* Whoever writes after a claim presents the token of a live lease. */
#ifdef BROKEN_FENCE
#define HOLDS(e, t) true
#else
#define HOLDS(e, t) (log[e].working && log[e].token == t && LIVE(e))
#endif

#define CAN_EXPIRE(e) (log[e].working && LIVE(e))
#define DO_EXPIRE(e) log[e].expired = true

/* The attempt has not begun: it does not count. */
inline do_release(e) {
  log[e].token = 0;
  log[e].expired = false;
  log[e].attempt--
}

/* Rows of the handler and the outcome are one transaction. An outcome that is no success leaves no rows. */
#ifdef BROKEN_ATOMICITY
#define CAN_SETTLE(e, t, how) HOLDS(e, t)
#else
#define CAN_SETTLE(e, t, how) (HOLDS(e, t) && (how == SUCCEEDED || log[e].pending == 0))
#endif

inline do_settle(e, how) {
  log[e].effects = log[e].effects + log[e].pending;
  log[e].pending = 0;
  log[e].token = 0;
  log[e].expired = false;
  if
  :: how != RETRY -> log[e].working = false; log[e].outcome = how
  :: else -> skip
  fi
}

/* ---- operators ---- */

/* retry and replay: a new run. Without its payload the event would become a dead letter. */
#ifdef BROKEN_REVIVE
#define CAN_REVIVE(e) (log[e].recorded && !LIVE(e))
#else
#define CAN_REVIVE(e) (log[e].recorded && !LIVE(e) && log[e].payload)
#endif

inline do_revive(e) {
  log[e].base = log[e].attempt;
  log[e].working = true;
  log[e].token = 0;
  log[e].expired = false;
  log[e].outcome = OPEN;
  log[e].effects = 0
}

#define CAN_IGNORE(e) (log[e].working && !LIVE(e))

inline do_ignore(e) {
  log[e].working = false;
  log[e].token = 0;
  log[e].expired = false;
  log[e].outcome = IGNORED
}

/* ---- retention ---- */

#ifdef BROKEN_RETENTION
#define CAN_REMOVE(e) (log[e].recorded)
#else
#define CAN_REMOVE(e) (log[e].recorded && !log[e].working)
#endif
#define DO_REMOVE_PAYLOAD(e) log[e].payload = false
#define DO_FORGET(e) log[e].recorded = false
