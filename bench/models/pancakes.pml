#define N 9
byte r[N] = { 3, 1, 4, 8, 5, 9, 2, 7, 6 };
hidden byte i, j, x;

inline turn(a, b)
{
	i = a; j = b;
	do
	:: i < j -> x = r[i]; r[i] = r[j]; r[j] = x; i++; j--
	:: else -> break
	od
}

active proctype sort()
{
	do
	:: d_step { turn(0, 1); i = 0 }
	:: d_step { turn(0, 2); i = 0 }
	:: d_step { turn(0, 3); i = 0 }
	:: d_step { turn(0, 4); i = 0 }
	:: d_step { turn(0, 5); i = 0 }
	:: d_step { turn(0, 6); i = 0 }
	:: d_step { turn(0, 7); i = 0 }
	:: d_step { turn(0, 8); i = 0 }
	:: d_step { turn(1, 2); i = 0 }
	:: d_step { turn(1, 3); i = 0 }
	:: d_step { turn(1, 4); i = 0 }
	:: d_step { turn(1, 5); i = 0 }
	:: d_step { turn(1, 6); i = 0 }
	:: d_step { turn(1, 7); i = 0 }
	:: d_step { turn(1, 8); i = 0 }
	:: d_step { turn(2, 3); i = 0 }
	:: d_step { turn(2, 4); i = 0 }
	:: d_step { turn(2, 5); i = 0 }
	:: d_step { turn(2, 6); i = 0 }
	:: d_step { turn(2, 7); i = 0 }
	:: d_step { turn(2, 8); i = 0 }
	:: d_step { turn(3, 4); i = 0 }
	:: d_step { turn(3, 5); i = 0 }
	:: d_step { turn(3, 6); i = 0 }
	:: d_step { turn(3, 7); i = 0 }
	:: d_step { turn(3, 8); i = 0 }
	:: d_step { turn(4, 5); i = 0 }
	:: d_step { turn(4, 6); i = 0 }
	:: d_step { turn(4, 7); i = 0 }
	:: d_step { turn(4, 8); i = 0 }
	:: d_step { turn(5, 6); i = 0 }
	:: d_step { turn(5, 7); i = 0 }
	:: d_step { turn(5, 8); i = 0 }
	:: d_step { turn(6, 7); i = 0 }
	:: d_step { turn(6, 8); i = 0 }
	:: d_step { turn(7, 8); i = 0 }
	od
}
