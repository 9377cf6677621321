/* Three-phase commit: a coordinator and four participants with queues */
#define N 4
#define CAN  1
#define YES  2
#define NO   3
#define PRE  4
#define ACK  5
#define COMMIT 6
#define ABORT  7

chan to_p[N] = [3] of { byte };
chan to_c = [8] of { byte, byte };	/* participant, what */

active [N] proctype participant()
{
	byte phase, m;	/* 0 start, 1 vote, 2 uncertain, 3 acknowledge, 4 prepared, 5 decide, 6 over */
	bit outcome;	/* of phase 5: commit */
	do
	:: d_step { phase == 0 && nempty(to_p[_pid]) ->
		to_p[_pid]?m; if :: m == CAN -> phase = 1 :: else -> phase = 5 fi; m = 0 }
	:: d_step { phase == 1 -> to_c!_pid,YES; phase = 2 }
	:: d_step { phase == 1 -> to_c!_pid,NO; phase = 5 }
	:: d_step { phase == 2 && nempty(to_p[_pid]) ->
		to_p[_pid]?m; if :: m == PRE -> phase = 3 :: else -> phase = 5 fi; m = 0 }
	:: d_step { phase == 3 -> to_c!_pid,ACK; phase = 4 }
	:: d_step { phase == 4 && nempty(to_p[_pid]) ->
		to_p[_pid]?m; outcome = (m == COMMIT); phase = 5; m = 0 }
	:: d_step { phase == 0 || phase == 2 -> phase = 5 }
	:: d_step { phase == 4 -> phase = 5; outcome = 1 }
	:: d_step { phase == 5 -> phase = 6; outcome = 0 }
	:: d_step { phase == 6 && nempty(to_p[_pid]) -> to_p[_pid]?m; m = 0 }
	od
}

active proctype coordinator()
{
	byte phase, count, p, m;	/* 0 ask, 1 votes, 2 prepare, 3 acknowledgements, 4 decide, 5 tell, 6 over */
	bit commit = 1;
	do
	:: d_step { phase == 0 ->
		to_p[count]!CAN; count++; if :: count == N -> count = 0; phase = 1 :: else fi }
	:: d_step { phase == 1 && nempty(to_c) ->
		to_c?p,m; count++;
		if
		:: m == NO -> commit = 0; count = 0; phase = 4
		:: m != NO && count == N -> count = 0; phase = 2
		:: else
		fi;
		p = 0; m = 0 }
	:: d_step { phase == 1 || phase == 3 -> commit = 0; count = 0; phase = 4 }
	:: d_step { phase == 2 ->
		to_p[count]!PRE; count++; if :: count == N -> count = 0; phase = 3 :: else fi }
	:: d_step { phase == 3 && nempty(to_c) ->
		to_c?p,m; count++; if :: count == N -> count = 0; phase = 4 :: else fi;
		p = 0; m = 0 }
	:: d_step { phase == 4 -> phase = 5 }
	:: d_step { phase == 5 ->
		to_p[count]!(6 + (1 - commit)); count++;
		if :: count == N -> count = 0; commit = 0; phase = 6 :: else fi }
	:: d_step { phase == 6 && nempty(to_c) -> to_c?p,m; p = 0; m = 0 }
	od
}
