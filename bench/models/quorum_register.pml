/* A register that three servers keep, of which two suffice (Attiya, Bar-Noy, Dolev): one client writes, one reads.
   A client's operation has the number 2 * client + op; messages under way are masks of servers, or times plus one. */
byte query[4];		/* a bit for each server */
byte stored[4];
byte reply[12];		/* 3 * operation + server: time + 1 */
byte store[12];

#define S 3

#define on_query(q)	d_step { answer == 0 && (query[q] & (1 << _pid)) ->		\
				query[q] = query[q] & ~(1 << _pid); answer = 1 + q }
#define on_store(q)	d_step { answer == 0 && store[3 * q + _pid] ->			\
				if :: store[3 * q + _pid] - 1 > time -> time = store[3 * q + _pid] - 1 :: else fi;	\
				store[3 * q + _pid] = 0; answer = 5 + q }

active [S] proctype server()
{
	byte time, answer;	/* answer: 1 + q after a query, 5 + q after a store */
	do
	:: on_query(0)
	:: on_query(1)
	:: on_query(2)
	:: on_query(3)
	:: on_store(0)
	:: on_store(1)
	:: on_store(2)
	:: on_store(3)
	:: d_step { answer >= 1 && answer <= 4 -> reply[3 * (answer - 1) + _pid] = time + 1; answer = 0 }
	:: d_step { answer >= 5 -> stored[answer - 5] = stored[answer - 5] | (1 << _pid); answer = 0 }
	od
}

#define me (_pid - S)
#define q  (2 * me + op)

#define on_reply(s)	d_step { phase == 1 && reply[3 * q + s] ->			\
				if :: reply[3 * q + s] - 1 > t -> t = reply[3 * q + s] - 1 :: else fi;	\
				reply[3 * q + s] = 0;					\
				answers++;						\
				if							\
				:: answers == 2 ->					\
					answers = 0; phase = 2;				\
					if :: op == 0 -> t = (t / 2 + 1) * 2 + me :: else fi	\
				:: else							\
				fi }
#define on_stored(s)	d_step { phase == 3 && (stored[q] & (1 << s)) ->		\
				stored[q] = stored[q] & ~(1 << s);			\
				answers++;						\
				if :: answers == 2 -> answers = 0; phase = 4 :: else fi }

active [2] proctype client()
{
	byte op = me, phase, answers, t;
	do
	:: d_step { phase == 0 && op == me -> query[q] = 7; phase = 1 }
	:: on_reply(0)
	:: on_reply(1)
	:: on_reply(2)
	:: d_step { phase == 2 -> store[3 * q] = t + 1; store[3 * q + 1] = t + 1; store[3 * q + 2] = t + 1; phase = 3 }
	:: on_stored(0)
	:: on_stored(1)
	:: on_stored(2)
	:: d_step { phase == 4 -> t = 0; phase = 0; op++ }
	od
}
