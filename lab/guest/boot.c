// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/boot.h"

#include <libvirt/libvirt.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"
#include "lab/guest/async_pf.h"
#include "lab/guest/boot_files.h"
#include "lab/guest/connect.h"
#include "lab/guest/cpu_features.h"
#include "lab/guest/domain.h"
#include "lab/guest/embed.h"
#include "lab/guest/evidence.h"
#include "lab/guest/host_state.h"
#include "lab/guest/outcome.h"
#include "lab/guest/placement.h"
#include "lab/guest/pressure.h"
#include "lab/guest/remote.h"
#include "lab/guest/watch.h"

#define WRAPPER "numalab-emulator"
/* A daemon that says nothing for this long, several times, is gone. */
#define KEEPALIVE_S 10
#define KEEPALIVE_COUNT 12

enum { STAGE_STARTED, STAGE_FIRST_OUTPUT, STAGE_AGENT, STAGE_STEPS_END, STAGE_GONE };

typedef struct {
	const LabGuard *guard;
	const char *dir;
	const LabBootJob *job;
	GCancellable *cancellable; /* (nullable) */
	LabRemote *remote;	   /* (nullable): on this host */
	LabBootJob *there;	   /* (nullable): @job with the paths of the remote host */
	LabWatch *watch;
	LabEmbed *embed;
	LabDomainHost host;
	char **models; /* of host */
	virDomainPtr domain;
	int callback;
	int resumed; /* atomic: from now on a guest that is paused was stopped by QEMU */
	LabAsyncPfCounter *counter;
	LabBootResult *result;
} Boot;

static gboolean is_paused(virDomainPtr domain)
{
	int state;

	return virDomainGetState(domain, &state, NULL, 0) == 0 && state == VIR_DOMAIN_PAUSED;
}

static int on_lifecycle(virConnectPtr connection, virDomainPtr domain, int event, int detail,
			void *data)
{
	Boot *boot = data;

	if (event == VIR_DOMAIN_EVENT_STOPPED)
		lab_watch_stopped(boot->watch, detail);
	/* The event of a start in pause may come after the guest was resumed. */
	if (event == VIR_DOMAIN_EVENT_SUSPENDED && g_atomic_int_get(&boot->resumed) &&
	    is_paused(domain))
		lab_watch_paused(boot->watch);
	return 0;
}

static void on_close(virConnectPtr connection, int reason, void *data)
{
	Boot *boot = data;

	lab_watch_lost(boot->watch);
}

static gint64 since_start(const Boot *boot, gint64 us)
{
	return us ? us - boot->guard->start_us : 0;
}

static gboolean check_version(const Boot *boot, GError **error)
{
	if (!g_strcmp0(boot->result->host_qemu_version, boot->job->emulator_version))
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "the job is for QEMU %s, but %s is version %s", boot->job->emulator_version,
		    boot->job->emulator, boot->result->host_qemu_version);
	return FALSE;
}

/* The domain could not be started: a result like any other, with QEMU's own words. */
static void start_failed(Boot *boot, const char *name)
{
	g_autofree char *log = lab_embed_log(boot->embed, name);
	g_autoptr(GError) local = NULL;

	lab_embed_set_error(&local, "QEMU did not start");
	boot->result->outcome = LAB_OUTCOME_INFRA;
	boot->result->digest = g_strdup("");
	boot->result->stage = g_strdup(lab_stage_name(LAB_STAGE_START, NULL));
	boot->result->message = lab_evidence_lines(local->message, strlen(local->message), 1);
	g_strchomp(boot->result->message);
	boot->result->evidence = lab_evidence_lines(log, strlen(log), 10);
}

/* Events, and word from a daemon that has gone away. */
static gboolean listen_to(Boot *boot, GError **error)
{
	virConnectPtr connection = lab_embed_connection(boot->embed);

	boot->callback = virConnectDomainEventRegisterAny(
		connection, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE,
		VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle), boot, NULL);
	if (boot->callback < 0 ||
	    (boot->host.daemon &&
	     (virConnectRegisterCloseCallback(connection, on_close, boot, NULL) < 0 ||
	      virConnectSetKeepAlive(connection, KEEPALIVE_S, KEEPALIVE_COUNT) < 0))) {
		lab_embed_set_error(error, "cannot listen to libvirt's events");
		return FALSE;
	}
	return TRUE;
}

static gboolean open_remote(Boot *boot, GError **error)
{
	if (!lab_connect_is_remote(boot->job->connect))
		return TRUE;
	boot->remote = lab_remote_open(lab_embed_connection(boot->embed), boot->job->pool, error);
	if (!boot->remote)
		return FALSE;
	boot->host.emulator = NULL;
	boot->there =
		lab_remote_send(boot->remote, boot->dir, &boot->host, boot->cancellable, error);
	return boot->there != NULL;
}

