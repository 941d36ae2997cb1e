/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job.json, result.json, the agent's job, the agent's progress lines. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/guest/boot.h"
#include "lab/guest/job.h"
#include "lab/guest/progress.h"

static char *dir;

static void make_dir(void)
{
	dir = g_dir_make_tmp("numalab-test-job-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
}

static void remove_dir(void)
{
	lab_dir_remove(dir, NULL);
	g_free(dir);
}

static LabTopology *topology(void)
{
	g_autoptr(GError) error = NULL;
	LabTopology *t = lab_topology_load(TEST_DATA "/domain/cpuless.yaml", &error);

	ck_assert_msg(t != NULL, "%s", error ? error->message : "no error set");
	return t;
}

static LabBootJob *new_job(void)
{
	LabBootJob *job = g_new0(LabBootJob, 1);

	job->id = g_strdup("6.1.192-s1");
	job->topology = topology();
	job->clock = LAB_CLOCK_TCG;
	job->boot = LAB_BOOT_DISK;
	job->disk_path = g_strdup("/d");
	job->disk_digest = g_strdup("dd");
	job->disk_bootloader = g_strdup("none");
	job->disk_cache = g_strdup("writeback");
	job->disk_io = g_strdup("threads");
	job->disk_root = g_strdup("UUID=1");
	job->agent_job_path = g_strdup("/j");
	job->agent_job_digest = g_strdup("jd");
	job->async_pf = LAB_ASYNC_PF_INT_ONLY;
	job->pin.cpus = g_strdup("2,3");
	job->pin.hugepage_bytes = 2 << 20;
	job->memory_max_bytes = 8;
	job->seed = G_MAXUINT64;
	job->kernel_path = g_strdup("/k");
	job->kernel_digest = g_strdup("kd");
	job->kernel_release = g_strdup("6.1.0-57-amd64");
	job->kernel_text = g_strdup("debian:bookworm \"x\"");
	job->initrd_path = g_strdup("initrd");
	job->initrd_digest = g_strdup("id");
	job->console_quiet = TRUE;
	job->image_path = g_strdup("/i");
	job->image_digest = g_strdup("imd");
	job->image_type = g_strdup("erofs");
	job->image_bytes = 1;
	job->scratch_bytes = 2;
	job->scratch_keep = TRUE;
	job->files_path = g_strdup("/f");
	job->files_digest = g_strdup("fd");
	job->files_bytes = 4;
	job->results_bytes = 3;
	job->deadlines = (LabDeadlines){4, 5, 6, G_MAXINT64};
	job->n_steps = 7;
	job->emulator = g_strdup("/usr/bin/qemu-system-x86_64");
	job->emulator_version = g_strdup("10.0.2");
	return job;
}

START_TEST(job_round_trip)
{
	g_autoptr(LabBootJob) job = new_job(), read = NULL;
	g_autofree char *path = g_build_filename(dir, "job.json", NULL);
	g_autofree char *first = NULL, *second = NULL, *digest = NULL, *read_digest = NULL;
	g_autoptr(GError) error = NULL;

	ck_assert(lab_boot_job_write(job, dir, NULL));
	first = lab_file_read(path, NULL, NULL);
	read = lab_boot_job_read(dir, &error);
	ck_assert_msg(read != NULL, "%s", error ? error->message : "no error set");
	ck_assert_int_eq(read->clock, LAB_CLOCK_TCG);
	ck_assert_int_eq(read->async_pf, LAB_ASYNC_PF_INT_ONLY);
	ck_assert_uint_eq(read->memory_max_bytes, 8);
	ck_assert_str_eq(read->pin.cpus, "2,3");
	ck_assert_ptr_null(read->pin.nodes);
	ck_assert_uint_eq(read->pin.hugepage_bytes, 2 << 20);
	ck_assert(read->seed == G_MAXUINT64 && read->deadlines.power_off_ns == G_MAXINT64);
	ck_assert_ptr_null(read->kernel_label);
	ck_assert_str_eq(read->kernel_text, "debian:bookworm \"x\"");
	ck_assert_str_eq(read->topology->canonical, job->topology->canonical);
	ck_assert(read->scratch_keep && read->console_quiet && read->n_steps == 7);
	ck_assert(lab_boot_job_write(read, dir, NULL));
	second = lab_file_read(path, NULL, NULL);
	ck_assert_str_eq(first, second);
	digest = lab_boot_job_digest(job);
	read_digest = lab_boot_job_digest(read);
	ck_assert_str_eq(digest, read_digest);
}
END_TEST

#define SET_TEXT(member, value) (g_free(job->member), job->member = g_strdup(value))

/* What decides the guest's bytes decides the digest; nothing else does. */
START_TEST(job_digest)
{
	g_autoptr(LabBootJob) job = new_job();
	g_autofree char *before = lab_boot_job_digest(job), *after = NULL;
	gboolean changes = TRUE;

	switch (_i) {
	case 0:
		job->seed = 1;
		break;
	case 1:
		job->clock = LAB_CLOCK_EXACT;
		break;
	case 2:
		SET_TEXT(kernel_digest, "other");
		break;
	case 3:
		SET_TEXT(initrd_digest, "other");
		break;
	case 4:
		SET_TEXT(cmdline_extra, "a=b");
		break;
	case 5:
		job->console_quiet = FALSE;
		break;
	case 6:
		SET_TEXT(image_digest, "other");
		break;
	case 7:
		SET_TEXT(scratch_digest, "other");
		break;
	case 8:
		job->scratch_bytes++;
		break;
	case 9:
		job->results_bytes++;
		break;
	case 10:
		SET_TEXT(emulator_version, "10.1.0");
		break;
	case 11:
		SET_TEXT(files_digest, "other");
		break;
	case 12:
		job->files_bytes++;
		break;
	case 13:
		SET_TEXT(cpu_model, "host");
		break;
	case 14:
		job->async_pf = LAB_ASYNC_PF_ON;
		break;
	case 15:
		job->memory_high_bytes = 9;
		break;
	case 16:
		job->pmu = TRUE;
		break;
	case 17:
		job->invtsc = TRUE;
		break;
	case 18:
		SET_TEXT(pin.cpus, "2,4");
		break;
	case 19:
		SET_TEXT(pin.emulator, "0");
		break;
	case 20:
		SET_TEXT(pin.nodes, "0,0");
		break;
	case 21:
		job->pin.hugepage_bytes = 1 << 30;
		break;
	case 28:
		SET_TEXT(more_scratch, "5 7");
		break;
	case 22:
		job->boot = LAB_BOOT_DIRECT;
		break;
	case 23:
		SET_TEXT(disk_digest, "other");
		break;
	case 24:
		SET_TEXT(disk_cache, "none");
		break;
	case 25:
		SET_TEXT(disk_io, "io_uring");
		break;
	case 26:
		SET_TEXT(agent_job_digest, "other");
		break;
	case 27:
		SET_TEXT(disk_bootloader, "grub");
		break;
	default:
		changes = FALSE;
	}
	if (!changes) {
		SET_TEXT(id, "other");
		SET_TEXT(kernel_path, "/other");
		SET_TEXT(kernel_label, "other");
		SET_TEXT(kernel_text, "other");
		SET_TEXT(initrd_path, "other");
		SET_TEXT(image_path, "/other");
		SET_TEXT(disk_path, "/other");
		SET_TEXT(agent_job_path, "/other");
		SET_TEXT(files_path, "/other");
		SET_TEXT(emulator, "/other");
		job->deadlines.step_ns++;
		job->n_steps++;
	}
	after = lab_boot_job_digest(job);
	ck_assert_int_eq(strcmp(before, after) != 0, changes);
}
END_TEST

static const struct {
	const char *from, *to, *message;
} bad_jobs[] = {
	{"{", "[", "job.json: wanted a JSON object"},
	{"\"seed\" : -1", "\"seed\" : \"1\"", "wanted 'seed' with a number, found String"},
	{"\"n_steps\" : 7", "\"n_steps\" : -7", "wanted 'n_steps' with a number from 0"},
	{"\"kernel_path\"", "\"kernelpath\"",
	 "wanted 'kernel_path' with a string, found no such member"},
	{"\"console_quiet\" : true", "\"console_quiet\" : 1",
	 "wanted 'console_quiet' with true or false"},
	{"\"tcg\"", "\"kvn\"", "wanted 'clock' with exact, tcg or kvm, found 'kvn'"},
	{"\"boot\" : \"disk\"", "\"boot\" : \"disc\"", "wanted 'boot' with direct or disk, found 'disc'"},
	{"\"int-only\"", "\"maybe\"",
	 "wanted 'async_pf' with default, on, off or int-only, found 'maybe'"},
	{"\"deadlines\"", "\"deadline\"", "wanted 'deadlines' with an object"},
	{"\"first_output_ns\" : 4", "\"first_output_ns\" : null",
	 "wanted 'first_output_ns' with a number"},
	{"\\\"vnuma\\\"", "\\\"other\\\"", "topology"},
};

START_TEST(bad_job)
{
	g_autoptr(LabBootJob) job = new_job(), read = NULL;
	g_autofree char *path = g_build_filename(dir, "job.json", NULL), *text = NULL;
	g_autoptr(GString) s = NULL;
	g_autoptr(GError) error = NULL;

	ck_assert(lab_boot_job_write(job, dir, NULL));
	text = lab_file_read(path, NULL, NULL);
	s = g_string_new(text);
	ck_assert_uint_ge(g_string_replace(s, bad_jobs[_i].from, bad_jobs[_i].to, 1), 1);
	ck_assert(lab_file_write(path, s->str, -1, NULL));
	read = lab_boot_job_read(dir, &error);
	ck_assert_ptr_null(read);
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	ck_assert_msg(strstr(error->message, bad_jobs[_i].message) != NULL, "%s", error->message);
	ck_assert(g_str_has_prefix(error->message, path));
}
END_TEST

START_TEST(result_round_trip)
{
	g_autoptr(LabBootResult) result = g_new0(LabBootResult, 1), read = NULL;
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lab_boot_result_read(dir, &error));
	ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
	g_clear_error(&error);
	result->outcome = LAB_OUTCOME_STEP;
	result->stage = g_strdup("xfsrepair");
	result->message = g_strdup("step xfsrepair: exit status 3");
	result->evidence = g_strdup("two\nlines \\x1b \xc3\xa9\n");
	result->host_us = 123;
	result->stage_us[4] = 99;
	ck_assert(lab_boot_result_write(result, dir, NULL));
	read = lab_boot_result_read(dir, &error);
	ck_assert_msg(read != NULL, "%s", error ? error->message : "no error set");
	ck_assert_int_eq(read->outcome, LAB_OUTCOME_STEP);
	ck_assert_str_eq(read->stage, result->stage);
	ck_assert_str_eq(read->message, result->message);
	ck_assert_str_eq(read->evidence, result->evidence);
	ck_assert_str_eq(read->digest, "");
	ck_assert(read->host_us == 123 && read->stage_us[4] == 99 && read->stage_us[0] == 0);
}
END_TEST

