/*
 * Every order of a small number of steps: deliveries that are sent again, a spool, workers that freeze or die, a consumer
 * that two processes copy for, an operator, retention. A process that dies forgets what it knows; the log stays.
 *
 * Checked: an acknowledged event is in the log or in the spool. A run has at most one effect, in the order of its lane.
 * A handler finds its payload. At the end every acknowledged event is finished, and the consumer has each event once.
 */
#define SENT 2
#define EVENTS 4
#define COPY_OF(e) (e + SENT)
#include "rules.pml"

/* How often each fault may happen. */
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef EXPIRIES
#define EXPIRIES 1
#endif
#ifndef OUTAGES
#define OUTAGES 1
#endif

bool acked[SENT];
bool spooled[SENT];
/* Nobody sends it again. */
bool sent[SENT];
bool everRecorded[EVENTS];
byte deaths = DEATHS;
byte expiries = EXPIRIES;
byte outages = OUTAGES;
byte lastToken = 0;
/* Every event below it was copied. */
byte position = 0;
/* Effects of all runs, and how many runs an operator has asked for. */
byte effects[EVENTS];
byte replays[EVENTS];
/* The operator has gone home. */
bool unattended = true;

#define SAFE(e) (log[e].recorded || spooled[e] || everRecorded[e])

/* Both events are of one lane; a copy has no order. */
inline record(e, ofLane) {
  if
  :: CAN_RECORD(e) && !everRecorded[e] -> do_record(e, ofLane); everRecorded[e] = true
#ifdef BROKEN_KEY
  :: CAN_RECORD(e) && everRecorded[e] -> do_record(e, ofLane)
#endif
  :: else -> skip
  fi
}

/* A sender and the process that it reaches. */
proctype Delivery(byte e; byte repeats) {
  do
  :: repeats > 0 ->
    if
    :: atomic { record(e, 1) }
    :: atomic { outages > 0 -> outages--; spooled[e] = true }
#ifdef BROKEN_ACK
    :: true
#endif
    fi;
    if
    :: atomic { deaths > 0 -> deaths-- }
    :: true -> atomic { acked[e] = true; assert(SAFE(e)); repeats-- }
    fi
  :: else -> break
  od;
  sent[e] = true
}

/* It empties the spool when the store is back. It may die between the two steps. */
proctype Drain() {
  byte e;
  do
  :: atomic { spooled[0] -> e = 0 } 
    atomic { record(e, 1) }
    if
    :: atomic { deaths > 0 -> deaths-- }
    :: true -> spooled[e] = false
    fi
  :: atomic { spooled[1] -> e = 1 }
#ifdef BROKEN_DRAIN
    spooled[e] = false;
    if
    :: atomic { deaths > 0 -> deaths-- }
    :: true -> atomic { record(e, 1) }
    fi
#else
    atomic { record(e, 1) }
    if
    :: atomic { deaths > 0 -> deaths-- }
    :: true -> spooled[e] = false
    fi
#endif
  :: sent[0] && sent[1] && !spooled[0] && !spooled[1] -> break
  od
}

#define LANE_IS_FREE(e) (!BLOCKS(0, e) && !BLOCKS(1, e) && !BLOCKS(2, e) && !BLOCKS(3, e))

/* rows: those of the handler that commit with this outcome. */
inline settle(e, how, rows) {
  /* An older event may be replayed while this one runs. */
  assert(rows == 0 || replays[0] + replays[1] > 0 || LANE_IS_FREE(e));
  effects[e] = effects[e] + rows;
  do_settle(e, how);
  assert(effects[e] <= 1 + replays[e])
}


inline claim(n) {
  e = n;
  lastToken++;
  token = lastToken;
  do_claim(e, token);
  assert(log[e].payload)
}