static gboolean open_libvirt(Boot *boot, const char *wrapper, GError **error)
{
	const char *uri = boot->job->connect;

	boot->embed = lab_embed_open(boot->guard->root, uri, wrapper, boot->job->emulator, error);
	if (!boot->embed)
		return FALSE;
	boot->models = lab_embed_models(boot->embed);
	boot->host = (LabDomainHost){.emulator = wrapper,
				     .guard_pid = uri ? 0 : boot->guard->pid,
				     .daemon = uri != NULL,
				     .models = (const char *const *)boot->models};
	boot->result->host_qemu_version = lab_embed_qemu_version(boot->embed);
	return check_version(boot, error) && listen_to(boot, error) && open_remote(boot, error);
}

/* No result: what became of the guest is not known. */
static gboolean lost(const LabBootJob *job, GError **error)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: the connection was lost",
		    job->connect ? job->connect : "libvirt");
	return FALSE;
}

static gboolean resume(Boot *boot, GError **error)
{
	if (virDomainResume(boot->domain) < 0) {
		lab_embed_set_error(error, "cannot start the guest's CPUs");
		return FALSE;
	}
	g_atomic_int_set(&boot->resumed, TRUE);
	if (is_paused(boot->domain))
		lab_watch_paused(boot->watch);
	return TRUE;
}

/* QEMU is there and its CPUs have not run yet: what the host does to a guest under KVM is set up now. */
static gboolean set_up_kvm(Boot *boot, pid_t qemu, GError **error)
{
	const LabBootJob *job = boot->job;
	LabBootResult *result = boot->result;
	g_autofree char *why = NULL;

	if (!lab_async_pf_read_back(boot->domain, job->async_pf, &result->async_pf, error) ||
	    !lab_cpu_features_read_back(boot->domain, job, &result->cpu_features,
					&result->kvm_features, error))
		return FALSE;
	if (boot->remote)
		return lab_placement_ask(boot->domain, &job->pin, &result->placement, error);
	if (!lab_placement_read_back(boot->domain, &job->pin, qemu, &result->placement, error) ||
	    !lab_pressure_apply(job, boot->dir, qemu, boot->guard->pid, error))
		return FALSE;
	boot->counter = lab_async_pf_count(qemu, &why);
	if (why)
		g_message("asynchronous page faults are not counted: %s", why);
	return TRUE;
}

/* Of another host only libvirt can tell. */
static pid_t keep_arguments(const Boot *boot, const char *name, const char *xml)
{
	g_autofree char *path = lab_embed_pid_path(boot->embed, name);
	pid_t qemu = boot->remote ? -1 : lab_boot_files_pid(path);

	if (boot->remote)
		lab_remote_arguments(boot->remote, xml, boot->dir);
	else
		lab_boot_files_arguments(boot->dir, qemu);
	return qemu;
}

static gboolean start(Boot *boot, const char *wrapper, GError **error)
{
	gboolean kvm = boot->job->clock == LAB_CLOCK_KVM;
	g_autofree char *path = g_build_filename(boot->dir, "domain.xml", NULL);
	g_autofree char *xml = NULL, *name = NULL;
	unsigned flags = 0;
	pid_t qemu;

	if (!open_libvirt(boot, wrapper, error))
		return FALSE;
	if (kvm)
		flags |= VIR_DOMAIN_START_PAUSED;
	/* Of a daemon the guard is no parent: the guest goes when this process's connection does. */
	if (boot->host.daemon)
		flags |= VIR_DOMAIN_START_AUTODESTROY;
	name = lab_domain_name(boot->job, &boot->host);
	xml = lab_domain_xml(boot->there ? boot->there : boot->job, boot->dir, &boot->host, error);
	if (!xml || !g_file_set_contents(path, xml, -1, error))
		return FALSE;
	boot->domain = virDomainCreateXML(lab_embed_connection(boot->embed), xml, flags);
	lab_embed_keep_capabilities(boot->embed);
	if (!boot->domain) {
		if (virConnectIsAlive(lab_embed_connection(boot->embed)) != 1)
			return lost(boot->job, error);
		start_failed(boot, name);
		return TRUE;
	}
	boot->result->stage_us[STAGE_STARTED] = since_start(boot, g_get_monotonic_time());
	qemu = keep_arguments(boot, name, xml);
	return (!boot->remote || lab_remote_listen(boot->remote, boot->dir, error)) &&
	       (!kvm || set_up_kvm(boot, qemu, error)) &&
	       (!(flags & VIR_DOMAIN_START_PAUSED) || resume(boot, error));
}

/* Blocks until the guest is gone. */
static void wait_end(Boot *boot, LabWatchReport *report)
{
	LabBootResult *result = boot->result;

	lab_watch_run(boot->watch, report);
	if (report->end == LAB_WATCH_DEADLINE || report->end == LAB_WATCH_CANCELLED ||
	    report->end == LAB_WATCH_PAUSED)
		virDomainDestroy(boot->domain);
	if (boot->counter)
		lab_async_pf_counted(boot->counter, result->async_pf_counts);
	result->stage_us[STAGE_GONE] = since_start(boot, g_get_monotonic_time());
	result->stage_us[STAGE_FIRST_OUTPUT] = since_start(boot, report->first_output_us);
	result->stage_us[STAGE_AGENT] = since_start(boot, report->agent_us);
	result->stage_us[STAGE_STEPS_END] = since_start(boot, report->steps_end_us);
}

