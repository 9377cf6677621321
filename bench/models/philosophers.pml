/* Twelve philosophers who take left, take right, put left, put right. */
#define N 12
byte fork[N];
active [N] proctype philosopher() {
  do
  :: atomic { fork[_pid] == 0 -> fork[_pid] = 1 };
     atomic { fork[(_pid + 1) % N] == 0 -> fork[(_pid + 1) % N] = 1 };
     fork[_pid] = 0;
     fork[(_pid + 1) % N] = 0
  od
}
