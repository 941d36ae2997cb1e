/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A job in, domain XML and QEMU's arguments out, compared with tests/data/domain. NUMALAB_GOLDEN=1 rewrites them. libvirt itself
 * makes the arguments, so what it would refuse fails here.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/qcow2.h"
#include "lab/guest/connect.h"
#include "lab/guest/domain.h"

#define DATA TEST_DATA "/domain/"
#define GIB (1024 * 1024 * G_GUINT64_CONSTANT(1024))

typedef enum { SCRATCH_NONE, SCRATCH_EMPTY, SCRATCH_PREPARED, SCRATCH_KEPT } Scratch;

typedef struct {
	const char *name; /* of the golden files */
	const char *topology;
	LabClock clock;
	guint64 seed;
	Scratch scratch;
	gboolean no_image;
	const char *extra;
	gboolean files;
	const char *cpu_model;
	LabAsyncPf async_pf;
	const char *bootloader; /* of a guest with a disk */
	gboolean pmu, invtsc;
	LabPlacement pin;
} Case;

static const Case cases[] = {
	{"vnuma-exact", "vnuma", LAB_CLOCK_EXACT, 1, SCRATCH_PREPARED},
	{"vnuma-tcg", "vnuma", LAB_CLOCK_TCG, 2, SCRATCH_EMPTY},
	{"vnuma-kept", "vnuma", LAB_CLOCK_EXACT, 3, SCRATCH_KEPT},
	{"vnuma-initrd", "vnuma", LAB_CLOCK_EXACT, 1, SCRATCH_NONE, TRUE, "brd.rd_nr=1 a=b,c"},
	{"vnuma-files", "vnuma", LAB_CLOCK_EXACT, 1, SCRATCH_PREPARED, .files = TRUE},
	{"ring", "ring", LAB_CLOCK_EXACT, 1, SCRATCH_NONE},
	{"asymmetric", "asymmetric", LAB_CLOCK_EXACT, 1, SCRATCH_NONE},
	{"fake", "fake", LAB_CLOCK_EXACT, 1, SCRATCH_EMPTY},
	{"memoryless", "memoryless", LAB_CLOCK_EXACT, 1, SCRATCH_EMPTY},
	{"cpuless", "cpuless", LAB_CLOCK_TCG, 1, SCRATCH_NONE},
	{"eight", "eight", LAB_CLOCK_EXACT, 18446744073709551615u, SCRATCH_NONE},
	{"kvm-host", "vnuma", LAB_CLOCK_KVM, 1, SCRATCH_EMPTY, .cpu_model = "host", .pmu = TRUE},
	{"kvm-host-off", "ring", LAB_CLOCK_KVM, 1, SCRATCH_NONE, .cpu_model = "host",
	 .async_pf = LAB_ASYNC_PF_OFF},
	{"kvm-model-int", "memoryless", LAB_CLOCK_KVM, 1, SCRATCH_NONE, .cpu_model = "EPYC-Rome",
	 .async_pf = LAB_ASYNC_PF_INT_ONLY},
	{"kvm-pin", "vnuma", LAB_CLOCK_KVM, 1, SCRATCH_NONE, .cpu_model = "host", .pmu = TRUE,
	 .invtsc = TRUE,
	 .pin = {.cpus = (char *)"2,3,2,5", .emulator = (char *)"0-1", .nodes = (char *)"0,0,1,1",
		 .hugepage_bytes = 2 << 20}},
	{"kvm-pin-fake", "fake", LAB_CLOCK_KVM, 1, SCRATCH_NONE, .cpu_model = "EPYC-Rome",
	 .pin = {.emulator = (char *)"7", .hugepage_bytes = 1 << 30}},
	{"disk-grub", "vnuma", LAB_CLOCK_TCG, 1, SCRATCH_EMPTY, TRUE, "a=b,c", .files = TRUE, .bootloader = "grub"},
	{"disk-none", "fake", LAB_CLOCK_KVM, 1, SCRATCH_NONE, TRUE, .cpu_model = "host", .bootloader = "none"},
};
/* libvirt wants KVM, or the disks, to be there. */
#define N_XML_ONLY 7

static const LabDomainHost nowhere;

static LabTopology *topology(const char *name)
{
	g_autofree char *path = g_strdup_printf(DATA "%s.yaml", name);
	g_autoptr(GError) error = NULL;
	LabTopology *t = lab_topology_load(path, &error);

	ck_assert_msg(t != NULL, "%s", error ? error->message : "no error set");
	return t;
}

