# Moving the old copies up.

# shift_generations FILE KEEP
shift_generations() {
    i=$2
    rm -f "$(generation "$1" "$i")"
    while [ "$i" -gt 0 ]; do
        from=$(generation "$1" $((i - 1)))
        to=$(generation "$1" "$i")
        if [ -e "$from" ]; then
            mv "$from" "$to"
        fi
        i=$((i - 1))
    done
}

# drop_beyond FILE KEEP: remove what a larger KEEP has left behind
drop_beyond() {
    extra=$(($2 + 1))
    while [ -e "$(generation "$1" "$extra")" ]; do
        rm -f "$(generation "$1" "$extra")"
        extra=$((extra + 1))
    done
}
