#define M 8
/* cell[k]: 0 free, 1 inside of a block, 4*owner + size where a block starts (size 1..3) */
byte cell[M];
hidden byte i, from, found;

/* from = first place with size free cells; found says whether there is one */
inline first_fit(size)
{
	from = 0; found = 0; i = 0;
	do
	:: i == M || found -> break
	:: i < M && !found ->
		if
		:: cell[i] == 0 && i + 1 - from == size -> found = 1
		:: cell[i] == 0 && i + 1 - from != size -> i++
		:: else -> i++; from = i
		fi
	od
}

inline alloc(owner, size)
{
	first_fit(size);
	cell[from] = 4 * owner + size;
	i = 1;
	do
	:: i < size -> cell[from + i] = 1; i++
	:: else -> break
	od;
	i = 0
}

inline release(k)
{
	from = cell[k] & 3; i = 0;
	do
	:: i < from -> cell[k + i] = 0; i++
	:: else -> break
	od;
	i = 0
}

#define f(k) (cell[k] == 0)
#define fits1 (f(0) || f(1) || f(2) || f(3) || f(4) || f(5) || f(6) || f(7))
#define f2(k) (f(k) && f(k+1))
#define fits2 (f2(0) || f2(1) || f2(2) || f2(3) || f2(4) || f2(5) || f2(6))
#define f3(k) (f(k) && f(k+1) && f(k+2))
#define fits3 (f3(0) || f3(1) || f3(2) || f3(3) || f3(4) || f3(5))

active proctype heap()
{
	do
	:: d_step { fits1 -> alloc(1, 1) }
	:: d_step { fits2 -> alloc(1, 2) }
	:: d_step { fits3 -> alloc(1, 3) }
	:: d_step { fits1 -> alloc(2, 1) }
	:: d_step { fits2 -> alloc(2, 2) }
	:: d_step { fits3 -> alloc(2, 3) }
	:: d_step { fits1 -> alloc(3, 1) }
	:: d_step { fits2 -> alloc(3, 2) }
	:: d_step { fits3 -> alloc(3, 3) }
	:: d_step { cell[0] > 1 -> release(0) }
	:: d_step { cell[1] > 1 -> release(1) }
	:: d_step { cell[2] > 1 -> release(2) }
	:: d_step { cell[3] > 1 -> release(3) }
	:: d_step { cell[4] > 1 -> release(4) }
	:: d_step { cell[5] > 1 -> release(5) }
	:: d_step { cell[6] > 1 -> release(6) }
	:: d_step { cell[7] > 1 -> release(7) }
	od
}
