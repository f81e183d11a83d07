#!/bin/sh
# tarball.sh BUILD VERSION OUT - foray-host and foray-worker with the libraries
# they need, for machines that have nothing but bubblewrap and git.
#
# The programs in BUILD/tarball/ were linked to look in ../lib/foray beside
# them first (the worker also where its sandbox shows that directory). glibc is
# the machine's own: it has to fit its loader, its kernel and its name services.
# So such a tarball runs where glibc is as new as what the newest of these files
# asks for; that is found out here and said in its README.
set -eu
build=$1
version=$2
out=$3

arch=$(uname -m)
name=foray-host-$version-$arch
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
top=$tmp/$name
mkdir -p "$top/bin" "$top/lib/foray" "$top/share/man/man8" \
	"$top/share/foray/profiles" "$top/share/doc/foray/libraries"

# Of glibc, and what the kernel brings.
is_glibc() {
	case $1 in
	linux-vdso.so.* | linux-gate.so.* | ld-linux* | ld64.so.* | libc.so.* | \
		libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | \
		libresolv.so.* | libutil.so.* | libnss_*) return 0 ;;
	esac
	return 1
}

for program in foray-host foray-worker; do
	install -m 755 "$build/tarball/$program" "$top/bin/$program"
	strip "$top/bin/$program"
	# NAME => PATH (ADDRESS)
	ldd "$build/tarball/$program" >"$tmp/ldd"
	if grep 'not found' "$tmp/ldd" >&2; then
		echo "tarball: $program: libraries are missing" >&2
		exit 1
	fi
	while read -r lib arrow path _; do
		[ "$arrow" = '=>' ] || continue
		is_glibc "$lib" && continue
		echo "$lib $path"
	done <"$tmp/ldd"
done | sort -u >"$tmp/libs"
[ -s "$tmp/libs" ] || {
	echo "tarball: ldd names no libraries: a sanitized or static build?" >&2
	exit 1
}

while read -r lib path; do
	install -m 644 "$path" "$top/lib/foray/$lib"
	# Their licences: the package that the file belongs to. Where /lib is a
	# link to /usr/lib, dpkg knows one of both names.
	real=$(readlink -f "$path")
	package=$(dpkg-query -S "$real" 2>/dev/null ||
		dpkg-query -S "${real#/usr}" 2>/dev/null || :)
	package=${package%%:*}
	if [ -z "$package" ] || [ ! -f "/usr/share/doc/$package/copyright" ]; then
		echo "tarball: $path: there is no licence for it below /usr/share/doc" >&2
		exit 1
	fi
	install -m 644 "/usr/share/doc/$package/copyright" \
		"$top/share/doc/foray/libraries/$package"
done <"$tmp/libs"

glibc=$(objdump -T "$top"/bin/* "$top"/lib/foray/* |
	sed -n 's/.*(\{0,1\}GLIBC_\(2[0-9.]*\).*/\1/p' | sort -uV | tail -n 1)
[ -n "$glibc" ] || {
	echo "tarball: what glibc is needed can't be found out" >&2
	exit 1
}

install -m 644 LICENSE "$top/LICENSE"
install -m 644 worker/host/foray-host.8 "$top/share/man/man8"
install -m 644 sandbox/profiles/*.json "$top/share/foray/profiles"
install -m 755 deploy/slurm/foray-hosts.sbatch "$top/share/foray"
install -m 644 deploy/systemd/foray-host@.service deploy/apparmor/foray \
	deploy/systemd/foray.sysusers deploy/systemd/host.conf \
	deploy/sysctl/60-foray.conf deploy/README.md "$top/share/foray"
cat >"$top/README" <<EOF
foray-host $version for $arch, with its libraries.

It runs where glibc is $glibc or newer (ldd --version says), and bubblewrap and
git are installed. An older glibc needs a tarball that was made on that system.

	bin/foray-host --check
	bin/foray-host --connect tcp://MACHINE:PORT --keys DIR

Put the directory anywhere; started as root, where every user can walk to.
bin and lib belong together. Manual: man -l share/man/man8/foray-host.8

share/foray has what starts hosts elsewhere and what systems need for them;
README.md there says how each is used:

	foray-hosts.sbatch      Slurm: an allocation becomes hosts
	foray-host@.service     systemd: with ExecStart= of this bin/, in
	                        /etc/systemd/system
	foray.sysusers          its user: as /etc/sysusers.d/foray.conf
	host.conf               its settings: as /etc/foray/host-NAME.conf
	foray                   AppArmor (Ubuntu 23.10 and later): /etc/apparmor.d
	60-foray.conf           kernel: /etc/sysctl.d

LICENSE is foray's; share/doc/foray/libraries has those of the libraries. The
profiles in share/foray/profiles are built in; they are there to be read.
EOF

mkdir -p "$(dirname "$out")"
tar -C "$tmp" --sort=name --owner=0 --group=0 --numeric-owner \
	--mtime="@${SOURCE_DATE_EPOCH:-$(stat -c %Y LICENSE)}" -cf - "$name" |
	gzip -9n >"$out.new"
mv "$out.new" "$out"
echo "$out (glibc $glibc or newer, $(stat -c %s "$out") bytes)"
