/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/apt_sources.h"

#include <check.h>
#include <stdlib.h>

#include "lab/base/file.h"

static char *top;

static void setup(void)
{
	static const char deb822[] =
		"# comment: first\n"
		"Types: deb\nURIs: http://other.example/debian\nSuites: bookworm\n"
		"Components: main\nSigned-By: /other.gpg\n"
		"\n"
		"Types: deb deb-src\n"
		"uris: https://mirror.example/debian/\n"
		"Suites: bookworm\n bookworm-updates\n"
		"# a comment within\n"
		"Components: main\nSigned-By: /keys/debian.gpg\n"
		" \t\n"
		"Types: deb\nURIs: https://mirror.example/debian-security\n"
		"Suites: bookworm-security\nComponents: main\n"
		"Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n"
		" -----END PGP PUBLIC KEY BLOCK-----\n";
	static const char lines[] =
		"# deb http://mirror.example/debian bookworm main\n"
		"deb [arch=amd64 signed-by=/a.gpg,/b.gpg] http://mirror.example/debian bookworm "
		"main\n"
		"deb http://mirror.example/debian-security bookworm-security main\n";
	g_autofree char *sources = NULL, *list = NULL;

	top = g_dir_make_tmp("numalab-test-apt-XXXXXX", NULL);
	sources = g_build_filename(top, "debian.sources", NULL);
	list = g_build_filename(top, "debian.list", NULL);
	ck_assert(lab_file_write(sources, deb822, -1, NULL));
	ck_assert(lab_file_write(list, lines, -1, NULL));
}

static void teardown(void)
{
	lab_dir_remove(top, NULL);
	g_clear_pointer(&top, g_free);
}

/* @targets: of LAB_APT_TARGET_FORMAT, "TOP" for the directory of the files; @uri NULL: none is found */
static const struct {
	const char *targets;
	gboolean security;
	const char *uri, *signed_by;
} cases[] = {
	/* deb822: the stanza with this URI and suite, whatever number apt gives it */
	{"Debian|Debian|bookworm-updates|main|https://mirror.example/debian/|TOP/"
	 "debian.sources:2\n",
	 FALSE, "https://mirror.example/debian", "/keys/debian.gpg"},
	{"Debian|Debian-Security|bookworm-security|main|https://mirror.example/debian-security/"
	 "|TOP/debian.sources:3",
	 TRUE, "https://mirror.example/debian-security",
	 "\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mQINBF\n -----END PGP PUBLIC KEY "
	 "BLOCK-----"},
	/* one line each */
	{"Debian|Debian|bookworm|main|http://mirror.example/debian/|TOP/debian.list:2", FALSE,
	 "http://mirror.example/debian", "/a.gpg /b.gpg"},
	{"Debian|Debian-Security|bookworm-security|main|http://mirror.example/debian-security/|TOP/"
	 "debian.list:3",
	 TRUE, "http://mirror.example/debian-security", ""},
	{"Debian|Debian|bookworm|main|http://mirror.example/debian/|TOP/debian.list:99", FALSE,
	 "http://mirror.example/debian", ""},
	{"Debian|Debian|bookworm|main|http://mirror.example/debian/|TOP/missing.list:1", FALSE,
	 "http://mirror.example/debian", ""},
	/* the first of the kind that is asked for */
	{"Debian|Debian-Security|trixie-security|main|http://s.example/debian-security/|x:1\n"
	 "Debian Backports|Debian Backports|bookworm-backports|main|http://b.example/debian/|x:1\n"
	 "Debian|Debian|bookworm|main|http://c.example/debian/|x:1\n",
	 FALSE, "http://b.example/debian", ""},
	/* others' archives, other components, discs */
	{"Docker|Docker CE|bookworm|stable|https://download.docker.com/linux/debian/|x:1\n"
	 "apt.postgresql.org|apt.postgresql.org|bookworm-pgdg|main|http://pg.example/debian/|x:1\n"
	 "Debian|Debian|bookworm|contrib|http://c.example/debian/|x:1\n"
	 "Debian|Debian|bookworm|main|cdrom:[Debian 12]/|x:1\n",
	 FALSE, NULL, NULL},
	{"Ubuntu|Ubuntu|noble|main|http://archive.ubuntu.com/ubuntu/|x:1\n", FALSE, NULL, NULL},
	{"", FALSE, NULL, NULL},
	{"a|b|c\n\n|||||\n", FALSE, NULL, NULL},
	/* no index was ever fetched: apt knows what the files say, no more */
	{"$(ORIGIN)|$(LABEL)|bookworm-security|main|http://d.example/debian-security/|x:1\n"
	 "$(ORIGIN)|$(LABEL)|bookworm|main|http://d.example/debian/|x:1\n",
	 FALSE, "http://d.example/debian", ""},
	{"$(ORIGIN)|$(LABEL)|bookworm|main|http://d.example/debian/|x:1\n"
	 "$(ORIGIN)|$(LABEL)|bookworm-security|main|http://d.example/debian-security/|x:1\n",
	 TRUE, "http://d.example/debian-security", ""},
	{"$(ORIGIN)|$(LABEL)|nodistro|main|https://deb.nodesource.com/node_20.x/|x:1\n", FALSE,
	 NULL, NULL},
};

