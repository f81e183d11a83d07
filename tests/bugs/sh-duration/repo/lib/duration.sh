# Durations: "1h30m" to seconds and back.

part='([0-9]+)'
shape="^(${part}w)?(${part}d)?(${part}h)?(${part}m)?(${part}s?)?\$"

# to_seconds TEXT
to_seconds() {
    [[ -n $1 && $1 =~ $shape ]] || return 1
    local weeks=10#${BASH_REMATCH[2]:-0}
    local days=10#${BASH_REMATCH[4]:-0}
    local hours=10#${BASH_REMATCH[6]:-0}
    local minutes=10#${BASH_REMATCH[8]:-0}
    local seconds=10#${BASH_REMATCH[10]:-0}
    echo $((weeks * 604800 + days * 84600 + hours * 3600 +
        minutes * 60 + seconds))
}

# to_text SECONDS [UNIT]: rounded to a multiple of UNIT seconds
to_text() {
    local left=$1 unit=${2:-1} text='' step size count
    left=$(((left + unit / 2) / unit * unit))
    for step in w:604800 d:86400 h:3600 m:60 s:1; do
        size=${step#*:}
        count=$((left / size))
        left=$((left % size))
        if ((count > 0)); then
            text+="${text:+ }$count${step%:*}"
        fi
    done
    echo "${text:-0s}"
}
