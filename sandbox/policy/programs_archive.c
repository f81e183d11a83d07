/* programs_archive.c - programs.c goes on: archives, and modules of python. */
#include "common/compat.h"

#include "sandbox/policy/programs.h"

#define SEVEN "o=U a=O b=O i=O m=O p=O r=O s=O t=O u=O v=O w=O x=O -so=N y=F"

const struct program programs_archive[] = {
	/* archives */
	{ "7z", "a", "pack", SEVEN },
	{ "7z", "d", "w1", SEVEN },
	{ "7z", "e", "unpack", SEVEN },
	{ "7z", "rn", "w1", SEVEN },
	{ "7z", "u", "pack", SEVEN },
	{ "7z", "x", "unpack", SEVEN },
	{ "bsdcpio", NULL, NULL, "" },
	{ "cabextract", NULL, "unpack",
	    "d=U --directory=U l=N --list=N t=N --test=N p=N --pipe=N F=A" },
	{ "compress", NULL, "wr", PROGRAM_PACKER },
	{ "dpkg", "-x", "into", "" },
	{ "dpkg-deb", "--build", "rw2", "" },
	{ "dpkg-deb", "--extract", "into", "" },
	{ "dpkg-deb", "-R", "into", "" },
	{ "dpkg-deb", "-b", "rw2", "" },
	{ "dpkg-deb", "-x", "into", "" },
	{ "dtrx", NULL, "unpack", "l=N t=N --list=N" },
	{ "genisoimage", NULL, NULL, "o=W" },
	{ "innoextract", NULL, "unpack", "d=U --output-dir=U l=N --list=N" },
	{ "jar", NULL, NULL, "" },
	{ "mksquashfs", NULL, "rwl", "" },
	{ "munpack", NULL, "unpack", "C=K t=F" },
	{ "rar", "a", "pack", "" },
	{ "rar", "e", "unpack", "" },
	{ "rar", "x", "unpack", "" },
	{ "shar", NULL, "r", "o=W" },
	{ "unar", NULL, "unpack",
	    "o=U --output-directory=U e=A p=A E=A --password=A" },
	{ "unrar", "e", "unpack", "" },
	{ "unrar", "x", "unpack", "" },
	{ "unshar", NULL, "unpack", "d=U --directory=U" },
	{ "unsquashfs", NULL, "unpack", "d=U -dest=U l=N -ll=N s=N" },
	{ "uudecode", NULL, "unpack", "o=W" },

	/* modules of python, by -m */
	{ "cProfile", NULL, NULL, "+ o=W --outfile=W s=A" },
	{ "compileall", NULL, "wb",
	    "d=A s=A p=A x=A i=L j=A r=A o=A e=A --invalidation-mode=A" },
	{ "fileinput", NULL, "r", "" },
	{ "py_compile", NULL, "w", "" },
	{ "json.tool", NULL, "rw2", "--indent=A" },
	{ "tarfile", "--create", "pack", "" },
	{ "tarfile", "--extract", "into", "" },
	{ "tarfile", "-c", "pack", "" },
	{ "tarfile", "-e", "into", "" },
	{ "tarfile", NULL, "r", "" },
	{ "venv", NULL, "w", "" },
	{ "virtualenv", NULL, "w", "p=A" },
	{ "zipapp", NULL, "r", "o=W --output=W p=A m=A" },
	{ "zipfile", "--create", "pack", "" },
	{ "zipfile", "--extract", "into", "" },
	{ "zipfile", "-c", "pack", "" },
	{ "zipfile", "-e", "into", "" },
	{ "zipfile", NULL, "r", "" },
};

const size_t programs_archive_n = nitems(programs_archive);
