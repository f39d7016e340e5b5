/* SPDX-License-Identifier: BSD-3-Clause
 * Exchanges without a plan of which several are under way at once (src/exchange/planless/engine.hpp), as a model that
 * SPIN checks in every interleaving (check.sh). planless.pml has them one after the other, with everything else of
 * the protocol.
 *
 * Each exchange has tags of its own, and all of a rank's share its two windows. Ranks in OVERLAPS begin an exchange
 * whenever they like, the others only when they are through with the one before; those in REVERSED begin them in the
 * other order (of different communicators).
 *
 * A receiver's window holds what it has granted and what is to come unasked, of that at most half a window. Ranks
 * that have not begun an exchange, none of whose bytes are here, are granted up to half a window. Where the window is
 * full, one chunk may still be granted if none is on its way: from ranks that have begun, if one of these asks.
 * Granted chunks of the others do not count then, as these may begin only when something that has begun is through.
 * With ALL_COUNT they do, and SPIN must find that all wait for ever.
 *
 * Claims: no deadlock; every chunk is delivered once, in order, in its own exchange; nothing is left over.
 */
#ifndef WINDOW
#define WINDOW 2  /* chunks */
#endif
#ifndef SEND_WINDOW
#define SEND_WINDOW 1  /* chunks sent and not reported */
#endif
#ifndef OVERLAPS
#define OVERLAPS 1  /* a mask of ranks */
#endif
#ifndef REVERSED
#define REVERSED 0
#endif
#define N 3
#define EXCHANGES 2
#define UNASKED 1
#define OF(e, q) ((e) * N + (q))
#define PAIR(e, i, j) (((e) * N + (i)) * N + (j))
#define IS_IN(mask, rank) (((mask) >> (rank)) & 1)

byte chunks[EXCHANGES * N * N];
#define IN(e, q) chunks[PAIR(e, q, me)]
#define OUT(e, q) chunks[PAIR(e, me, q)]

chan data[EXCHANGES * N * N] = [3] of { byte };          /* chunk */
chan notice[EXCHANGES * N * N] = [2] of { byte, byte };  /* granted in all, landed since the one before; from j to i at PAIR(e, i, j) */

#define HAS_BEGUN(e) (is_begun[e])
#define IS_HERE(e, q) (landed[OF(e, q)] >= UNASKED)
/* What of the window is taken, and whether the one chunk that may always be granted is on its way. */
#define TAKEN (in_flight + (unasked_in_flight < WINDOW / 2 -> unasked_in_flight : WINDOW / 2))
#ifdef ALL_COUNT
#define ANY_GRANTED(e, q) (in_flight > 0)
#else
#define ANY_GRANTED(e, q) ((IS_HERE(e, q) -> in_flight_here : in_flight) > 0)
#endif
#define LIMIT(e, q) (IS_HERE(e, q) -> WINDOW : WINDOW / 2)
#define MAY_GRANT(e, q) \
  (HAS_BEGUN(e) && asked[OF(e, q)] < IN(e, q) && (TAKEN + 1 <= LIMIT(e, q) || !ANY_GRANTED(e, q)))
#define MAY_LAND(e, q) (HAS_BEGUN(e) && landed[OF(e, q)] < asked[OF(e, q)] && nempty(data[PAIR(e, q, me)]))
#define MAY_TELL(e, q)                                                                                                   \
  (HAS_BEGUN(e) && told[OF(e, q)] < IN(e, q) && (told[OF(e, q)] < asked[OF(e, q)] || to_report[OF(e, q)] > 0) && \
   nfull(notice[PAIR(e, q, me)]))
#define MAY_HEAR(e, q) (HAS_BEGUN(e) && granted[OF(e, q)] < OUT(e, q) && nempty(notice[PAIR(e, me, q)]))
#define MAY_SEND(e, q)                                                                  \
  (HAS_BEGUN(e) && sent[OF(e, q)] < granted[OF(e, q)] && nfull(data[PAIR(e, me, q)]) && \
   (sent[OF(e, q)] < UNASKED || unreported < SEND_WINDOW))
#define CAN_STEP(e, q) (MAY_GRANT(e, q) || MAY_LAND(e, q) || MAY_TELL(e, q) || MAY_HEAR(e, q) || MAY_SEND(e, q))

/* What is granted to a rank counts as granted to one that has begun as soon as its first bytes are here. */
inline count_here() {
  in_flight_here = 0;
  i = 0;
  do
  :: i < EXCHANGES * N ->
     if
     :: landed[i] >= UNASKED -> in_flight_here = in_flight_here + asked[i] - landed[i]
     :: else
     fi;
     i++
  :: else -> break
  od;
  i = 0
}

