#define N 4
#define MAXT 3
byte number[N];
bit choosing[N];
hidden byte v;

#define me _pid
active [N] proctype customer()
{
	byte j, ticket;
start:
	choosing[me] = 1;
	do
	:: d_step { j < N -> if :: number[j] > ticket -> ticket = number[j] :: else fi; j++ }
	:: d_step { j == N && ticket < MAXT -> ticket++; number[me] = ticket; j = 0 }; break
	od;
	if :: d_step { choosing[me] = 0; if :: me == 0 -> j = 1 :: else fi } fi;
	do
	:: j < N && choosing[j] == 0 ->
	   d_step { (number[j] == 0 || ticket < number[j] || (ticket == number[j] && me < j)) ->
		j++; if :: j == me -> j++ :: else fi }
	:: d_step { j == N -> j = 0; ticket = 0 }; break	/* enter */
	od;
	skip;	/* leave */
	number[me] = 0;
	goto start
}