static LabStep *new_step(const char *name, LabStepKind kind, gboolean measure, guint64 timeout_ns,
			 const char *const *argv)
{
	LabStep *step = g_new0(LabStep, 1);

	step->name = (char *)name;
	step->kind = kind;
	step->measure = measure;
	step->timeout_ns = timeout_ns;
	step->argv = (char **)argv;
	return step;
}

START_TEST(agent_job)
{
	static const char *const exec[] = {"sh", "-c", "echo 100% \xc3\xa9\n", "", NULL};
	static const char *const mount[] = {"/dev/scratch", "/mnt/scratch", "xfs", "", NULL};
	static const char *const modules[] = {"/numalab/modules/nfit.ko",
					      "/numalab/modules/kvm-amd.ko", NULL};
	static char *wanted[] = {(char *)"loop", (char *)"kvm_amd", NULL};
	static char *const paths[] = {"/sys/a b", "/proc/c", NULL};
	LabSetting setting = {"numa_balancing.scan_delay_ms", "50", (char **)paths};
	g_autoptr(GPtrArray) prepare = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) steps = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) settings = g_ptr_array_new();
	const GPtrArray *phases[] = {prepare, steps};
	g_autoptr(LabTopology) t = topology();
	LabScenario scenario = {.topology = t,
				.numa_balancing = 1,
				.settings = settings,
				.modules = wanted,
				.async_pf = LAB_ASYNC_PF_INT_ONLY,
				.settle_ns = 5,
				.deadlines = {.step_ns = 1800}};
	LabAgentJob job = {.scenario = &scenario,
			   .release = "6.1.0-57-amd64",
			   .build_id = "ab12",
			   .uses_async_pf = TRUE,
			   .modules = modules,
			   .image_bytes = 1,
			   .scratch_bytes = 2,
			   .files_bytes = 4,
			   .results_bytes = 3,
			   .image_type = "erofs",
			   .phases = phases,
			   .n_phases = 2};
	g_autofree char *text = NULL;

	g_ptr_array_add(settings, &setting);
	g_ptr_array_add(prepare, new_step("mount", LAB_STEP_MOUNT, FALSE, 0, mount));
	g_ptr_array_add(steps, new_step("run", LAB_STEP_EXEC, TRUE, 77, exec));
	g_ptr_array_add(steps, new_step("drop", LAB_STEP_DROP_CACHES, FALSE, 0, NULL));
	((LabStep *)steps->pdata[0])->oom_kills_allowed = TRUE;
	text = lab_agent_job_text(&job);
	ck_assert_str_eq(text, "numalab-job 1\n"
			       "release 6.1.0-57-amd64\n"
			       "build-id ab12\n"
			       "kind vnuma\n"
			       "node 0 0-1 536870912\n"
			       "node 1 % 2147483648\n"
			       "distance 0 10 30\n"
			       "distance 1 30 10\n"
			       "numa-balancing 1\n"
			       "kvm-features 16400 16384\n"
			       "async-pf-msr 9 9\n"
			       "module /numalab/modules/nfit.ko\n"
			       "module /numalab/modules/kvm-amd.ko wanted\n"
			       "image-bytes 1\n"
			       "image-type erofs\n"
			       "scratch-bytes 2\n"
			       "files-bytes 4\n"
			       "results-bytes 3\n"
			       "setting numa_balancing.scan_delay_ms 50 /sys/a%20b /proc/c\n"
			       "settle-ns 5\n"
			       "step mount 0 1800 mount /dev/scratch /mnt/scratch xfs %\n"
			       "step run 1 77 exec sh -c echo%20100%25%20%C3%A9%0A %\n"
			       "oom-kills-allowed run\n"
			       "step drop 0 1800 drop_caches\n"
			       "end\n");
}
END_TEST

