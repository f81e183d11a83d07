# Time sheets.

# each_entry FILE: "who what seconds" a line
each_entry() {
    local who what duration seconds number=0
    while read -r who what duration; do
        number=$((number + 1))
        case $who in
            '' | '#'*) continue ;;
        esac
        if ! seconds=$(to_seconds "$duration"); then
            echo "$1:$number: bad duration $duration" >&2
            return 1
        fi
        echo "$who $what $seconds"
    done < "$1"
}

# sum_of FILE WHO
sum_of() {
    local entries who what seconds sum=0
    entries=$(each_entry "$1") || return 1
    while read -r who what seconds; do
        [[ $who == "$2" ]] && sum=$((sum + seconds))
    done <<< "$entries"
    to_text "$sum"
}

# sums_by_task FILE
sums_by_task() {
    local -A sums=()
    local entries who what seconds task
    entries=$(each_entry "$1") || return 1
    while read -r who what seconds; do
        [[ -n $what ]] || continue
        sums[$what]=$((${sums[$what]:-0} + seconds))
    done <<< "$entries"
    for task in "${!sums[@]}"; do
        echo "$task $(to_text "${sums[$task]}")"
    done | sort
}
