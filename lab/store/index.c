/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index: what the directories say, for queries. Nothing is only here, so whatever is wrong with
 * it is put right by throwing it away.
 */
#include <glib/gstdio.h>
#include <sqlite3.h>

#include "lab/base/error.h"
#include "lab/measure/samples.h"
#include "lab/store/internal.h"

#define INDEX_VERSION 2
#define BUSY_TIMEOUT_MS 20000

static const char schema[] =
	"CREATE TABLE runs (id INTEGER PRIMARY KEY, scenario TEXT, scenario_digest TEXT,"
	" plan_digest TEXT, clock TEXT, image_digest TEXT, prepared_digest TEXT, qemu_version TEXT,"
	" state TEXT, started_us INTEGER, ended_us INTEGER, is_aa INTEGER);"
	"CREATE TABLE boots (run INTEGER, boot TEXT, kernel TEXT, kernel_text TEXT,"
	" kernel_digest TEXT, seed TEXT, outcome TEXT, message TEXT, digest TEXT,"
	" PRIMARY KEY (run, boot)) WITHOUT ROWID;"
	"CREATE TABLE samples (run INTEGER, boot TEXT, metric TEXT, value REAL, unit TEXT,"
	" PRIMARY KEY (run, boot, metric)) WITHOUT ROWID;"
	"CREATE INDEX runs_plan ON runs (plan_digest);"
	"CREATE INDEX boots_kernel ON boots (kernel_digest);";

struct _LabIndex {
	char *path;
	sqlite3 *db;
};

typedef struct sqlite3_stmt Statement;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Statement, sqlite3_finalize)

static gboolean is_damaged(int rc)
{
	return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB ||
	       rc == SQLITE_ERROR; /* tables that are not ours */
}

static int exec(LabIndex *index, const char *sql)
{
	return sqlite3_exec(index->db, sql, NULL, NULL, NULL);
}

static int read_version(LabIndex *index, int *version)
{
	g_autoptr(Statement) statement = NULL;
	int rc = sqlite3_prepare_v2(index->db, "PRAGMA user_version", -1, &statement, NULL);

	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(statement);
	if (rc != SQLITE_ROW)
		return rc;
	*version = sqlite3_column_int(statement, 0);
	return SQLITE_OK;
}

/* A new, empty file gets the schema, also when two processes come at once. */
static int make_schema(LabIndex *index)
{
	g_autofree char *version = g_strdup_printf("PRAGMA user_version = %d", INDEX_VERSION);
	int found = 0, rc = exec(index, "BEGIN IMMEDIATE");

	if (rc != SQLITE_OK)
		return rc;
	rc = read_version(index, &found);
	if (rc == SQLITE_OK && found != INDEX_VERSION) {
		rc = exec(index, schema);
		if (rc == SQLITE_OK)
			rc = exec(index, version);
	}
	if (rc == SQLITE_OK)
		rc = exec(index, "COMMIT");
	if (rc != SQLITE_OK)
		exec(index, "ROLLBACK");
	return rc;
}

static int open_database(LabIndex *index)
{
	int version = 0;
	int rc = sqlite3_open_v2(index->path, &index->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(index->db, BUSY_TIMEOUT_MS);
	rc = read_version(index, &version);
	if (rc != SQLITE_OK || version == INDEX_VERSION)
		return rc;
	return version ? SQLITE_CORRUPT : make_schema(index);
}

static void throw_away(LabIndex *index)
{
	g_autofree char *journal = g_strconcat(index->path, "-journal", NULL);

	sqlite3_close(index->db);
	index->db = NULL;
	g_unlink(index->path);
	g_unlink(journal);
}

static gboolean fail(LabIndex *index, int rc, GError **error)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot write the index %s: %s%s",
		    index->path, sqlite3_errstr(rc),
		    (rc & 0xff) == SQLITE_FULL ? " (free some room there, or use another --store)"
					       : "");
	return FALSE;
}

typedef int (*Operation)(LabIndex *index, gpointer data);

/* Run an operation; on damage once more on a new index. */
static gboolean attempt(LabIndex *index, Operation operation, gpointer data, GError **error)
{
	int rc = operation(index, data);

	if (is_damaged(rc)) {
		throw_away(index);
		rc = open_database(index);
		if (rc == SQLITE_OK)
			rc = operation(index, data);
	}
	return rc == SQLITE_OK || fail(index, rc, error);
}

static int nothing(LabIndex *index, gpointer data)
{
	return index->db ? SQLITE_OK : SQLITE_CORRUPT;
}

LabIndex *lab_index_open(const char *path, GError **error)
{
	g_autoptr(LabIndex) index = g_new0(LabIndex, 1);
	int rc;

	index->path = g_strdup(path);
	rc = open_database(index);
	if (is_damaged(rc)) {
		throw_away(index);
		if (!attempt(index, nothing, NULL, error))
			return NULL;
	} else if (rc != SQLITE_OK) {
		fail(index, rc, error);
		return NULL;
	}
	return g_steal_pointer(&index);
}

void lab_index_free(LabIndex *index)
{
	if (!index)
		return;
	sqlite3_close(index->db);
	g_free(index->path);
	g_free(index);
}