/* What a kernel that does not use them is asked: only that it does not. */
static const struct {
	LabAsyncPf async_pf;
	gboolean used;
	const char *line; /* NULL: nothing is asked */
} msr_lines[] = {
	{LAB_ASYNC_PF_DEFAULT, TRUE, NULL},
	{LAB_ASYNC_PF_OFF, TRUE, "\nasync-pf-msr 9 0\n"},
	{LAB_ASYNC_PF_OFF, FALSE, "\nasync-pf-msr 1 0\n"},
	{LAB_ASYNC_PF_ON, TRUE, "\nasync-pf-msr 9 9\n"},
	{LAB_ASYNC_PF_ON, FALSE, NULL},
	{LAB_ASYNC_PF_INT_ONLY, FALSE, NULL},
};

START_TEST(async_pf_msr)
{
	static char *none[] = {NULL};
	g_autoptr(GPtrArray) settings = g_ptr_array_new();
	g_autoptr(LabTopology) t = topology();
	LabScenario scenario = {.topology = t,
				.settings = settings,
				.modules = none,
				.async_pf = msr_lines[_i].async_pf};
	LabAgentJob job = {.scenario = &scenario,
			   .release = "6.1.0",
			   .image_type = "erofs",
			   .uses_async_pf = msr_lines[_i].used};
	g_autofree char *text = lab_agent_job_text(&job);

	ck_assert_int_eq(strstr(text, "async-pf-msr") != NULL, msr_lines[_i].line != NULL);
	if (msr_lines[_i].line)
		ck_assert_ptr_nonnull(strstr(text, msr_lines[_i].line));
}
END_TEST