static gboolean judge(Boot *boot, const LabWatchReport *report, GError **error)
{
	g_autofree char *name = lab_domain_name(boot->job, &boot->host);
	g_autofree char *log = lab_embed_log(boot->embed, name), *console = NULL;
	g_autoptr(LabRecords) records = NULL;
	LabOutcomeFacts facts = {.watch = report,
				 .qemu_log = log,
				 .host_oom_kills =
					 lab_pressure_oom_kills(boot->job, boot->guard->pid)};

	if (boot->remote && !lab_remote_collect(boot->remote, boot->job, boot->dir, error))
		return FALSE;
	if (report->end == LAB_WATCH_GONE && !lab_boot_files_check_room(boot->dir, error))
		return FALSE;
	if (!lab_boot_files_collect(boot->job, boot->dir, &records, &console, &facts.console_length,
				    error))
		return FALSE;
	facts.records = records;
	facts.console = console;
	lab_outcome_decide(&facts, boot->result);
	if (boot->remote && boot->job->boot == LAB_BOOT_DISK &&
	    boot->result->outcome != LAB_OUTCOME_OK &&
	    !lab_remote_collect_disk(boot->remote, boot->dir, error))
		return FALSE;
	if (boot->result->outcome == LAB_OUTCOME_OK)
		boot->result->digest = lab_boot_files_digest(boot->dir, error);
	else
		boot->result->digest = g_strdup("");
	return boot->result->digest != NULL;
}

static void boot_clear(Boot *boot)
{
	if (boot->domain)
		virDomainFree(boot->domain);
	lab_remote_free(boot->remote);
	if (boot->embed && boot->callback >= 0) {
		virConnectDomainEventDeregisterAny(lab_embed_connection(boot->embed),
						   boot->callback);
		virConnectUnregisterCloseCallback(lab_embed_connection(boot->embed), on_close);
	}
	/* Ends the thread that the callback runs in: only then may the watch go. */
	lab_embed_close(boot->embed);
	lab_watch_free(boot->watch);
	lab_async_pf_counter_free(boot->counter);
	lab_boot_result_free(boot->result);
	lab_boot_job_free(boot->there);
	g_strfreev(boot->models);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Boot, boot_clear)

static gboolean is_interrupted(GCancellable *cancellable, GError **error)
{
	if (!g_cancellable_is_cancelled(cancellable))
		return FALSE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INTERRUPTED, "interrupted");
	return TRUE;
}

/* Before there is a QEMU of ours. */
static gboolean record_host(const LabBootJob *job, const char *dir, GError **error)
{
	g_autoptr(LabHostState) state = NULL;

	if (job->clock != LAB_CLOCK_KVM || lab_connect_is_remote(job->connect))
		return TRUE;
	state = lab_host_state_read("");
	return lab_host_state_write(state, dir, error);
}

static LabBootResult *run_job(const LabGuard *guard, const char *dir, const LabBootJob *job,
			      LabBootProgress progress, gpointer data, GCancellable *cancellable,
			      GError **error)
{
	g_auto(Boot) boot = {
		.guard = guard, .dir = dir, .job = job, .cancellable = cancellable, .callback = -1};
	g_autofree char *wrapper = lab_path_helper(WRAPPER);
	LabWatchReport report;

	boot.result = g_new0(LabBootResult, 1);
	for (guint i = 0; i < LAB_ASYNC_PF_N_COUNTS; i++)
		boot.result->async_pf_counts[i] = -1;
	boot.result->job_digest = lab_boot_job_digest(job);
	if (!lab_boot_files_prepare(job, dir, error) || !record_host(job, dir, error) ||
	    !(boot.watch = lab_watch_new(job, dir, progress, data, cancellable, error)) ||
	    !start(&boot, wrapper, error))
		return NULL;
	if (boot.domain) {
		wait_end(&boot, &report);
		if (is_interrupted(cancellable, error) ||
		    (report.end == LAB_WATCH_LOST && !lost(job, error)) ||
		    !judge(&boot, &report, error))
			return NULL;
	}
	boot.result->host_us = since_start(&boot, g_get_monotonic_time());
	if (!lab_boot_result_write(boot.result, dir, error))
		return NULL;
	return g_steal_pointer(&boot.result);
}

LabBootResult *lab_boot_run(const LabGuard *guard, const char *dir, LabBootProgress progress,
			    gpointer data, GCancellable *cancellable, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(dir, NULL);
	g_autofree char *path = g_build_filename(absolute, "job.json", NULL);
	g_autoptr(LabBootJob) job = lab_boot_job_read(absolute, error);
	g_autoptr(GError) local = NULL;
	LabBootResult *result;
	int lock;

	if (!job)
		return NULL;
	lock = lab_file_lock(path, FALSE, &local);
	if (lock < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: %s", absolute,
			    g_error_matches(local, G_FILE_ERROR, G_FILE_ERROR_AGAIN)
				    ? "another process boots it"
				    : local->message);
		return NULL;
	}
	result = run_job(guard, absolute, job, progress, data, cancellable, error);
	close(lock);
	return result;
}
