# Days as YYYYMMDD, and as a number to count with.

# plain 08: 8, lest it be taken for octal
plain() {
    number=${1#0}
    printf '%s\n' "${number:-0}"
}

# split_date YYYYMMDD: sets year, month and day
split_date() {
    year=${1%????}
    month=${1#????}
    day=$(plain "${month#??}")
    month=$(plain "${month%??}")
}

# is_date WORD
is_date() {
    case $1 in
        *[!0-9]*) return 1 ;;
        [12]???????) ;;
        *) return 1 ;;
    esac
    split_date "$1"
    [ "$month" -ge 1 ] && [ "$month" -le 12 ] &&
        [ "$day" -ge 1 ] && [ "$day" -le 31 ]
}

# day_number YYYYMMDD: days since long ago
day_number() {
    split_date "$1"
    # A year that begins in March has its leap day at the end.
    if [ "$month" -lt 3 ]; then
        month=$((month + 12))
        year=$((year - 1))
    fi
    leap_days=$((year / 4 - year / 100 + year / 400))
    echo $((365 * year + leap_days + (153 * (month - 3) + 2) / 5 + day))
}
