# All notes of a folder.

# each_tag FOLDER: the tags of all notes, note by note
each_tag() {
    for note in "$1"/*.md; do
        [ -f "$note" ] || continue
        tags_of "$note"
    done
}

# all_tags FOLDER
all_tags() {
    each_tag "$1" | uniq
}

# count_tags FOLDER
count_tags() {
    each_tag "$1" | sort | uniq -c | sort -k1,1nr -k2 | sed 's/^ *//'
}

# has_all FILE TAG...
has_all() {
    file=$1
    shift
    for tag in "$@"; do
        has_tag "$file" "$tag" || return 1
    done
}

# find_notes FOLDER TAG...
find_notes() {
    where=$1
    shift
    for note in "$where"/*.md; do
        [ -f "$note" ] || continue
        has_all "$note" "$@" || continue
        show "$note"
    done
}

# beside FOLDER TAG
beside() {
    for note in "$1"/*.md; do
        [ -f "$note" ] || continue
        has_tag "$note" "$2" || continue
        tags_of "$note" | grep -vxF -e "$2"
    done | sort -u
}

# untagged FOLDER
untagged() {
    for note in "$1"/*.md; do
        [ -f "$note" ] || continue
        [ -z "$(tags_of "$note")" ] || continue
        show "$note"
    done
}
