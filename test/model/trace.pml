/*
 * Follows a history from standard input: a line is the number of a rule, an event and three values. The first line that no
 * rule allows is printed. A time that is over is a line of its own (EXPIRE): the history says when each lease ended.
 */
#define NUMBER int
#include "rules.pml"

#define NEVER 2147483647
#define END 0
/* lane, and the seq: the order of lanes, in which transactions do not always commit */
#define RECORD 1
#define WITHHOLD 2
/* The first and the last event of its lane; its attempt comes with the next line. */
#define CLAIM 3
#define ATTEMPT 4
#define EXPIRE 5
#define EXTEND 6
#define RELEASE 7
/* The attempt of the handler that wrote a row, counted in its run; 0 where it did not say. */
#define EFFECT 8
/* How, and the attempt. */
#define SETTLE 9
#define REVIVE 10
#define IGNORE 11
#define REMOVE 12
#define FORGET 13
/* From a consumer's position to another one. In one commit with the copies. */
#define MOVE 14
/* Of which event, by which consumer, and the seq of that event. */
#define COPY 15
/* The sender got a 2xx. After all other lines. */
#define ACKED 16
/* The next lines are another transaction's. */
#define COMMIT 17

chan STDIN;
int position[CONSUMERS];
int before;
int lines = 0;
int rule, e, a, b, c, other, character, sign;
bool laneIsFree, isAllowed;

inline read(value) {
  value = 0;
  sign = 1;
  do
  :: STDIN?character;
    if
    :: character == '-' -> sign = -1
    :: character >= '0' && character <= '9' -> value = value * 10 + character - '0'
    :: else -> break
    fi
  od;
  value = value * sign
}

#define ALLOW(condition) if :: condition -> isAllowed = true :: else -> skip fi

active proctype Follow() {
  do
  :: read(rule);
    lines++;
    if
    :: rule == END -> printf("ACCEPTED %d\n", lines - 1); break
    :: else -> read(e); read(a); read(b); read(c)
    fi;
    isAllowed = false;
    /* Copies come directly after the move of their consumer's position. */
    if
    :: rule != COPY -> before = NEVER
    :: else -> skip
    fi;
    if
    :: rule == RECORD && CAN_RECORD(e) -> isAllowed = true; do_record(e, a); log[e].seq = b
    :: rule == WITHHOLD && CAN_RECORD(e) -> isAllowed = true; do_withhold(e)
    :: rule == CLAIM ->
      laneIsFree = true;
      for (other : a .. b) {
        if
        :: BLOCKS(other, e) -> laneIsFree = false
        :: else -> skip
        fi
      }
      if
      :: CAN_CLAIM(e, laneIsFree) && log[e].payload -> isAllowed = true; do_claim(e, lines)
      :: else -> skip
      fi
    :: rule == ATTEMPT -> isAllowed = log[e].attempt == a
    :: rule == EXPIRE && CAN_EXPIRE(e) -> isAllowed = true; DO_EXPIRE(e)
    :: rule == EXTEND && HOLDS(e, log[e].token) -> isAllowed = true
    :: rule == RELEASE && HOLDS(e, log[e].token) -> isAllowed = true; do_release(e)
    :: rule == EFFECT && LIVE(e) && (a == 0 || a == log[e].attempt - log[e].base) -> isAllowed = true; log[e].pending++
    :: rule == SETTLE && CAN_SETTLE(e, log[e].token, a) && b == log[e].attempt ->
      do_settle(e, a);
      isAllowed = log[e].effects <= 1
    :: rule == REVIVE && CAN_REVIVE(e) -> isAllowed = true; do_revive(e)
    :: rule == IGNORE && CAN_IGNORE(e) -> isAllowed = true; do_ignore(e)
    :: rule == REMOVE && CAN_REMOVE(e) -> isAllowed = true; DO_REMOVE_PAYLOAD(e)
    :: rule == FORGET && CAN_REMOVE(e) -> isAllowed = true; DO_FORGET(e)
    :: rule == MOVE && position[e] == a && b >= a -> isAllowed = true; before = a; position[e] = b
    :: rule == COPY && log[a].recorded && log[a].payload && CAN_RECORD(e) && before < c && c <= position[b] ->
      isAllowed = true;
      do_record(e, 0)
    :: rule == COMMIT -> isAllowed = true
    :: rule == ACKED -> isAllowed = log[e].recorded && !log[e].working
    :: else -> skip
    fi;
    if
    :: isAllowed -> skip
    :: else -> printf("REJECTED line %d: rule %d of event %d (%d, %d, %d)\n", lines, rule, e, a, b, c); break
    fi
  od
}
