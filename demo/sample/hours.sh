#!/bin/sh
# hours.sh MINUTES: prints minutes as hours and minutes, 65 as 1:05.
printf '%d:%d\n' $(($1 / 60)) $(($1 % 60))