/* It may stop at any point: dead, or frozen until its lease is over, and then go on with the token that it has. */
proctype Worker() {
  byte e;
  byte token;
  do
  :: atomic {
      if
      :: CAN_CLAIM(0, LANE_IS_FREE(0)) -> claim(0)
      :: CAN_CLAIM(1, LANE_IS_FREE(1)) -> claim(1)
      :: CAN_CLAIM(2, LANE_IS_FREE(2)) -> claim(2)
      :: CAN_CLAIM(3, LANE_IS_FREE(3)) -> claim(3)
      fi
    }
    if
    :: atomic { deaths > 0 -> deaths--; token = 0 }
    :: atomic {
        deaths > 0 -> deaths--;
        if
        :: HOLDS(e, token) -> do_release(e)
        :: else -> skip
        fi;
        token = 0
      }
    :: atomic {
        true;
        if
        :: CAN_SETTLE(e, token, SUCCEEDED) -> settle(e, SUCCEEDED, 1)
        :: else -> skip
        fi;
        token = 0
      }
    :: atomic {
        deaths > 0 -> deaths--;
        if
#ifdef BROKEN_ATOMICITY
        :: CAN_SETTLE(e, token, RETRY) -> settle(e, RETRY, 1)
#else
        :: CAN_SETTLE(e, token, RETRY) -> settle(e, RETRY, 0)
#endif
        :: else -> skip
        fi;
        token = 0
      }
    fi
  :: sent[0] && sent[1] && !spooled[0] && !spooled[1] && position == SENT && unattended &&
      !log[0].working && !log[1].working && !log[2].working && !log[3].working -> break
  od
}

/* Time: a lease runs out, whether its worker lives or not. A dead one must. */
proctype Time() {
  do
  :: atomic { expiries > 0 && CAN_EXPIRE(0) -> expiries--; DO_EXPIRE(0) }
  :: atomic { expiries > 0 && CAN_EXPIRE(1) -> expiries--; DO_EXPIRE(1) }
  :: atomic { expiries > 0 && CAN_EXPIRE(2) -> expiries--; DO_EXPIRE(2) }
  :: atomic { expiries > 0 && CAN_EXPIRE(3) -> expiries--; DO_EXPIRE(3) }
  :: atomic { timeout ->
      if
      :: CAN_EXPIRE(0) -> DO_EXPIRE(0)
      :: CAN_EXPIRE(1) -> DO_EXPIRE(1)
      :: CAN_EXPIRE(2) -> DO_EXPIRE(2)
      :: CAN_EXPIRE(3) -> DO_EXPIRE(3)
      :: else -> break
      fi
    }
  od
}

/* It copies in the order of recording, and moves the position in the same commit. Another one may do the same. */
proctype Follower() {
  byte from;
  do
  :: atomic { position < SENT -> from = position }
    if
    :: atomic { deaths > 0 -> deaths-- }
    :: atomic {
#ifdef BROKEN_POSITION
        log[from].recorded && log[from].payload -> do_record(COPY_OF(from), 0); everRecorded[COPY_OF(from)] = true; position = from + 1
#else
        everRecorded[from] ->
        if
        :: position == from ->
          if
          :: log[from].recorded && log[from].payload -> record(COPY_OF(from), 0)
          :: else -> skip
          fi;
          position++
        :: else -> skip
        fi
#endif
      }
    fi
  :: else -> break
  od
}

/* A run again, also of an event that succeeded. Only once, so that the run ends. */
proctype Operator() {
  if
  :: atomic { CAN_REVIVE(0) && !log[0].working -> replays[0]++; do_revive(0) }
  :: atomic { CAN_REVIVE(1) && !log[1].working -> replays[1]++; do_revive(1) }
  :: true -> skip
  fi;
  unattended = true
}

inline remove_payload(e) {
  DO_REMOVE_PAYLOAD(e);
  DO_REMOVE_PAYLOAD(COPY_OF(e))
}

/* The payload that an event and its copy share goes when nobody needs it. A copy that is not made yet is not made then. */
proctype Retention() {
  if
  :: atomic { CAN_REMOVE(0) && (!log[2].recorded || CAN_REMOVE(2)) -> remove_payload(0) }
  :: atomic { CAN_REMOVE(1) && (!log[3].recorded || CAN_REMOVE(3)) -> remove_payload(1) }
  :: true -> skip
  fi
}

/* One part at a time: INTAKE, LEASES or CONSUMERS. All at once is more than can be tried. */
init {
  atomic {
#ifdef INTAKE
    position = SENT;
    run Delivery(0, 2); run Delivery(1, 1); run Drain(); run Worker(); run Time()
#else
    record(0, 1);
    record(1, 1);
    acked[0] = true;
    acked[1] = true;
    sent[0] = true;
    sent[1] = true;
#ifdef LEASES
    position = SENT;
    unattended = false;
    run Worker(); run Worker(); run Time(); run Operator(); run Retention()
#else
    run Follower(); run Follower(); run Retention(); run Worker(); run Time()
#endif
#endif
  }
  /* The end of everything. */
  _nr_pr == 1 ->
  assert(!acked[0] || (everRecorded[0] && !log[0].working));
  assert(!acked[1] || (everRecorded[1] && !log[1].working));
  assert(!log[2].working && !log[3].working)
}
