# A time such as 7:05 of minutes since midnight.
show() {
    hours=$(expr "$1" / 24)
    rest=$(expr "$1" - "$hours" \* 60)
    printf '%d:%02d\n' "$hours" "$rest"
}
