# Included by the Makefile: the Debian packages, by use.

DEPS := gcc libc6-dev make pkg-config libzmq3-dev libmsgpack-dev libbsd-dev \
	libmd-dev libjansson-dev libutf8proc-dev libsqlite3-dev libseccomp-dev \
	libsodium-dev libcurl4-openssl-dev libmicrohttpd-dev bubblewrap git \
	ripgrep python3
DEPS_TEST := libcmocka-dev nodejs procps cmake tmux python3-venv \
	python3-setuptools python3-pytest python3-yaml python3-jsonschema \
	binutils iproute2 slurmctld slurmd slurm-client munge
DEPS_LONG := clang clang-format clang-tidy libclang-rt-dev cppcheck shellcheck \
	mandoc codespell valgrind shfmt golang-go default-jdk-headless

.PHONY: deps deps-test deps-long
deps:
	@sh deploy/deps.sh 'build and demo' $(DEPS)
deps-test: deps
	@sh deploy/deps.sh 'tests' $(DEPS_TEST)
deps-long: deps-test
	@sh deploy/deps.sh 'lint, fuzzing and long tests' $(DEPS_LONG)
