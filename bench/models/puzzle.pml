/* The sliding puzzle with eight tiles on a board of three by three; 0 is the gap: 181,440 states. */
byte board[9] = { 1, 2, 3, 4, 5, 6, 7, 8, 0 };
byte gap = 8;

#define MOVE(to) board[gap] = board[to]; board[to] = 0; gap = to

active proctype hand() {
  do
  :: d_step { gap / 3 > 0 -> MOVE(gap - 3) }
  :: d_step { gap / 3 < 2 -> MOVE(gap + 3) }
  :: d_step { gap % 3 > 0 -> MOVE(gap - 1) }
  :: d_step { gap % 3 < 2 -> MOVE(gap + 1) }
  od
}