static LabBootJob *job_of(const Case *c)
{
	LabBootJob *job = g_new0(LabBootJob, 1);

	job->id = g_strdup("6.1.192-s1");
	job->topology = topology(c->topology);
	job->clock = c->clock;
	job->cpu_model = g_strdup(c->cpu_model);
	job->async_pf = c->async_pf;
	job->pmu = c->pmu;
	job->invtsc = c->invtsc;
	lab_placement_copy(&c->pin, &job->pin);
	job->seed = c->seed;
	job->kernel_path = g_strdup("/cache/kernel/vmlinux");
	job->initrd_path = g_strdup("initrd");
	job->cmdline_extra = g_strdup(c->extra);
	job->console_quiet = c->clock == LAB_CLOCK_EXACT;
	job->image_path = c->no_image ? NULL : g_strdup("/cache/image, the/root.erofs");
	job->image_bytes = c->no_image ? 0 : 120 * 1024 * 1024;
	job->scratch_bytes = c->scratch == SCRATCH_NONE ? 0 : GIB;
	job->scratch_path = c->scratch == SCRATCH_PREPARED ? g_strdup("/cache/scratch.img") : NULL;
	job->scratch_keep = c->scratch == SCRATCH_KEPT;
	job->files_path = c->files ? g_strdup("/cache/files/files.erofs") : NULL;
	job->files_bytes = c->files ? 2 * 1024 * 1024 : 0;
	job->results_bytes = 16 * 1024 * 1024;
	if (c->bootloader) {
		job->boot = LAB_BOOT_DISK;
		job->disk_path = g_strdup("/cache/disk-kernel/disk.qcow2");
		job->disk_bootloader = g_strdup(c->bootloader);
		job->disk_cache = g_strdup("none");
		job->disk_io = g_strdup("native");
		job->disk_root = g_strdup("UUID=1-2");
		job->agent_job_path = g_strdup("/cache/agent-job/job.tar");
		job->more_scratch = c->files ? g_strdup("1024 2048") : NULL;
	}
	if (!g_strcmp0(c->bootloader, "grub")) {
		g_free(job->kernel_path);
		job->kernel_path = g_strdup("");
	}
	job->emulator = g_strdup("/usr/bin/qemu-system-x86_64");
	job->emulator_version = g_strdup("10.0.2");
	return job;
}

static void compare(const char *name, const char *suffix, const char *text)
{
	g_autofree char *path = g_strdup_printf(DATA "%s%s", name, suffix);
	g_autofree char *golden = NULL;

	if (g_getenv("NUMALAB_GOLDEN")) {
		ck_assert(lab_file_write(path, text, -1, NULL));
		return;
	}
	golden = lab_file_read(path, NULL, NULL);
	ck_assert_msg(golden != NULL, "%s is missing: NUMALAB_GOLDEN=1 makes it", path);
	if (strcmp(golden, text)) {
		g_auto(GStrv) want = g_strsplit(golden, "\n", -1);
		g_auto(GStrv) have = g_strsplit(text, "\n", -1);
		guint line = 0;

		while (want[line] && !g_strcmp0(want[line], have[line]))
			line++;
		ck_abort_msg("%s:%u: wanted '%s', found '%s'", path, line + 1,
			     want[line] ? want[line] : "(end)", have[line] ? have[line] : "(end)");
	}
}

START_TEST(xml)
{
	g_autoptr(LabBootJob) job = job_of(&cases[_i]);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = lab_domain_xml(job, "/boot", &nowhere, &error);

	ck_assert_msg(text != NULL, "%s", error ? error->message : "no error set");
	compare(cases[_i].name, ".xml", text);
}
END_TEST

/* The versioned name of the machine is the installed QEMU's newest. */
static char *normalise(const char *args)
{
	g_autoptr(GRegex) machine = g_regex_new("pc-q35-[0-9.]+", 0, 0, NULL);

	return g_regex_replace_literal(machine, args, -1, 0, "pc-q35", 0, NULL);
}

START_TEST(arguments)
{
	g_autoptr(LabBootJob) job = job_of(&cases[_i]);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = lab_domain_xml(job, "/boot", &nowhere, &error);
	g_autofree char *args = lab_domain_qemu_args(text, &error), *plain = NULL;

	ck_assert_msg(args != NULL, "%s", error ? error->message : "no error set");
	plain = normalise(args);
	compare(cases[_i].name, ".args", plain);
}
END_TEST

