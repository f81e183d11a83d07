#!/bin/sh
# tests
. ./lib.sh
[ "$(add 1 2)" = 3 ] || exit 1
case $1 in
a) echo x
;;
esac
echo ok
