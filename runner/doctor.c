/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/doctor.h"

#include <errno.h>
#include <libvirt/libvirt.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lab/base/paths.h"
#include "lab/base/process.h"
#include "lab/guest/host_state.h"

#define QEMU "qemu-system-x86_64"
#define QEMU_MIN_MAJOR 8 /* before 8.1 SMP bring-up live-locks under icount */
#define QEMU_MIN_MINOR 1
#define LIBVIRT_MIN 10000000 /* major * 1000000 + minor * 1000 + release */
#define EXAMPLE "vnuma-4x1p-512M"
#define CHILD_US (5 * G_TIME_SPAN_SECOND)
#define DRIVER_US (60 * G_TIME_SPAN_SECOND) /* it asks QEMU some 4 s of questions the first time */
#define MIB (1u << 20)

static void check_free(gpointer data)
{
	DoctorCheck *c = data;

	g_free(c->name);
	g_free(c->found);
	g_free(c->wanted);
	g_free(c->fix);
	g_free(c);
}

void doctor_free(Doctor *doctor)
{
	if (!doctor)
		return;
	g_ptr_array_unref(doctor->checks);
	g_free(doctor->qemu_version);
	g_free(doctor->exact_why);
	g_free(doctor->tcg_why);
	lab_kvm_probe_free(doctor->kvm);
	g_free(doctor);
}

const char *doctor_state_name(DoctorState state)
{
	static const char *const names[] = {"ok", "note", "missing"};

	return names[state];
}

static DoctorCheck *add(Doctor *doctor, const char *section, const char *name, DoctorState state,
			const char *found, const char *wanted, const char *fix)
{
	DoctorCheck *c = g_new0(DoctorCheck, 1);

	*c = (DoctorCheck){
		.section = section,
		.name = g_strdup(name),
		.state = state,
		.found = g_strdup(found),
		.wanted = g_strdup(wanted),
		.fix = state == DOCTOR_OK ? NULL : g_strdup(fix),
	};
	g_ptr_array_add(doctor->checks, c);
	return c;
}

/* apt's command for packages; those of virtualisation come from backports on Debian 12. */
static char *apt_fix(const char *packages, gboolean backports)
{
	g_autofree char *release = NULL;
	gboolean bookworm = g_file_get_contents("/etc/os-release", &release, NULL, NULL) &&
			    strstr(release, "VERSION_CODENAME=bookworm");
	g_autofree char *apt = g_find_program_in_path("apt-get");

	if (!apt)
		return g_strdup_printf("install what Debian calls %s", packages);
	return g_strdup_printf("apt-get install %s%s",
			       backports && bookworm ? "-t bookworm-backports " : "", packages);
}

/* What a program says, or NULL when it cannot be started or fails; never longer than CHILD_US. */
static char *ask(const char *program, const char *argument, const char *second, gboolean may_fail)
{
	const char *argv[] = {program, argument, second, NULL};
	const LabProcessOptions options = {.timeout_us = CHILD_US};
	g_auto(LabProcessResult) result = {0};

	if (!lab_process_run(argv, &options, &result, NULL) ||
	    (!may_fail && result.exit_status != 0))
		return NULL;
	return g_strconcat(result.out, result.err, NULL);
}