/* Bind and execute: 't' text (NULL allowed), 'i' gint64, 'd' double, one after the other. */
static int put(LabIndex *index, const char *sql, const char *types, ...)
{
	g_autoptr(Statement) statement = NULL;
	int rc = sqlite3_prepare_v2(index->db, sql, -1, &statement, NULL);
	va_list ap;

	va_start(ap, types);
	for (int i = 1; rc == SQLITE_OK && types[i - 1]; i++)
		switch (types[i - 1]) {
		case 't':
			rc = sqlite3_bind_text(statement, i, va_arg(ap, char *), -1,
					       SQLITE_TRANSIENT);
			break;
		case 'i':
			rc = sqlite3_bind_int64(statement, i, va_arg(ap, gint64));
			break;
		case 'd':
			rc = sqlite3_bind_double(statement, i, va_arg(ap, double));
			break;
		}
	va_end(ap);
	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(statement);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int drop_rows(LabIndex *index, gint64 id)
{
	static const char *const statements[] = {
		"DELETE FROM samples WHERE run = ?",
		"DELETE FROM boots WHERE run = ?",
		"DELETE FROM runs WHERE id = ?",
	};
	int rc = SQLITE_OK;

	for (guint i = 0; rc == SQLITE_OK && i < G_N_ELEMENTS(statements); i++)
		rc = put(index, statements[i], "i", id);
	return rc;
}

static int put_boot(LabIndex *index, gint64 run, const LabBootSamples *boot)
{
	g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, boot->boot->seed);
	int rc = put(index, "INSERT INTO boots VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", "itttttttt",
		     run, boot->boot->id, boot->boot->kernel_label, boot->boot->kernel_text,
		     boot->boot->kernel_digest, seed, boot->outcome, boot->message, boot->digest);

	for (guint i = 0; rc == SQLITE_OK && boot->samples && i < boot->samples->len; i++) {
		const LabSample *sample = boot->samples->pdata[i];

		rc = put(index, "INSERT INTO samples VALUES (?, ?, ?, ?, ?)", "ittdt", run,
			 boot->boot->id, sample->metric, sample->value, sample->unit);
	}
	return rc;
}

typedef struct {
	const LabRun *run;
	const GPtrArray *boots;
} Addition;

static int put_run(LabIndex *index, const LabRun *run, const GPtrArray *boots)
{
	const LabPlan *plan = run->plan;
	int rc = drop_rows(index, run->id);

	if (rc == SQLITE_OK)
		rc = put(index, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			 "ittttttttiii", (gint64)run->id, plan->scenario_name,
			 plan->scenario_digest, plan->digest, plan->clock, plan->image_digest,
			 plan->prepared_digest, plan->qemu_version, lab_run_state_name(run->state),
			 run->started_us, run->ended_us, (gint64)plan->is_aa);
	for (guint i = 0; rc == SQLITE_OK && i < boots->len; i++)
		rc = put_boot(index, run->id, boots->pdata[i]);
	return rc;
}

static int add(LabIndex *index, gpointer data)
{
	Addition *addition = data;
	int rc = exec(index, "BEGIN IMMEDIATE");

	if (rc != SQLITE_OK)
		return rc;
	rc = put_run(index, addition->run, addition->boots);
	if (rc == SQLITE_OK)
		rc = exec(index, "COMMIT");
	if (rc != SQLITE_OK)
		exec(index, "ROLLBACK");
	return rc;
}

gboolean lab_index_add(LabIndex *index, const LabRun *run, const GPtrArray *boots, GError **error)
{
	Addition addition = {run, boots};

	return attempt(index, add, &addition, error);
}

static int drop(LabIndex *index, gpointer data)
{
	int rc = exec(index, "BEGIN IMMEDIATE");

	if (rc != SQLITE_OK)
		return rc;
	rc = drop_rows(index, *(guint *)data);
	if (rc == SQLITE_OK)
		rc = exec(index, "COMMIT");
	if (rc != SQLITE_OK)
		exec(index, "ROLLBACK");
	return rc;
}

gboolean lab_index_remove(LabIndex *index, guint id, GError **error)
{
	return attempt(index, drop, &id, error);
}

static int read_runs(LabIndex *index, gpointer data)
{
	g_autoptr(Statement) statement = NULL;
	int rc = sqlite3_prepare_v2(index->db, "SELECT id, plan_digest FROM runs", -1, &statement,
				    NULL);

	g_hash_table_remove_all(data);
	if (rc != SQLITE_OK)
		return rc;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		g_hash_table_insert(data, GUINT_TO_POINTER(sqlite3_column_int(statement, 0)),
				    g_strdup((const char *)sqlite3_column_text(statement, 1)));
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

GHashTable *lab_index_runs(LabIndex *index, GError **error)
{
	g_autoptr(GHashTable) runs = g_hash_table_new_full(NULL, NULL, NULL, g_free);

	return attempt(index, read_runs, runs, error) ? g_steal_pointer(&runs) : NULL;
}

typedef struct {
	const char *scenario_digest;
	GHashTable *runs;
} AaQuery;

static int read_aa(LabIndex *index, gpointer data)
{
	AaQuery *query = data;
	g_autoptr(Statement) statement = NULL;
	int rc = sqlite3_prepare_v2(index->db, "SELECT id, is_aa AND scenario_digest = ? FROM runs",
				    -1, &statement, NULL);

	g_hash_table_remove_all(query->runs);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(statement, 1, query->scenario_digest, -1, SQLITE_STATIC);
	if (rc != SQLITE_OK)
		return rc;
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW)
		g_hash_table_insert(query->runs, GUINT_TO_POINTER(sqlite3_column_int(statement, 0)),
				    GINT_TO_POINTER(sqlite3_column_int(statement, 1)));
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

GHashTable *lab_index_aa(LabIndex *index, const char *scenario_digest, GError **error)
{
	g_autoptr(GHashTable) runs = g_hash_table_new(NULL, NULL);
	AaQuery query = {scenario_digest, runs};

	return attempt(index, read_aa, &query, error) ? g_steal_pointer(&runs) : NULL;
}
