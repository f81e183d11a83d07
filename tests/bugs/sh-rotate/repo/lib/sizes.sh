# Sizes, plain or with a unit.

# to_bytes 10k: 10240
to_bytes() {
    number=${1%[kKmM]}
    unit=${1#"$number"}
    is_number "$number" || return 1
    case $unit in
        k | K) printf '%d\n' $((number * 1024)) ;;
        m | M) printf '%d\n' $((number * 1024 * 1024)) ;;
        *) printf '%d\n' "$number" ;;
    esac
}

file_size() {
    wc -c < "$1" | tr -d ' '
}

# large_enough FILE BYTES
large_enough() {
    [ "$(file_size "$1")" -gt "$2" ]
}
