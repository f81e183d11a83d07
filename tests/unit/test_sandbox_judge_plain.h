/* Commands that bash reads in one way and a plain sh in another: the stricter
 * one counts; for rows of test_sandbox_judge.c. */
#define PLAIN(c, want) \
	{ \
		"Bash(touch:*)|Bash(rm:*)|Read(.env)|Edit(/keep.txt)|" \
		"Edit(/1])|Edit(/3)", \
		    "", "", "allow", c, want \
	}
/* $[ is no arithmetic */
PLAIN("echo $[1;touch PWNED]", "deny"), PLAIN("echo $[1|rm x]", "deny"),
    PLAIN("echo $[1;rm x]", "deny"), PLAIN("echo $[1&&rm x]", "deny"),
    PLAIN("echo $[1&rm x]", "deny"), PLAIN("echo $[1||rm x]", "deny"),
    PLAIN("echo $[1\nrm x]", "deny"), PLAIN("echo $[ 1 ; cat .env ]", "deny"),
    PLAIN("echo $[1;echo hi > keep.txt ]", "deny"),
    PLAIN("x=$[1;touch PW]", "deny"), PLAIN("declare x=$[1;touch PW]", "deny"),
    PLAIN("test $[2>1]", "deny"), PLAIN("[ $[2 >1]", "deny"),
    PLAIN("cat <<E $[1\nE\ntouch PW\n]", "deny"),
    PLAIN("if [ $[1;rm x] ]; then :; fi", "deny"),
    PLAIN("echo ${x:-$[1}; rm x; : ]}", "deny"),
    PLAIN("x=$(echo $[1;rm x])", "deny"),
    PLAIN("echo `echo $[1;rm x]`", "deny"),
    PLAIN("sh -c 'echo $[1;rm x]'", "deny"),
    PLAIN("bash -c 'echo $[1;rm x]'", "deny"),
    PLAIN("eval 'echo $[1;rm x]'", "deny"),
    PLAIN("sh <<'E'\necho $[1;rm x]\nE", "deny"),
    PLAIN("echo $[1;bash -c 'a=(1); rm x']", "deny"),
    PLAIN("echo $[1;sh -c '((rm x))']", "deny"),
    PLAIN("echo $[1 + 2]", "allow"), PLAIN("echo \"$[1;rm x]\"", "allow"),
    PLAIN("echo '$[1;rm x]'", "allow"), PLAIN("echo \\$[1]", "allow"),
    PLAIN("n=$[n + 1]; echo $[n * (n - 1)]", "allow"),
    PLAIN("grep '[a-z]$[;]' f", "allow"),
    /* $'...' ends at another quote, and what is behind it is none to either */
    PLAIN("echo $'\\' ; rm x #'", "deny"),
    PLAIN("echo \\$'\\' ; rm x #'", "deny"),
    PLAIN("echo $'\\' \"${x:-'\"'\"'}\" ; rm x; #'", "ask"),
    PLAIN("printf $'a\\tb\\n'", "allow"), PLAIN("echo $'it\\'s'", "allow"),
    PLAIN("grep -n $'\\t' f; echo $\"hi\"", "allow"),
    PLAIN("cat $\".env\"", "deny"),
    /* operators that are two */
    PLAIN("ls &>f rm x", "deny"), PLAIN("ls &>>f rm x", "deny"),
    PLAIN("ls 2&>f rm x", "deny"), PLAIN("ls &> f; rm x", "deny"),
    PLAIN("make &>log && tail log", "allow"), PLAIN("make |& tail -5", "allow"),
    PLAIN("ls 33>f", "allow"), PLAIN("env ls 3>f rm x", "allow"),
    PLAIN("cat <<<hi", "allow"),
    /* subshells */
    PLAIN("((rm x))", "deny"), PLAIN("((1)) || ((touch x))", "deny"),
    PLAIN("((n > 3)) && ls", "deny"), PLAIN("((n < 3)) && ls", "allow"),
    PLAIN("for ((i=0; i<3; i++)); do echo $i; done", "allow"),
    PLAIN("echo $((1 > 3)); ((i++))", "allow"),
    PLAIN("[[ -n $x ]] && echo $((x > 3))", "allow"),
    /* no words of the grammar */
    PLAIN("[[ a && rm x ]]", "deny"), PLAIN("[[ a || cat .env ]]", "deny"),
    PLAIN("time -p rm x", "deny"), PLAIN("time -o keep.txt ls", "deny"),
    PLAIN("time -f %e make", "allow"), PLAIN("time make", "allow"),
    PLAIN("function f {\nls\n}\nf", "allow"),
    PLAIN("function f {\nrm x\n}", "deny"), PLAIN("coproc { cat; }", "allow"),
    PLAIN("coproc rm x", "deny"),
    PLAIN("select i in a b; do echo $i; done", "allow"),
    PLAIN("select i in $[1;rm x]\ndo :; done", "deny"),
    { "", "", "ls", "ask", "function f {\nls\n}\nf", "allow" },
    { "", "", "ls", "ask", "function id [[ a ]]; id", "ask" },
    { "", "", "ls", "ask", "[[ -f a ]] && ls", "allow" },
    /* the same to both, or a mistake to one */
    PLAIN("a=(rm x); echo ${a[0]}", "allow"), PLAIN("a=($[1;rm x])", "allow"),
    PLAIN("diff <(ls a) <(ls b)", "allow"), PLAIN("ls @(a|b)", "allow"),
    PLAIN("case $x in a) ls;;& b) ls;& c) ls;; esac", "allow"),
    PLAIN("echo ${x^} ${!x} ${x//a/b} ${x:1:2} ${a[@]}", "allow"),
    PLAIN("echo {a,b}{1..3} **/*.c", "allow"),
    /* shells end an expansion at the first brace */
    PLAIN("echo ${a[}; rm x; #]}", "ask"),
    PLAIN("echo ${a[${i}]} ${a[1]}", "allow"),
    /* a command line has no arguments, and what follows is the command */
    PLAIN("echo $'\\' ;\"$@\" rm x'm x #'", "ask"),
    /* an echo that knows escapes */
    PLAIN("echo 'ls\\nrm x' | sh", "ask"),
