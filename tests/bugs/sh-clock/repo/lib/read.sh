# Minutes since midnight of a time such as 7:05.
minutes() {
    hours=${1%:*}
    rest=${1#*:}
    rest=${rest#0}
    expr "$hours" \* 24 + "$rest"
}
