#!/bin/sh
# test.sh: checks hours.sh.
failed=0
check() {
	got=$(sh ./hours.sh "$1")
	if [ "$got" = "$2" ]; then
		echo "ok   $1 minutes are $got"
	else
		echo "FAIL $1 minutes are $got, want $2"
		failed=1
	fi
}
check 0 0:00
check 65 1:05
check 90 1:30
check 600 10:00
[ "$failed" = 0 ] && echo "all tests passed"
exit "$failed"
