#define N 3
/* the soup: one bit for each message */
int soup;
#define PREPARE(w) (1 << (6*((w)-1)))
#define COMMIT(w)  (2 << (6*((w)-1)))
#define ABORT(w)   (4 << (6*((w)-1)))
#define YES(w)     (8 << (6*((w)-1)))
#define NO(w)      (16 << (6*((w)-1)))
#define DONE(w)    (32 << (6*((w)-1)))
#define has(m) (soup & (m))
#define put(m) soup = soup | (m)
#define get(m) soup = soup & ~(m)

/* coordinator */
#define ASK 0
#define VOTE 1
#define TELL 2
#define FINISH 3

/* worker */
#define IDLE 0
#define CHOOSE 1
#define COMMITTED 2
#define EARLY 3
#define ABORTED 4

#define voted(w) votes++; if :: votes == N -> votes = 0; st = TELL; n = 1 :: else fi

#define receive_vote(w) \
	:: d_step { st == VOTE && has(YES(w)) -> get(YES(w)); voted(w) } \
	:: d_step { st == VOTE && has(DONE(w)) -> get(DONE(w)); voted(w) } \
	:: d_step { st == VOTE && has(NO(w)) -> get(NO(w)); agreed = 0; voted(w) }

#define receive_done(w) \
	:: d_step { st == FINISH && has(YES(w)) -> get(YES(w)) } \
	:: d_step { st == FINISH && has(NO(w)) -> get(NO(w)) } \
	:: d_step { st == FINISH && has(DONE(w)) -> get(DONE(w)); votes++; \
		if :: votes == N -> votes = 0; st = ASK; n = 1 :: else fi }

active proctype coordinator()
{
	byte st, n = 1, votes;
	bit agreed;
	do
	:: d_step { st == ASK -> put(PREPARE(n)); n++; if :: n > N -> n = 0; st = VOTE; agreed = 1 :: else fi }
	receive_vote(1)
	receive_vote(2)
	receive_vote(3)
	:: d_step { st == VOTE -> agreed = 0; votes = 0; n = 1; st = TELL }
	:: d_step { st == TELL ->
		if :: agreed -> put(COMMIT(n)) :: else -> put(ABORT(n)) fi;
		n++;
		if :: n > N -> n = 0; agreed = 0; st = FINISH :: else fi }
	receive_done(1)
	receive_done(2)
	receive_done(3)
	od
}

#define me _pid

active [N] proctype worker()
{
	byte st;
	bit prepared;
	do
	:: d_step { st == IDLE && has(PREPARE(me)) -> get(PREPARE(me)); prepared = 0; st = CHOOSE }
	:: d_step { st == CHOOSE -> put(YES(me)); prepared = 1; st = IDLE }
	:: d_step { st == CHOOSE -> put(NO(me)); prepared = 1; st = IDLE }
	:: d_step { st == IDLE && has(COMMIT(me)) -> get(COMMIT(me)); prepared = 0; st = COMMITTED }
	:: d_step { st == IDLE && has(ABORT(me)) -> get(ABORT(me));
		if :: prepared -> st = ABORTED :: else -> st = EARLY fi; prepared = 0 }
	:: d_step { st == EARLY && has(PREPARE(me)) -> get(PREPARE(me)); st = ABORTED }
	:: d_step { st == COMMITTED -> put(DONE(me)); st = IDLE }
	:: d_step { st == ABORTED -> put(DONE(me)); st = IDLE }
	od
}
