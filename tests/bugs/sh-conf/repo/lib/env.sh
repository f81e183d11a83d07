# Settings from the environment.

# env_name server.port: SERVER_PORT
env_name() {
    printf '%s\n' "$1" | tr 'a-z.-' 'A-Z__'
}

# env_get NAME
env_get() {
    name=$(env_name "$1")
    case $name in
        [0-9]* | *[!A-Z0-9_]*) return 0 ;;
    esac
    eval "printf '%s\\n' \"\${$name-}\""
}