static const struct {
	const char *body; /* gets its head here; or, with '!', is the whole line */
	int word;	  /* < 0: refused */
	guint step, n_steps;
	const char *name;
} lines[] = {
	{"agent 0.1.0", LAB_PROGRESS_AGENT},
	{"start", LAB_PROGRESS_START},
	{"verified", LAB_PROGRESS_VERIFIED},
	{"step 1 7 mkfs", LAB_PROGRESS_STEP, 1, 7, "mkfs"},
	{"step-end 7 7 xfs_repair", LAB_PROGRESS_STEP_END, 7, 7, "xfs_repair"},
	{"end", LAB_PROGRESS_END},
	{"fail step step%20x:%20exit%203", LAB_PROGRESS_FAIL},
	{"step 8 7 mkfs", -1},
	{"step 0 7 mkfs", -1},
	{"step 1 7", -1},
	{"step 1 7 mkfs more", -1},
	{"step 1 7 ../etc", -1},
	{"step 1 7 \033[2J", -1},
	{"step -1 7 mkfs", -1},
	{"step 1 99999999999 mkfs", -1},
	{"other", -1},
	{"", -1},
	{"!nl1 0 00000000 start", -1},
	{"!nl1 0", -1},
	{"!nl2 0 fb5f4271 start", -1},
	{"!", -1},
	{"![    1.0] nl1 printk in between", -1},
};

