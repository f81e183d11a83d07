# Names of backups: SERIES-YYYYMMDD.tar

# date_of NAME: its date; fails for what is no backup
date_of() {
    case $1 in
        *-????????.tar) ;;
        *) return 1 ;;
    esac
    stamp=${1%.tar}
    stamp=${stamp##*-}
    is_date "$stamp" || return 1
    printf '%s\n' "$stamp"
}

# all_series FOLDER: each once
all_series() {
    for path in "$1"/*-*.tar; do
        name=${path##*/}
        date_of "$name" > /dev/null || continue
        printf '%s\n' "${name%-*}"
    done | sort -u
}

# backups_of FOLDER SERIES: the oldest first, which is the order of a glob
backups_of() {
    for path in "$1/$2"-????????.tar; do
        name=${path##*/}
        date_of "$name" > /dev/null || continue
        printf '%s\n' "$name"
    done
}