/* What the wrapper is told goes by the environment; nothing else changes. */
START_TEST(wrapper)
{
	g_autoptr(LabBootJob) job = job_of(&cases[0]);
	const LabDomainHost guarded = {.emulator = "/x/numalab-emulator", .guard_pid = 4711};
	g_autofree char *plain = lab_domain_xml(job, "/boot", &nowhere, NULL);
	g_autofree char *text = lab_domain_xml(job, "/boot", &guarded, NULL);
	g_autoptr(GString) expected = g_string_new(plain);

	g_string_replace(expected, "<emulator>/usr/bin/qemu-system-x86_64<",
			 "<emulator>/x/numalab-emulator<", 0);
	g_string_replace(
		expected, "  </qemu:commandline>",
		"    <qemu:env name=\"NUMALAB_QEMU\" value=\"/usr/bin/qemu-system-x86_64\"/>\n"
		"    <qemu:env name=\"NUMALAB_GUARD\" value=\"4711\"/>\n"
		"  </qemu:commandline>",
		0);
	ck_assert_str_eq(text, expected->str);
}
END_TEST

START_TEST(seeds_differ)
{
	/* -seed alone gives no new sample where a kernel takes no RDRAND. */
	ck_assert_int_eq(lab_domain_rtc_base(1), 1420070400 + 3600);
	for (guint64 seed = 0; seed < 1000; seed++)
		ck_assert_int_ne(lab_domain_rtc_base(seed), lab_domain_rtc_base(seed + 1));
	ck_assert_int_lt(lab_domain_rtc_base(G_MAXUINT64), G_MAXINT32);
}
END_TEST