inline begin(e) {
  is_begun[e] = 1;
  i = 0;
  do
  :: i < N ->
     asked[OF(e, i)] = (IN(e, i) < UNASKED -> IN(e, i) : UNASKED);
     told[OF(e, i)] = asked[OF(e, i)];
     unasked_in_flight = unasked_in_flight + asked[OF(e, i)];
     granted[OF(e, i)] = (OUT(e, i) < UNASKED -> OUT(e, i) : UNASKED);
     i++
  :: else -> break
  od;
  i = 0;
  num_begun++
}

inline step(e, q) {
  if
  :: MAY_LAND(e, q) ->
     data[PAIR(e, q, me)] ? number;
     assert(number == landed[OF(e, q)]);
     landed[OF(e, q)]++;
     if
     :: number >= UNASKED -> in_flight--; to_report[OF(e, q)]++
     :: else -> unasked_in_flight--
     fi;
     count_here()
  :: MAY_GRANT(e, q) ->
     asked[OF(e, q)]++;
     in_flight++;
     count_here()
  :: MAY_TELL(e, q) ->
     notice[PAIR(e, q, me)] ! asked[OF(e, q)], to_report[OF(e, q)];
     told[OF(e, q)] = asked[OF(e, q)];
     to_report[OF(e, q)] = 0
  :: MAY_HEAR(e, q) ->
     notice[PAIR(e, me, q)] ? granted[OF(e, q)], number;
     if
     :: granted[OF(e, q)] == OUT(e, q) -> number = out_flight[OF(e, q)]
     :: else
     fi;
     out_flight[OF(e, q)] = out_flight[OF(e, q)] - number;
     unreported = unreported - number
  :: MAY_SEND(e, q) ->
     if
     :: sent[OF(e, q)] >= UNASKED && granted[OF(e, q)] < OUT(e, q) -> out_flight[OF(e, q)]++; unreported++
     :: else
     fi;
     data[PAIR(e, me, q)] ! sent[OF(e, q)];
     sent[OF(e, q)]++
  fi;
  assert(unreported <= SEND_WINDOW);
  number = 0
}

#define THROUGH_WITH(e, q)                                                                                            \
  (landed[OF(e, q)] == IN(e, q) && told[OF(e, q)] == IN(e, q) && granted[OF(e, q)] == OUT(e, q) && \
   sent[OF(e, q)] == OUT(e, q))
#define IS_THROUGH(e) (HAS_BEGUN(e) && THROUGH_WITH(e, 0) && THROUGH_WITH(e, 1) && THROUGH_WITH(e, 2))
#define NEXT (IS_IN(REVERSED, me) -> EXCHANGES - 1 - num_begun : num_begun)
#define LAST (IS_IN(REVERSED, me) -> EXCHANGES - num_begun : num_begun - 1)

byte through = 0;

proctype Rank(byte me) {
  byte i = 0;
  byte num_begun = 0;
  byte in_flight = 0;       /* granted and not here */
  byte in_flight_here = 0;  /* of that, from ranks that have begun */
  byte unasked_in_flight = 0;
  byte unreported = 0;
  byte number = 0;
  bool is_begun[EXCHANGES];
  byte asked[EXCHANGES * N], told[EXCHANGES * N], landed[EXCHANGES * N], to_report[EXCHANGES * N];
  byte granted[EXCHANGES * N], sent[EXCHANGES * N], out_flight[EXCHANGES * N];
  do
  :: atomic { CAN_STEP(0, 0) -> step(0, 0) }
  :: atomic { CAN_STEP(0, 1) -> step(0, 1) }
  :: atomic { CAN_STEP(0, 2) -> step(0, 2) }
  :: atomic { CAN_STEP(1, 0) -> step(1, 0) }
  :: atomic { CAN_STEP(1, 1) -> step(1, 1) }
  :: atomic { CAN_STEP(1, 2) -> step(1, 2) }
  :: atomic {
       num_begun < EXCHANGES && (IS_IN(OVERLAPS, me) || num_begun == 0 || IS_THROUGH(LAST)) ->
       begin(NEXT)
     }
  :: num_begun == EXCHANGES && IS_THROUGH(0) && IS_THROUGH(1) -> break
  od;
  atomic {
    assert(in_flight == 0 && unasked_in_flight == 0 && unreported == 0);
    through++;
    if
    :: through == N ->
       i = 0;
       do
       :: i < EXCHANGES * N * N -> assert(empty(data[i]) && empty(notice[i])); i++
       :: else -> break
       od
    :: else
    fi
  }
}

init {
  atomic {
    chunks[PAIR(0, 1, 0)] = 2; chunks[PAIR(0, 0, 1)] = 2; chunks[PAIR(0, 2, 1)] = 3;
    chunks[PAIR(1, 1, 0)] = 2; chunks[PAIR(1, 2, 0)] = 2; chunks[PAIR(1, 0, 2)] = 2;
    run Rank(0);
    run Rank(1);
    run Rank(2)
  }
}
