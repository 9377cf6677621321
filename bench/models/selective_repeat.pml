/* Selective repeat: a file of some blocks over channels that lose and reorder, which are bags: how often each message is there. */
#define BLOCKS 6
#define WINDOW 3
#define DATA 4
#define ACKS 2
byte data[BLOCKS], ack[BLOCKS];
byte n_data, n_ack;
byte base, confirmed;
byte expected, early;

#define send(k)    d_step { k >= base && k < base + WINDOW && !(confirmed & (1 << k)) && n_data < DATA -> data[k]++; n_data++ }
#define lose(k)    d_step { data[k] -> data[k]--; n_data-- }
#define lose_ack(k) d_step { ack[k] -> ack[k]--; n_ack-- }
#define acked(k) d_step { ack[k] -> ack[k]--; n_ack--; \
    if \
    :: k >= base -> confirmed = confirmed | (1 << k); \
       do \
       :: confirmed & (1 << base) -> confirmed = confirmed & ~(1 << base); base++ \
       :: else -> break \
       od \
    :: else \
    fi }
#define receive(k) d_step { data[k] -> data[k]--; n_data--; m = k; \
    if \
    :: k >= expected -> early = early | (1 << k); \
       do \
       :: early & (1 << expected) -> early = early & ~(1 << expected); expected++ \
       :: else -> break \
       od \
    :: else \
    fi }

active proctype sender() {
  do
  :: send(0) :: send(1) :: send(2) :: send(3) :: send(4) :: send(5)
  :: acked(0) :: acked(1) :: acked(2) :: acked(3) :: acked(4) :: acked(5)
  od
}

active proctype receiver() {
  byte m;
  do
  :: if
     :: receive(0) :: receive(1) :: receive(2) :: receive(3) :: receive(4) :: receive(5)
     fi;
     d_step { n_ack < ACKS -> ack[m]++; n_ack++; m = 0 }
  od
}

active proctype loss() {
  do
  :: lose(0) :: lose(1) :: lose(2) :: lose(3) :: lose(4) :: lose(5)
  :: lose_ack(0) :: lose_ack(1) :: lose_ack(2) :: lose_ack(3) :: lose_ack(4) :: lose_ack(5)
  od
}
