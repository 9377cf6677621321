/* The election of Raft (Ongaro and Ousterhout, 2014): three servers, terms up to 2, and the messages on their way,
   which arrive in any order. The third server runs for leader in the first term only. 2,852,357 states. */
#define N 3
#define TERMS 2
#define FOLLOWER 0
#define CANDIDATE 1
#define LEADER 2

/* Masks of messages, by term, source and destination. */
int requests, grants, refusals;
#define BIT(t, s, d) (1 << (((t) * N + (s)) * N + (d)))

#define newer(t) \
  if \
  :: t > term -> term = t; role = FOLLOWER; vote = 0; votes = 0 \
  :: else \
  fi

#define REQUEST(t, s) \
  :: d_step { step == 0 && (requests & BIT(t, s, _pid)) != 0 -> \
       requests = requests & ~BIT(t, s, _pid); \
       newer(t); \
       if \
       :: t == term && (vote == 0 || vote == s + 1) -> vote = s + 1; step = 3 \
       :: else -> step = 4 \
       fi; \
       other = s }

#define GRANT(t, s) \
  :: d_step { step == 0 && (grants & BIT(t, s, _pid)) != 0 -> \
       grants = grants & ~BIT(t, s, _pid); \
       newer(t); \
       if \
       :: t == term && role == CANDIDATE -> \
          votes = votes | (1 << s); \
          if \
          :: (votes & (votes - 1)) != 0 -> role = LEADER; step = 2 \
          :: else \
          fi \
       :: else \
       fi }

#define REFUSAL(t, s) \
  :: d_step { step == 0 && (refusals & BIT(t, s, _pid)) != 0 -> \
       refusals = refusals & ~BIT(t, s, _pid); \
       newer(t) }

active [N] proctype server() {
  byte role, term, vote, votes, step, other;
  do
  :: d_step { step == 0 && (_pid != 2 || term == 0) && role != LEADER && term < TERMS ->
       term++; role = CANDIDATE; vote = _pid + 1; votes = 1 << _pid;
       step = 1; other = (_pid == 0 -> 1 : 0) }
  :: d_step { step == 1 ->
       requests = requests | BIT(term, _pid, other);
       other++;
       if :: other == _pid -> other++ :: else fi;
       if :: other >= N -> other = 0; step = 0 :: else fi }
  :: d_step { step == 2 -> step = 0 }
  :: d_step { step == 3 -> grants = grants | BIT(term, _pid, other); other = 0; step = 0 }
  :: d_step { step == 4 -> refusals = refusals | BIT(term, _pid, other); other = 0; step = 0 }
  REQUEST(1, 0) REQUEST(1, 1) REQUEST(1, 2) REQUEST(2, 0) REQUEST(2, 1) REQUEST(2, 2)
  GRANT(1, 0) GRANT(1, 1) GRANT(1, 2) GRANT(2, 0) GRANT(2, 1) GRANT(2, 2)
  REFUSAL(1, 0) REFUSAL(1, 1) REFUSAL(1, 2) REFUSAL(2, 0) REFUSAL(2, 1) REFUSAL(2, 2)
  od
}