/* The first dotted number in what a program says of itself. */
static char *version_in(const char *text)
{
	g_autoptr(GRegex) regex = g_regex_new("[0-9]+(\\.[0-9]+)+", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	return text && g_regex_match(regex, text, 0, &match) ? g_match_info_fetch(match, 0) : NULL;
}

static void check_qemu(Doctor *doctor)
{
	g_autofree char *path = g_find_program_in_path(QEMU);
	g_autofree char *said = path ? ask(path, "--version", NULL, FALSE) : NULL;
	g_autofree char *fix = apt_fix("qemu-system-x86", TRUE);
	g_autofree char *version = version_in(said);
	g_autofree char *accels = version ? ask(path, "-accel", "help", FALSE) : NULL;
	guint major = 0, minor = 0;
	gboolean good;

	if (version)
		sscanf(version, "%u.%u", &major, &minor);
	good = major > QEMU_MIN_MAJOR || (major == QEMU_MIN_MAJOR && minor >= QEMU_MIN_MINOR);
	add(doctor, "program", QEMU, good ? DOCTOR_OK : DOCTOR_MISSING,
	    version ? version
	    : path  ? "does not say its version"
		    : "not in PATH",
	    "8.1 or newer", fix)
		->clock = TRUE;
	if (version)
		add(doctor, "program", "QEMU's tcg accelerator",
		    accels && strstr(accels, "tcg") ? DOCTOR_OK : DOCTOR_MISSING,
		    accels && strstr(accels, "tcg") ? "there" : "not built in", "there", fix)
			->clock = TRUE;
	doctor->qemu_version = g_steal_pointer(&version);
}

static void check_libvirt(Doctor *doctor)
{
	g_autofree char *fix = apt_fix("libvirt0 libvirt-daemon-driver-qemu", TRUE);
	g_autofree char *found = NULL;
	unsigned long version = 0;

	virGetVersion(&version, NULL, NULL);
	found = g_strdup_printf("%lu.%lu.%lu", version / 1000000, version / 1000 % 1000,
				version % 1000);
	add(doctor, "program", "libvirt", version >= LIBVIRT_MIN ? DOCTOR_OK : DOCTOR_MISSING,
	    found, "10.0 or newer", fix)
		->clock = TRUE;
}

/* The last line that a failed child wrote to stderr, without our name in front. */
static char *complaint(const char *text)
{
	g_autofree char *stripped = g_strchomp(g_strdup(text));
	const char *line = strrchr(stripped, '\n');

	line = line ? line + 1 : stripped;
	return g_strdup(g_str_has_prefix(line, "numalab: ") ? line + strlen("numalab: ") : line);
}

/* Whether libvirt's driver can be loaded, finds QEMU and takes a domain: by having it take one, in a child. */
static void check_driver(Doctor *doctor)
{
	g_autofree char *self = lab_path_self();
	const char *argv[] = {self, "topology", "show", "--args", EXAMPLE, NULL};
	const LabProcessOptions options = {.timeout_us = DRIVER_US};
	g_autofree char *fix = apt_fix("libvirt0 libvirt-daemon-driver-qemu", TRUE);
	g_autofree char *found = NULL;
	g_auto(LabProcessResult) result = {0};
	g_autoptr(GError) error = NULL;
	gboolean good = lab_process_run(argv, &options, &result, &error) && result.exit_status == 0;

	if (!good)
		found = error ? g_strdup(error->message) : complaint(result.err);
	add(doctor, "program", "libvirt's QEMU driver", good ? DOCTOR_OK : DOCTOR_MISSING,
	    good ? "takes a domain" : found, "qemu:///embed", fix)
		->clock = TRUE;
}

static void check_tools(Doctor *doctor)
{
	static const struct {
		const char *program, *argument, *package, *wanted;
	} tools[] = {
		{"mmdebstrap", "--version", "mmdebstrap", "to build images"},
		{"mkfs.erofs", "-V", "erofs-utils", "to build images"},
		{"apt-get", "--version", "apt", "to fetch kernels and packages"},
		{"dpkg-deb", "--version", "dpkg", "to unpack kernels"},
		{"qemu-img", "--version", "qemu-utils", "for 'boot: disk'"},
		{"supermin", "--version", "libguestfs0", "for 'boot: disk' (libguestfs's own guest)"},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(tools); i++) {
		g_autofree char *path = g_find_program_in_path(tools[i].program);
		g_autofree char *said = path ? ask(path, tools[i].argument, NULL, TRUE) : NULL;
		g_autofree char *version = version_in(said);
		g_autofree char *fix = apt_fix(tools[i].package, FALSE);

		add(doctor, "program", tools[i].program, path ? DOCTOR_OK : DOCTOR_MISSING,
		    version ? version
		    : path  ? "there"
			    : "not in PATH",
		    tools[i].wanted, fix);
	}
}

static void check_helpers(Doctor *doctor)
{
	static const struct {
		const char *name;
		GFileTest test;
	} helpers[] = {
		{"numalab-agent", G_FILE_TEST_IS_EXECUTABLE},
		{"numalab-emulator", G_FILE_TEST_IS_EXECUTABLE},
		{"numalab-tlbclock.so", G_FILE_TEST_IS_REGULAR},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(helpers); i++) {
		g_autofree char *path = lab_path_helper(helpers[i].name);
		gboolean there = g_file_test(path, helpers[i].test);

		add(doctor, "program", helpers[i].name, there ? DOCTOR_OK : DOCTOR_MISSING,
		    there ? path : "not there", "built with numalab", "make, or make install")
			->clock = TRUE;
	}
}

/* Only guests that boot from a disk need it. */
static void check_disk(Doctor *doctor)
{
	g_autofree char *path = lab_path_helper("numalab-disk");
	g_autofree char *said = ask(path, "--version", NULL, FALSE);
	g_autofree char *version = version_in(said);
	g_autofree char *fix = apt_fix("libguestfs0", TRUE);

	add(doctor, "program", "libguestfs", version ? DOCTOR_OK : DOCTOR_NOTE,
	    version ? version : "numalab-disk does not start", "for 'boot: disk'", fix);
	if (!g_file_test("/lib/modules", G_FILE_TEST_IS_DIR))
		add(doctor, "program", "/lib/modules", DOCTOR_NOTE, "not there",
		    "libguestfs looks at it ('boot: disk')", "mkdir /lib/modules");
}

/* The nearest directory above that exists: where the room is, and where the right to write is
 * asked. */
static char *existing(const char *path)
{
	g_autofree char *at = g_strdup(path);

	while (!g_file_test(at, G_FILE_TEST_EXISTS)) {
		char *parent = g_path_get_dirname(at);

		g_free(at);
		at = parent;
	}
	return g_steal_pointer(&at);
}

static void check_place(Doctor *doctor, const char *name, const char *path, guint64 wanted_mib,
			const char *option)
{
	g_autofree char *dir = existing(path);
	g_autofree char *found = NULL, *wanted = NULL, *fix = NULL;
	struct statvfs fs = {0};
	guint64 free_mib = statvfs(dir, &fs) == 0 ? (guint64)fs.f_bavail * fs.f_frsize / MIB : 0;
	gboolean writable = g_file_test(dir, G_FILE_TEST_IS_DIR) && access(dir, W_OK | X_OK) == 0;

	found = writable ? g_strdup_printf("%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT
					   " GiB free in %s",
					   free_mib / 1024, free_mib % 1024 * 10 / 1024, path)
			 : g_strdup_printf("%s cannot be written: %s", dir,
					   g_strerror(errno ? errno : ENOTDIR));
	wanted = g_strdup_printf("%" G_GUINT64_FORMAT " GiB", wanted_mib / 1024);
	fix = g_strdup_printf("give another place with %s DIR", option);
	add(doctor, "place", name,
	    !writable		    ? DOCTOR_MISSING
	    : free_mib < wanted_mib ? DOCTOR_NOTE
				    : DOCTOR_OK,
	    found, wanted, fix);
}

static void check_memory(Doctor *doctor)
{
	g_autofree char *text = NULL;
	g_autofree char *found = NULL;
	const char *line;
	guint64 mib = 0;

	g_file_get_contents("/proc/meminfo", &text, NULL, NULL);
	line = text ? strstr(text, "MemAvailable:") : NULL;
	if (line)
		mib = g_ascii_strtoull(line + strlen("MemAvailable:"), NULL, 10) / 1024;
	found = g_strdup_printf("%" G_GUINT64_FORMAT ".%" G_GUINT64_FORMAT
				" GiB available, %u CPUs",
				mib / 1024, mib % 1024 * 10 / 1024, g_get_num_processors());
	add(doctor, "place", "memory", mib >= 2560 ? DOCTOR_OK : DOCTOR_NOTE, found,
	    "guest's memory, per boot at once", "use a topology with less memory, or --jobs 1");
}

/* Whether a line of /etc/subuid is for this user. */
static gboolean has_subordinate(const char *file)
{
	g_autofree char *text = NULL;
	g_autofree char *by_name = g_strdup_printf("%s:", g_get_user_name());
	g_autofree char *by_id = g_strdup_printf("%u:", (guint)getuid());
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(file, &text, NULL, NULL))
		return FALSE;
	lines = g_strsplit(text, "\n", -1);
	for (char **l = lines; *l; l++)
		if (g_str_has_prefix(*l, by_name) || g_str_has_prefix(*l, by_id))
			return TRUE;
	return FALSE;
}

