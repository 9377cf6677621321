/* A memory allocator: first fit, blocks in address order, adjacent free blocks are joined */
#define HEAP 12
#define FREE 0
byte n = 1;				/* number of blocks */
byte owner[HEAP], size[HEAP] = { 11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };	/* owner: 0 free, or process + 1 */
hidden byte i, k;

inline drop(x)		/* removes block x */
{
	k = x;
	do
	:: k + 1 < n -> owner[k] = owner[k + 1]; size[k] = size[k + 1]; k++
	:: else -> break
	od;
	n--; owner[n] = 0; size[n] = 0
}

inline fit(s)
{
	i = 0;
	do
	:: i < n && (owner[i] != FREE || size[i] < s) -> i++
	:: else -> break
	od
}

#define ok(j,s)	(owner[j] == FREE && size[j] >= s)
#define some(s)	(ok(0,s) || ok(1,s) || ok(2,s) || ok(3,s) || ok(4,s) || ok(5,s) || ok(6,s) || ok(7,s) || ok(8,s) || ok(9,s) || ok(10,s) || ok(11,s))

#define take(s)	\
	d_step { some(s) ->	\
		fit(s);	\
		if	\
		:: size[i] == s -> owner[i] = _pid + 1	\
		:: else ->	\
			k = n;	\
			do	\
			:: k > i + 1 -> owner[k] = owner[k - 1]; size[k] = size[k - 1]; k--	\
			:: else -> break	\
			od;	\
			n++;	\
			size[i + 1] = size[i] - s; owner[i + 1] = FREE;	\
			size[i] = s; owner[i] = _pid + 1	\
		fi;	\
		i = 0; k = 0 }

#define give(j)	\
	d_step { j < n && owner[j] == _pid + 1 ->	\
		owner[j] = FREE;	\
		i = j;	\
		if	\
		:: i + 1 < n && owner[i + 1] == FREE -> size[i] = size[i] + size[i + 1]; drop(i + 1)	\
		:: else	\
		fi;	\
		if	\
		:: i > 0 && owner[i - 1] == FREE -> size[i - 1] = size[i - 1] + size[i]; drop(i)	\
		:: else	\
		fi;	\
		i = 0; k = 0 }

active [2] proctype user()
{
	do
	:: take(1)
	:: take(2)
	:: take(3)
	:: give(0)
	:: give(1)
	:: give(2)
	:: give(3)
	:: give(4)
	:: give(5)
	:: give(6)
	:: give(7)
	:: give(8)
	:: give(9)
	:: give(10)
	:: give(11)
	od
}
