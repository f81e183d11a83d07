#!/bin/sh
# Prints TAP; exit status 1 if a test fails.
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset SERVER_PORT SERVER_HOST LOG_LEVEL
count=0
failed=0

# is NAME EXPECTED ACTUAL
is() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        failed=$((failed + 1))
        echo "not ok $count - $1"
        echo "#   expected '$2'"
        echo "#   got      '$3'"
    fi
}

conf() {
    sh "$root/conf.sh" "$@" 2>/dev/null
}

cat > app.ini <<'EOF'
# application
name = demo

[server]
host = example.org
port=8080
greeting = "  hello = world "

; logging
[log]
level = info
level = debug
EOF

is "value of a section" example.org "$(conf get app.ini server.host)"
is "no spaces around =" 8080 "$(conf get app.ini server.port)"
is "quotes keep spaces" "  hello = world " \
    "$(conf get app.ini server.greeting)"
is "last one wins" debug "$(conf get app.ini log.level)"
is "default for a missing key" 30 "$(conf get app.ini server.timeout 30)"
is "file beats default" 8080 "$(conf get app.ini server.port 1)"
is "missing without default" 1 "$(conf get app.ini a.b > out; echo $?)"
is "environment without file setting" 5 \
    "$(SERVER_TIMEOUT=5 conf get app.ini server.timeout)"
is "environment beats file" 9000 \
    "$(SERVER_PORT=9000 conf get app.ini server.port 1)"
is "empty environment does not count" 8080 \
    "$(SERVER_PORT='' conf get app.ini server.port)"
is "list of a section" "log.level=info
log.level=debug" "$(conf list app.ini log)"
is "list of everything" 6 "$(conf list app.ini | wc -l | tr -d ' ')"
is "check of a good file" 0 "$(conf check app.ini; echo $?)"
echo "nonsense" > bad.ini
is "check of a bad file" 1 "$(conf check bad.ini; echo $?)"
is "unreadable file" 1 "$(conf check nothing.ini; echo $?)"
is "usage" 2 "$(conf get; echo $?)"

echo "1..$count"
[ "$failed" -eq 0 ]
