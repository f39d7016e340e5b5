/* SPDX-License-Identifier: BSD-3-Clause
 * The protocol of exchanges without a plan (src/exchange/planless/engine.hpp) as a model, which SPIN checks in every interleaving:
 *
 *   spin -a planless.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000        (make model)
 *
 * Three ranks, two exchanges one after the other, which each rank begins when it is through with the one before. A message is so many
 * chunks; the first goes unasked, the others are granted one by one. (One that goes whole is one of one chunk.) Both exchanges use the same tags, as under a plan: MPI's order
 * alone keeps them apart. Receivers grant in any order that their window allows, so whatever order the engine prefers is among them.
 *
 * With LEAVERS (a mask of ranks) these may leave each exchange once, at any moment: they open it (all that is to come is granted, all that is left is sent) and do
 * nothing more in it before all that have not left are through with it, as if they waited for a message that these send then. MPI's own nonblocking
 * collectives end in such programs. NO_SEND: such a rank only grants, which SPIN must find to be too little.
 *
 * Claims: no deadlock; every chunk is delivered once, in order, in its own exchange; both windows are kept; nothing is left over.
 */
#ifndef WINDOW
#define WINDOW 1  /* chunks granted and not here, of all sources of a rank */
#endif
#ifndef SEND_WINDOW
#define SEND_WINDOW 1  /* chunks sent and not reported, to all destinations of a rank */
#endif
#ifndef LEAVERS
#define LEAVERS 0
#endif
#define N 3
#define EXCHANGES 2
#define UNASKED 1
#ifndef SENT_UNASKED
#define SENT_UNASKED UNASKED  /* 2: a sender that breaks the protocol, which SPIN must find */
#endif
#define PAIR(i, j) ((i) * N + (j))

/* Chunks of the message i -> j of an exchange. The second leaves out ranks for each other. */
byte chunks[EXCHANGES * N * N];
#define CHUNKS(e, i, j) chunks[(e) * N * N + PAIR(i, j)]

chan data[N * N] = [6] of { byte, byte };           /* exchange, chunk */
chan notice[N * N] = [4] of { byte, byte, byte };   /* exchange, granted in all, landed since the one before; from j to i at PAIR(i, j) */

inline count_done() {
  done = 1;
  p = 0;
  do
  :: p < N ->
     if
     :: landed[p] < CHUNKS(e, p, me) || sent[p] < CHUNKS(e, me, p) || granted[p] < CHUNKS(e, me, p) || told[p] < CHUNKS(e, p, me) -> done = 0
     :: else
     fi;
     p++
  :: else -> break
  od;
  p = 0
}

inline begin() {
  p = 0;
  do
  :: p < N ->
     landed[p] = 0; to_report[p] = 0; sent[p] = 0; out_flight[p] = 0;
     asked[p] = (CHUNKS(e, p, me) < UNASKED -> CHUNKS(e, p, me) : UNASKED);
     told[p] = asked[p];
     granted[p] = (CHUNKS(e, me, p) < SENT_UNASKED -> CHUNKS(e, me, p) : SENT_UNASKED);
     p++
  :: else -> break
  od;
  p = 0
}

/* Where it was granted everything, the rank waits for no report. */
inline open() {
  is_open = 1;
  p = 0;
  do
  :: p < N ->
     if
     :: told[p] < CHUNKS(e, p, me) ->
        notice[PAIR(p, me)] ! e, CHUNKS(e, p, me), to_report[p];
        in_flight = in_flight + CHUNKS(e, p, me) - asked[p];
        asked[p] = CHUNKS(e, p, me); told[p] = asked[p]; to_report[p] = 0
     :: else
     fi;
#ifndef NO_SEND
     unreported = unreported - out_flight[p]; out_flight[p] = 0;
     do
     :: sent[p] < CHUNKS(e, me, p) -> data[PAIR(me, p)] ! e, sent[p]; sent[p]++
     :: else -> break
     od;
#endif
     p++
  :: else -> break
  od;
  p = 0
}

#define IS_THROUGH(q) (q == me || is_away[q] || num_done[q] > e)
#define MAY_COME_BACK (IS_THROUGH(0) && IS_THROUGH(1) && IS_THROUGH(2))

