/* Leader election on a unidirectional ring (Chang and Roberts) with mailboxes of two messages */
#define N 9
#define ELECTION 1
#define ELECTED  2
#define ANNOUNCE 3	/* the leader has to be announced here first */

chan box[N] = [2] of { byte, byte };
byte id[N] = { 3, 6, 9, 1, 8, 7, 4, 2, 5 };
#define me   id[_pid]
#define next box[(_pid + 1) % N]

active [N] proctype node()
{
	bool participant;
	byte kind, x;

	do
	:: d_step { kind == 0 && !participant -> participant = true; kind = ELECTION; x = me }
	:: d_step { kind == 0 && nempty(box[_pid]) ->
		box[_pid]?kind,x;
		if
		:: kind == ELECTED -> kind = ANNOUNCE
		:: else ->
			if
			:: x > me -> participant = true
			:: x == me -> kind = ELECTED
			:: x < me && participant -> kind = 0; x = 0
			:: x < me && !participant -> x = me; participant = true
			fi
		fi }
	:: d_step { kind == ANNOUNCE ->
		if
		:: x == me -> kind = 0; x = 0
		:: else -> kind = ELECTED
		fi }
	:: d_step { (kind == ELECTION || kind == ELECTED) && nfull(next) -> next!kind,x; kind = 0; x = 0 }
	od
}
