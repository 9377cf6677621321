/* A register on three replicas, after Attiya, Bar-Noy and Dolev (1995): one client writes twice, another one reads and writes
   back what it has read; each waits for a majority. 1,708,593 states. */

/* The messages on their way: masks by replica and, where they carry one, version. */
short store_written, store_read, reply; byte stored_written, query, stored_read;

#define AT(r) (1 << (r))
#define WITH(r, v) (1 << (3 * (r) + (v)))

#define WROTE(v) \
  :: d_step { answer == 0 && (store_written & WITH(_pid, v)) != 0 -> \
       store_written = store_written & ~WITH(_pid, v); \
       if :: v > current -> current = v :: else fi; \
       answer = 1 }

#define READ(v) \
  :: d_step { answer == 0 && (store_read & WITH(_pid, v)) != 0 -> \
       store_read = store_read & ~WITH(_pid, v); \
       if :: v > current -> current = v :: else fi; \
       answer = 2 }

active [3] proctype replica() {
  byte current, answer;
  do
  WROTE(1) WROTE(2)
  READ(0) READ(1) READ(2)
  :: d_step { answer == 0 && (query & AT(_pid)) != 0 -> query = query & ~AT(_pid); answer = 3 }
  :: d_step { answer == 1 -> stored_written = stored_written | AT(_pid); answer = 0 }
  :: d_step { answer == 2 -> stored_read = stored_read | AT(_pid); answer = 0 }
  :: d_step { answer == 3 -> reply = reply | WITH(_pid, current); answer = 0 }
  od
}

#define ASKING 0
#define LISTENING 1
#define SENDING 2
#define WAITING 3
#define RETURNING 4
#define DONE 5

#define CONFIRMED(r, stored) \
  :: d_step { step == WAITING && (stored & AT(r)) != 0 -> \
       stored = stored & ~AT(r); \
       count++; \
       if :: count == 2 -> count = 0; step = RETURNING :: else fi }

active proctype writer() {
  byte step = SENDING;
  byte count, v = 1;
  do
  :: d_step { step == SENDING ->
       store_written = store_written | WITH(count, v);
       count++;
       if :: count == 3 -> count = 0; step = WAITING :: else fi }
  CONFIRMED(0, stored_written) CONFIRMED(1, stored_written) CONFIRMED(2, stored_written)
  :: d_step { step == RETURNING -> if :: v == 2 -> step = DONE; v = 0 :: else -> v = 2; step = SENDING fi }
  od
}

#define HEARD(r, v) \
  :: d_step { step == LISTENING && (reply & WITH(r, v)) != 0 -> \
       reply = reply & ~WITH(r, v); \
       if :: v > newest -> newest = v :: else fi; \
       count++; \
       if :: count == 2 -> count = 0; step = SENDING :: else fi } \
  :: d_step { step == WAITING && (reply & WITH(r, v)) != 0 -> reply = reply & ~WITH(r, v) }

active proctype reader() {
  byte step = ASKING;
  byte count, newest;
  do
  :: d_step { step == ASKING ->
       query = query | AT(count);
       count++;
       if :: count == 3 -> count = 0; step = LISTENING :: else fi }
  HEARD(0, 0) HEARD(0, 1) HEARD(0, 2) HEARD(1, 0) HEARD(1, 1) HEARD(1, 2) HEARD(2, 0) HEARD(2, 1) HEARD(2, 2)
  :: d_step { step == SENDING ->
       store_read = store_read | WITH(count, newest);
       count++;
       if :: count == 3 -> count = 0; step = WAITING :: else fi }
  CONFIRMED(0, stored_read) CONFIRMED(1, stored_read) CONFIRMED(2, stored_read)
  :: d_step { step == RETURNING -> newest = 0; step = DONE }
  od
}