/* One step with partner q, of those that may happen. */
inline step(q) {
  if
  :: landed[q] < asked[q] && nempty(data[PAIR(q, me)]) ->
     data[PAIR(q, me)] ? number, chunk;
     assert(number == e && chunk == landed[q]);
     landed[q]++;
     if
     :: chunk >= UNASKED -> in_flight--; to_report[q]++
     :: else
     fi
  :: asked[q] < CHUNKS(e, q, me) && in_flight < WINDOW ->
     asked[q]++;
     in_flight++
  :: told[q] < CHUNKS(e, q, me) && (told[q] < asked[q] || to_report[q] > 0) && nfull(notice[PAIR(q, me)]) ->
     notice[PAIR(q, me)] ! e, asked[q], to_report[q];
     told[q] = asked[q];
     to_report[q] = 0
  :: granted[q] < CHUNKS(e, me, q) && nempty(notice[PAIR(me, q)]) ->
     notice[PAIR(me, q)] ? number, granted[q], reported;
     assert(number == e);
     if
     :: granted[q] == CHUNKS(e, me, q) || is_open -> reported = out_flight[q]
     :: else
     fi;
     assert(reported <= out_flight[q]);
     out_flight[q] = out_flight[q] - reported;
     unreported = unreported - reported
  :: sent[q] < granted[q] && nfull(data[PAIR(me, q)]) && (sent[q] < UNASKED || unreported < SEND_WINDOW) ->
     if
     :: sent[q] >= UNASKED && granted[q] < CHUNKS(e, me, q) && !is_open -> out_flight[q]++; unreported++
     :: else
     fi;
     data[PAIR(me, q)] ! e, sent[q];
     sent[q]++
  fi;
  assert(is_open || (in_flight <= WINDOW && unreported <= SEND_WINDOW));
  reported = 0; number = 0; chunk = 0
}

#define CAN_STEP(q) \
  ((landed[q] < asked[q] && nempty(data[PAIR(q, me)])) || (asked[q] < CHUNKS(e, q, me) && in_flight < WINDOW) || \
   (told[q] < CHUNKS(e, q, me) && (told[q] < asked[q] || to_report[q] > 0) && nfull(notice[PAIR(q, me)])) || \
   (granted[q] < CHUNKS(e, me, q) && nempty(notice[PAIR(me, q)])) || \
   (sent[q] < granted[q] && nfull(data[PAIR(me, q)]) && (sent[q] < UNASKED || unreported < SEND_WINDOW)))

byte through = 0;
bool is_away[N];
byte num_done[N];  /* exchanges that a rank is through with */

proctype Rank(byte me) {
  byte e = 0;
  byte p = 0;
  byte done = 0;
  bool is_open = 0;
  byte in_flight = 0;
  byte unreported = 0;
  byte number, chunk, reported;
  byte asked[N], told[N], landed[N], to_report[N];
  byte granted[N], sent[N], out_flight[N];
  d_step { begin() }
  do
  :: atomic { !is_away[me] && CAN_STEP(0) -> step(0); count_done() }
  :: atomic { !is_away[me] && CAN_STEP(1) -> step(1); count_done() }
  :: atomic { !is_away[me] && CAN_STEP(2) -> step(2); count_done() }
#if LEAVERS > 0
  :: atomic { ((LEAVERS >> me) & 1) && !is_open && done == 0 -> open(); is_away[me] = 1; count_done() }
  :: atomic { is_away[me] && MAY_COME_BACK -> is_away[me] = 0 }
#endif
  :: atomic {
       !is_away[me] && done == 1 && e + 1 < EXCHANGES ->
       assert(in_flight == 0 && unreported == 0);
       e++;
       num_done[me] = e;
       is_open = 0;
       done = 0;
       begin();
       count_done()
     }
  :: !is_away[me] && done == 1 && e + 1 == EXCHANGES -> break
  od;
  atomic {
    num_done[me] = EXCHANGES;
    assert(in_flight == 0 && unreported == 0);
    through++;
    if
    :: through == N ->
       p = 0;
       do
       :: p < N * N -> assert(empty(data[p]) && empty(notice[p])); p++
       :: else -> break
       od
    :: else
    fi
  }
}

init {
  atomic {
    CHUNKS(0, 0, 1) = 3; CHUNKS(0, 1, 0) = 3; CHUNKS(0, 1, 2) = 2; CHUNKS(0, 2, 0) = 3; CHUNKS(0, 2, 1) = 1;
    CHUNKS(1, 0, 1) = 2; CHUNKS(1, 1, 2) = 3; CHUNKS(1, 2, 1) = 2;
    run Rank(0);
    run Rank(1);
    run Rank(2)
  }
}