START_TEST(progress)
{
	const char *body = lines[_i].body;
	g_autofree char *text =
		*body == '!' ? g_strdup(body + 1)
			     : g_strdup_printf("nl1 12 %08lx %s",
					       crc32_z(0, (const Bytef *)body, strlen(body)), body);
	LabProgressLine line = {.word = LAB_PROGRESS_END, .step = 99};
	gboolean ok = lab_progress_parse(text, strlen(text), &line);

	ck_assert_int_eq(ok, lines[_i].word >= 0);
	if (!ok) {
		ck_assert(line.word == LAB_PROGRESS_END && line.step == 99 && !*line.name);
		return;
	}
	ck_assert_int_eq(line.word, lines[_i].word);
	ck_assert_uint_eq(line.step, lines[_i].step);
	ck_assert_uint_eq(line.n_steps, lines[_i].n_steps);
	ck_assert_str_eq(line.name, lines[_i].name ? lines[_i].name : "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("boot job");
	TCase *files = tcase_create("files"), *texts = tcase_create("texts");
	SRunner *runner = srunner_create(suite);

	tcase_add_unchecked_fixture(files, make_dir, remove_dir);
	tcase_add_test(files, job_round_trip);
	tcase_add_loop_test(files, bad_job, 0, G_N_ELEMENTS(bad_jobs));
	tcase_add_test(files, result_round_trip);
	tcase_add_loop_test(texts, job_digest, 0, 30);
	tcase_add_test(texts, agent_job);
	tcase_add_loop_test(texts, async_pf_msr, 0, G_N_ELEMENTS(msr_lines));
	tcase_add_loop_test(texts, progress, 0, G_N_ELEMENTS(lines));
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, texts);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
