/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * YAML with positions: a file -> a tree of nodes that know where they were written -> values, by a
 * table of the keys that may be there. Private to lab/spec. Every error is LAB_ERROR_USER
 * "path:line:column: wanted X, found Y", the first only.
 *
 * Scalars are text; what a text means is decided by the field that reads it, so `on`, `1.0` and
 * `2026-10-08` have no type of their own. Refused: tags, keys that are not text, the same key
 * twice, a second document, bytes that are no UTF-8. Aliases are copied. Bounded:
 * LAB_YAML_MAX_BYTES, _MAX_DEPTH,
 * _MAX_NODES (after copying of aliases), _MAX_MEMBERS of one mapping.
 */
#pragma once
#include <glib.h>

#include "lab/base/error.h"

#define LAB_YAML_MAX_BYTES (1u << 20)
#define LAB_YAML_MAX_DEPTH 32
#define LAB_YAML_MAX_NODES 100000
#define LAB_YAML_MAX_MEMBERS 1000

typedef enum { LAB_YAML_SCALAR, LAB_YAML_LIST, LAB_YAML_MAP } LabYamlKind;

/**
 * struct LabYamlNode - one value
 * @origin: where it starts; its path is interned, so it outlives the tree. Of an empty value: where
 * its key is
 * @key, @key_origin: of a member of a map; else NULL
 * @text:   SCALAR: never NULL, may be ""
 * @quoted: SCALAR: was in quotes or a block ("" is then a text, else it is nothing)
 * @children: LIST and MAP: of LabYamlNode, in the order written
 */
typedef struct {
	LabYamlKind kind;
	LabOrigin origin;
	char *key;
	LabOrigin key_origin;
	char *text;
	gboolean quoted;
	GPtrArray *children;
} LabYamlNode;

/**
 * lab_yaml_load() - read a file
 * @what: of what, for errors: "a topology"
 *
 * Only regular files are read: a missing file, a directory or a device is an error "path: wanted a
 * topology file, found ...".
 * @text: (out) (optional): content of the file; free with g_free()
 * Return: the root, free with lab_yaml_free(). An empty file is an error.
 */
LabYamlNode *lab_yaml_load(const char *path, const char *what, char **text, GError **error);

/** lab_yaml_parse() - as lab_yaml_load(), from @length bytes (-1: NUL-terminated); @path is what
 * errors start with */
LabYamlNode *lab_yaml_parse(const char *text, gssize length, const char *path, GError **error);

/** lab_yaml_new() - an empty node of @kind */
LabYamlNode *lab_yaml_new(LabYamlKind kind, const LabOrigin *origin);
void lab_yaml_free(LabYamlNode *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabYamlNode, lab_yaml_free)

/** lab_yaml_get() - member of a MAP, or NULL */
LabYamlNode *lab_yaml_get(const LabYamlNode *map, const char *key);
/** lab_yaml_take_away() - of a MAP, the member @key; nothing when it is not there */
void lab_yaml_take_away(LabYamlNode *map, const char *key);
/** lab_yaml_put() - add to a MAP, or replace there, the member @key by @value, which is taken */
void lab_yaml_put(LabYamlNode *map, const char *key, LabYamlNode *value);
/** lab_yaml_origin() - of member @key where it is there, else of @map */
const LabOrigin *lab_yaml_origin(const LabYamlNode *map, const char *key);

/** lab_yaml_found() - how an error names a node: "'text'", "nothing", "a list", "a mapping". Free
 * with g_free(). */
char *lab_yaml_found(const LabYamlNode *node);
/**
 * lab_yaml_escape() - text for an error: one line of UTF-8, whatever @text holds
 * @max: characters after which it is cut ("...")
 *
 * Free with g_free().
 */
char *lab_yaml_escape(const char *text, guint max);
/** lab_yaml_quote() - escaped, in quotes, cut when long. Free with g_free(). */
char *lab_yaml_quote(const char *text);
/** lab_yaml_is_plain() - does an error show it as it is? */
gboolean lab_yaml_is_plain(const char *text);
/** lab_yaml_fail() - set "origin: wanted WANTED, found <node>"; return FALSE */
gboolean lab_yaml_fail(const LabYamlNode *node, GError **error, const char *wanted, ...)
	G_GNUC_PRINTF(3, 4);

/** enum LabYamlType - how a field is read, and the C type it is stored as. Texts and nodes are
 * borrowed from the tree. */
typedef enum {
	LAB_YAML_TEXT,	   /* const char *; not empty */
	LAB_YAML_UINT,	   /* guint64, min to max (max 0: no limit) */
	LAB_YAML_BYTES,	   /* guint64 */
	LAB_YAML_DURATION, /* guint64, nanoseconds */
	LAB_YAML_BOOL,	   /* gboolean; true or false */
	LAB_YAML_WORD,	   /* guint: index in words */
	LAB_YAML_TEXTS,	   /* const GPtrArray * of LabYamlNode, each a text that is not empty */
	LAB_YAML_NODES,	   /* const LabYamlNode *, a list */
	LAB_YAML_MEMBERS,  /* const LabYamlNode *, a mapping */
	LAB_YAML_ANY,	   /* const LabYamlNode * */
} LabYamlType;

typedef struct {
	const char *key;
	LabYamlType type;
	gsize offset;
	gboolean required;
	guint64 min, max;
	const char *const *words;
} LabYamlField;

/**
 * lab_yaml_read() - read a mapping by a table
 * @node: any node; one that is not a mapping is an error
 * @what: for errors: "a topology"
 * @fields: ends with a NULL key; every other key is an error with a suggestion
 * @into: what is absent stays as it was; on an error some of it may be written
 */
gboolean lab_yaml_read(const LabYamlNode *node, const char *what, const LabYamlField *fields,
		       void *into, GError **error);

/** Readers of one node; @value is written only on success */
gboolean lab_yaml_text(const LabYamlNode *node, const char *what, const char **value,
		       GError **error);
gboolean lab_yaml_uint(const LabYamlNode *node, guint64 min, guint64 max, guint64 *value,
		       GError **error);
gboolean lab_yaml_bytes(const LabYamlNode *node, guint64 *value, GError **error);
gboolean lab_yaml_duration(const LabYamlNode *node, guint64 *value, GError **error);
gboolean lab_yaml_bool(const LabYamlNode *node, gboolean *value, GError **error);
/** lab_yaml_texts() - a list of texts: its nodes, borrowed */
gboolean lab_yaml_texts(const LabYamlNode *node, const GPtrArray **value, GError **error);
gboolean lab_yaml_word(const LabYamlNode *node, const char *const *words, guint *value,
		       GError **error);

/** lab_yaml_strv() - list of texts (of LAB_YAML_TEXTS; (nullable): empty) as a NULL-terminated
 * array. Free with g_strfreev(). */
char **lab_yaml_strv(const GPtrArray *texts);