START_TEST(too_many_cpus)
{
	g_autoptr(LabBootJob) job = job_of(&cases[0]);
	g_autoptr(GError) error = NULL;

	job->topology->n_cpus = 256;
	ck_assert_ptr_null(lab_domain_xml(job, "/boot", &nowhere, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
}
END_TEST

START_TEST(names)
{
	static const struct {
		const char *id, *name;
	} names[] = {
		{"6.1.192-s1", "numalab-6.1.192-s1"},
		{"next/20261130 s2", "numalab-next_20261130_s2"},
		{"a\nb", "numalab-a_b"},
	};
	LabBootJob job = {.id = (char *)names[_i].id};
	g_autofree char *name = lab_domain_name(&job, &nowhere);

	ck_assert_str_eq(name, names[_i].name);
}
END_TEST

/* Of a daemon: a name and a UUID of its own, the guest's UUID as ever, this user's rights, nobody's label. */
START_TEST(daemon_domain)
{
	static const char *const models[] = {"apparmor", "dac", NULL};
	const LabDomainHost host = {.emulator = "/x/numalab-emulator", .daemon = TRUE, .models = models};
	g_autoptr(LabBootJob) job = job_of(&cases[0]);
	g_autofree char *text = lab_domain_xml(job, "/boot", &host, NULL);
	g_autofree char *again = lab_domain_xml(job, "/boot", &host, NULL);
	g_autofree char *name = g_strdup_printf("<name>numalab-%d-6.1.192-s1</name>", (int)getpid());
	g_autofree char *label = g_strdup_printf("<label>+%u:+%u</label>", (unsigned)geteuid(), (unsigned)getegid());

	ck_assert_ptr_nonnull(strstr(text, name));
	ck_assert_str_ne(text, again);
	ck_assert_ptr_nonnull(strstr(text, "<qemu:arg value=\"-uuid\"/>\n    <qemu:arg value=\"6e756d61-6c61-4200-8000-000000000001\"/>"));
	ck_assert_ptr_null(strstr(text, "<uuid>6e756d61"));
	ck_assert_ptr_nonnull(strstr(text, "<seclabel type=\"none\" model=\"apparmor\"/>"));
	ck_assert_ptr_nonnull(strstr(text, label));
	ck_assert_ptr_nonnull(strstr(text, "NUMALAB_QEMU"));
	ck_assert_ptr_null(strstr(text, "NUMALAB_GUARD"));
}
END_TEST

/* Of another host: its paths, its user, its QEMU, and layers that the images do not know. */
START_TEST(remote_domain)
{
	static const char *const models[] = {"none", "dac", NULL};
	LabQcow2Layer layers[] = {{"/pool/numalab-disk-1", "qcow2"}, {"/pool/numalab-disk-2", "raw"}};
	gpointer pointers[] = {&layers[0], &layers[1]};
	GPtrArray chain = {pointers, 2};
	const LabDomainHost host = {.daemon = TRUE,
				    .models = models,
				    .files = "/pool/numalab-boot-1a2b3c4d-",
				    .id = "1a2b3c4d",
				    .owner = "64055:64055",
				    .preload = "/pool/numalab-tlbclock-1",
				    .root_chain = &chain};
	const LabDomainHost session = {.daemon = TRUE, .models = models, .files = "/pool/x-", .id = "1a2b3c4d"};
	g_autoptr(LabBootJob) job = job_of(&cases[0]);
	g_autofree char *text = lab_domain_xml(job, "/boot", &host, NULL);
	g_autofree char *own = lab_domain_xml(job, "/boot", &session, NULL);
	g_autofree char *by_disk = NULL;

	ck_assert_ptr_nonnull(strstr(text, "<name>numalab-1a2b3c4d-6.1.192-s1</name>"));
	ck_assert_ptr_nonnull(strstr(text, "<label>+64055:+64055</label>"));
	ck_assert_ptr_nonnull(strstr(text, "<serial type=\"file\">\n      <source path=\"/pool/numalab-boot-1a2b3c4d-console.log\" append=\"on\"/>"));
	ck_assert_ptr_nonnull(strstr(text, "mem-path=/pool/numalab-boot-1a2b3c4d-results.img,"));
	ck_assert_ptr_nonnull(strstr(text, "<qemu:env name=\"LD_PRELOAD\" value=\"/pool/numalab-tlbclock-1\"/>"));
	ck_assert_ptr_null(strstr(text, "NUMALAB_"));
	ck_assert_ptr_null(strstr(text, "/boot/console.log"));
	/* A user's own daemon there runs QEMU as itself. */
	ck_assert_ptr_null(strstr(own, "model=\"dac\""));

	job->boot = LAB_BOOT_DISK;
	by_disk = lab_domain_xml(job, "/boot", &host, NULL);
	ck_assert_ptr_nonnull(strstr(by_disk, "<source file=\"/pool/numalab-boot-1a2b3c4d-root.qcow2\"/>\n"
					      "      <backingStore type=\"file\">\n"
					      "        <format type=\"qcow2\"/>\n"
					      "        <source file=\"/pool/numalab-disk-1\"/>\n"
					      "        <backingStore type=\"file\">\n"
					      "          <format type=\"raw\"/>\n"
					      "          <source file=\"/pool/numalab-disk-2\"/>\n"
					      "          <backingStore/>"));
}
END_TEST

static const struct {
	const char *uri;
	gboolean remote;
} uris[] = {
	{NULL, FALSE},
	{"qemu:///system", FALSE},
	{"qemu:///session", FALSE},
	{"qemu+unix:///system?socket=/run/x", FALSE},
	{"qemu:///embed?root=/x", FALSE},
	{"qemu+ssh:///system", TRUE},
	{"qemu+ssh://root@host:2222/system?keyfile=/k", TRUE},
	{"qemu+tls://host/system", TRUE},
	{"qemu://host/session", TRUE},
};

START_TEST(remote_uris)
{
	ck_assert_int_eq(lab_connect_is_remote(uris[_i].uri), uris[_i].remote);
}
END_TEST

/* Another driver is refused before anything is connected to. */
START_TEST(other_drivers)
{
	static const char *const others[] = {"xen:///system", "test:///default", "qemu:///embed?root=/x", "host", "qemu+ssh://host/"};
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lab_connect_look(others[_i], "default", LAB_CLOCK_TCG, &error));
	ck_assert_int_eq(error->code, LAB_ERROR_USER);
	ck_assert_ptr_nonnull(strstr(error->message, others[_i]));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("domain");
	TCase *tcase = tcase_create("domain");
	SRunner *runner = srunner_create(suite);

	/* libvirt looks at QEMU once, which takes some seconds when nothing is cached. */
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, xml, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tcase, daemon_domain);
	tcase_add_test(tcase, remote_domain);
	tcase_add_loop_test(tcase, remote_uris, 0, G_N_ELEMENTS(uris));
	tcase_add_loop_test(tcase, other_drivers, 0, 5);
	tcase_add_loop_test(tcase, arguments, 0, G_N_ELEMENTS(cases) - N_XML_ONLY);
	tcase_add_test(tcase, wrapper);
	tcase_add_test(tcase, seeds_differ);
	tcase_add_test(tcase, too_many_cpus);
	tcase_add_loop_test(tcase, names, 0, 3);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
