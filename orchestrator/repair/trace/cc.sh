#!/bin/sh
# cc.sh - stands for the compilers, as DIR/bin/cc and so on, in front of PATH:
# the real one, with --coverage, and with hook.o for what is linked.
d=${0%/bin/*}
PATH=${PATH#"$d/bin:"}
hook=$d/hook.o
for a; do
	case $a in
	-c | -E | -S | -M | -MM | -r | -shared | -fsyntax-only) hook= ;;
	-v | --version | -dump* | -print*) exec "${0##*/}" "$@" ;;
	esac
done
exec "${0##*/}" "$@" --coverage $hook
