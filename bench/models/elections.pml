#define N 4
#define CAP 2
#define CAND 1
#define ELECTED 2
chan q[N] = [CAP] of { byte, byte };

#define IDLE 0
#define OWN1 1	/* own candidate after start */
#define FWD 2
#define OWN2 3	/* own candidate instead of a smaller one */
#define WON 4
#define ANNOUNCE 5
#define LEFT ((_pid + N - 1) % N)

#define me ((_pid == 0 -> 3 : (_pid == 1 -> 1 : (_pid == 2 -> 4 : 2))))

active [N] proctype node()
{
	byte act, k, v;
	bit part;

	do
	:: d_step { act == IDLE && !part -> part = 1; act = OWN1 }
	:: d_step { act == IDLE && nempty(q[LEFT]) ->
		q[LEFT]?k,v;
		if
		:: k == CAND && v > me -> part = 1; act = FWD
		:: k == CAND && v < me && !part -> part = 1; act = OWN2
		:: k == CAND && v < me && part
		:: k == CAND && v == me -> act = WON; part = 0
		:: k == ELECTED && v != me -> part = 0; act = FWD
		:: k == ELECTED && v == me -> part = 0
		fi;
		if :: act != FWD -> k = 0; v = 0 :: else fi }
	:: d_step { (act == OWN1 || act == OWN2) && nfull(q[_pid]) -> q[_pid]!CAND,me; act = IDLE }
	:: d_step { act == FWD && nfull(q[_pid]) -> q[_pid]!k,v; k = 0; v = 0; act = IDLE }
	:: d_step { act == WON -> act = ANNOUNCE }
	:: d_step { act == ANNOUNCE && nfull(q[_pid]) -> q[_pid]!ELECTED,me; act = IDLE }
	od
}