static void check_user(Doctor *doctor)
{
	g_autofree char *newuidmap = g_find_program_in_path("newuidmap");
	g_autofree char *subordinate = NULL;
	g_autofree char *apt = apt_fix("uidmap", FALSE);
	g_autofree char *said = NULL;

	if (geteuid() == 0) {
		add(doctor, "user", "building images", DOCTOR_OK, "root",
		    "root, or user namespaces", NULL);
		return;
	}
	said = ask("unshare", "--user", "true", FALSE);
	add(doctor, "user", "user namespaces", said ? DOCTOR_OK : DOCTOR_MISSING,
	    said ? "allowed" : "not allowed", "to build images without root",
	    "sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000");
	add(doctor, "user", "newuidmap", newuidmap ? DOCTOR_OK : DOCTOR_MISSING,
	    newuidmap ? "there" : "not in PATH", "to build images without root", apt);
	subordinate = g_strdup_printf(
		"usermod --add-subuids 100000-165535 --add-subgids 100000-165535 %s",
		g_get_user_name());
	add(doctor, "user", "subordinate ids",
	    has_subordinate("/etc/subuid") && has_subordinate("/etc/subgid") ? DOCTOR_OK
									     : DOCTOR_MISSING,
	    has_subordinate("/etc/subuid") ? "/etc/subuid has some" : "/etc/subuid has none",
	    "to build images without root", subordinate);
}