START_TEST(mirror)
{
	g_auto(GStrv) parts = g_strsplit(cases[_i].targets, "TOP", -1);
	g_autofree char *targets = g_strjoinv(top, parts);
	LabAptMirror found = {(char *)"untouched", (char *)"untouched"};

	ck_assert_int_eq(lab_apt_find_mirror(targets, cases[_i].security, &found),
			 cases[_i].uri != NULL);
	ck_assert_str_eq(found.uri, cases[_i].uri ? cases[_i].uri : "untouched");
	ck_assert_str_eq(found.signed_by, cases[_i].uri ? cases[_i].signed_by : "untouched");
	if (cases[_i].uri)
		lab_apt_mirror_clear(&found);
}
END_TEST

/* The suites of the .sources file that is made from the two archives of the cases above. */
static const struct {
	const char *suite;
	const char *without[2];
	const char *text;
	const char *base;
} made[] = {
	{"trixie",
	 {NULL},
	 "Types: deb\nURIs: http://m.example/debian\nSuites: trixie trixie-updates\nComponents: "
	 "main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: /k.gpg\n"
	 "\n"
	 "Types: deb\nURIs: http://m.example/debian-security\nSuites: trixie-security\nComponents: "
	 "main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By:\n -----BEGIN\n .\n"},
	{"trixie",
	 {"trixie-security"},
	 "Types: deb\nURIs: http://m.example/debian\nSuites: trixie trixie-updates\nComponents: "
	 "main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: /k.gpg\n"},
	{"sid",
	 {NULL},
	 "Types: deb\nURIs: http://m.example/debian\nSuites: sid\nComponents: main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: /k.gpg\n"},
	{"bookworm-backports",
	 {NULL},
	 "Types: deb\nURIs: http://m.example/debian\nSuites: bookworm-backports\nComponents: main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: /k.gpg\n"},
	{"bookworm-backports",
	 {"bookworm-security"},
	 "Types: deb\nURIs: http://m.example/debian\nSuites: bookworm-backports\nComponents: main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: /k.gpg\n"
	 "\n"
	 "Types: deb\nURIs: http://m.example/debian\nSuites: bookworm bookworm-updates\n"
	 "Components: main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By: /k.gpg\n",
	 "bookworm"},
	{"bookworm-security",
	 {NULL},
	 "Types: deb\nURIs: http://m.example/debian-security\nSuites: "
	 "bookworm-security\nComponents: main\n"
	 "Architectures: amd64\nTargets: Packages\nLanguages: none\nSigned-By:\n -----BEGIN\n .\n"},
};

START_TEST(sources)
{
	const LabAptMirror archive = {(char *)"http://m.example/debian", (char *)"/k.gpg"};
	const LabAptMirror fixes = {(char *)"http://m.example/debian-security",
				    (char *)"\n -----BEGIN\n ."};
	g_autofree char *text =
		lab_apt_sources_text(made[_i].suite, made[_i].base, made[_i].without, &archive, &fixes);

	ck_assert_str_eq(text, made[_i].text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("apt_sources");
	TCase *c = tcase_create("apt_sources");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, mirror, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(c, sources, 0, G_N_ELEMENTS(made));
	suite_add_tcase(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
