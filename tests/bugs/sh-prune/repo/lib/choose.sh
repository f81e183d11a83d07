# Which backups are to go.

# age_of NAME TODAY: in days
age_of() {
    echo $(($2 - $(day_number "$(date_of "$1")")))
}

# pinned FOLDER NAME: is it never to go?
pinned() {
    [ -e "$1/$2.keep" ]
}

# choose FOLDER SERIES TODAY DAYS LEAST
choose() {
    left=$(backups_of "$1" "$2" | wc -l)
    backups_of "$1" "$2" | while read -r backup; do
        age=$(age_of "$backup" "$3")
        if [ "$age" -gt "$4" ] && [ "$left" -gt "$5" ]; then
            printf '%s\n' "$backup"
            left=$((left - 1))
        fi
    done
}

# report FOLDER SERIES TODAY: all of them with their ages
report() {
    backups_of "$1" "$2" | while read -r backup; do
        mark=
        if pinned "$1" "$backup"; then
            mark=' pinned'
        fi
        printf '%s %d%s\n' "$backup" "$(age_of "$backup" "$3")" "$mark"
    done
}