/* What the clocks need, of all checks. */
static void decide_clocks(Doctor *doctor)
{
	g_autoptr(GString) lacks = g_string_new(NULL);

	for (guint i = 0; i < doctor->checks->len; i++) {
		const DoctorCheck *c = doctor->checks->pdata[i];

		if (c->clock && c->state == DOCTOR_MISSING)
			g_string_append_printf(lacks, "%s%s (%s)",
					       lacks->len ? ", " : "missing: ", c->name, c->found);
	}
	doctor->exact = doctor->tcg = !lacks->len;
	doctor->exact_why = lacks->len ? g_strdup(lacks->str)
				       : g_strdup_printf("instruction-counted emulation, QEMU %s",
							 doctor->qemu_version);
	doctor->tcg_why =
		lacks->len ? g_strdup(lacks->str)
			   : g_strdup_printf("plain emulation, QEMU %s", doctor->qemu_version);
}

/* What disturbs times under KVM: of no interest where there are none. */
static void check_host(Doctor *doctor)
{
	g_autoptr(LabHostState) state = lab_host_state_read("");
	g_autoptr(GPtrArray) findings = lab_host_state_judge(state, FALSE);

	for (guint i = 0; i < findings->len; i++) {
		const LabHostFinding *f = findings->pdata[i];

		add(doctor, "host", f->rule, DOCTOR_NOTE, f->found, f->wanted, f->fix);
	}
}

Doctor *doctor_examine(const char *store, const char *cache, GError **error)
{
	g_autoptr(Doctor) doctor = g_new0(Doctor, 1);
	g_autofree char *self = lab_path_self();
	const char *probe[] = {self, "doctor", "--kvm-probe", LAB_KVM_DEVICE, NULL};

	doctor->checks = g_ptr_array_new_with_free_func(check_free);
	check_qemu(doctor);
	check_libvirt(doctor);
	if (doctor->qemu_version)
		check_driver(doctor); /* libvirt asks QEMU, too: not one that does not answer */
	check_helpers(doctor);
	check_tools(doctor);
	check_disk(doctor);
	check_place(doctor, "store", store, 1024, "--store");
	check_place(doctor, "cache", cache, 2048, "--cache");
	check_place(doctor, "temporary files", g_get_tmp_dir(), 1024, "TMPDIR=");
	check_memory(doctor);
	check_user(doctor);
	decide_clocks(doctor);
	doctor->kvm = lab_kvm_probe(probe, error);
	if (doctor->kvm && doctor->kvm->state == LAB_KVM_WORKS)
		check_host(doctor);
	return doctor->kvm ? g_steal_pointer(&doctor) : NULL;
}
