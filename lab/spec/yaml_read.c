/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/yaml.h"

#include <string.h>

#include "lab/base/suggest.h"
#include "lab/base/units.h"

#define QUOTE_MAX 60 /* characters of a value that an error shows */

const LabOrigin *lab_yaml_origin(const LabYamlNode *map, const char *key)
{
	const LabYamlNode *node = lab_yaml_get(map, key);

	return node ? &node->origin : &map->origin;
}

char *lab_yaml_escape(const char *text, guint max)
{
	g_autoptr(GString) s = g_string_new(NULL);
	guint n = 0;

	for (; *text && n < max; n++) {
		gunichar c = g_utf8_get_char_validated(text, -1);
		gboolean valid = c != (gunichar)-1 && c != (gunichar)-2;

		/* A command line may be anything. */
		if (!valid)
			g_string_append_printf(s, "\\x%02x", (guint8)*text);
		else if (c == '\n')
			g_string_append(s, "\\n");
		else if (c == '\t')
			g_string_append(s, "\\t");
		else if (g_unichar_isprint(c))
			g_string_append_unichar(s, c);
		else
			g_string_append_printf(s, "\\u%04x", c);
		text = valid ? g_utf8_next_char(text) : text + 1;
	}
	if (*text)
		g_string_append(s, "...");
	return g_string_free(g_steal_pointer(&s), FALSE);
}

char *lab_yaml_quote(const char *text)
{
	g_autofree char *escaped = lab_yaml_escape(text, QUOTE_MAX);

	return g_strdup_printf("'%s'", escaped);
}

gboolean lab_yaml_is_plain(const char *text)
{
	g_autofree char *escaped = lab_yaml_escape(text, QUOTE_MAX);

	return !strcmp(text, escaped);
}

char *lab_yaml_found(const LabYamlNode *node)
{
	switch (node->kind) {
	case LAB_YAML_LIST:
		return g_strdup("a list");
	case LAB_YAML_MAP:
		return g_strdup("a mapping");
	case LAB_YAML_SCALAR:
		break;
	}
	return *node->text || node->quoted ? lab_yaml_quote(node->text) : g_strdup("nothing");
}

gboolean lab_yaml_fail(const LabYamlNode *node, GError **error, const char *wanted, ...)
{
	g_autofree char *found = lab_yaml_found(node);
	g_autofree char *text = NULL;
	va_list ap;

	va_start(ap, wanted);
	text = g_strdup_vprintf(wanted, ap);
	va_end(ap);
	lab_error_set_at(error, &node->origin, "wanted %s, found %s", text, found);
	return FALSE;
}

/* ---- one node ---- */

gboolean lab_yaml_text(const LabYamlNode *node, const char *what, const char **value,
		       GError **error)
{
	if (node->kind != LAB_YAML_SCALAR || !*node->text)
		return lab_yaml_fail(node, error, "%s", what);
	*value = node->text;
	return TRUE;
}

gboolean lab_yaml_uint(const LabYamlNode *node, guint64 min, guint64 max, guint64 *value,
		       GError **error)
{
	guint64 n;

	if (node->kind == LAB_YAML_SCALAR &&
	    lab_parse_uint(node->text, max ? max : G_MAXUINT64, &n, NULL) && n >= min) {
		*value = n;
		return TRUE;
	}
	if (!max)
		return lab_yaml_fail(node, error, "a whole number from %" G_GUINT64_FORMAT, min);
	return lab_yaml_fail(node, error,
			     "a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT, min,
			     max);
}

static gboolean fail_with(const LabYamlNode *node, const GError *cause, GError **error)
{
	lab_error_set_at(error, &node->origin, "%s", cause->message);
	return FALSE;
}

gboolean lab_yaml_bytes(const LabYamlNode *node, guint64 *value, GError **error)
{
	g_autoptr(GError) cause = NULL;

	if (node->kind != LAB_YAML_SCALAR || !*node->text || !lab_yaml_is_plain(node->text))
		return lab_yaml_fail(node, error, "a size like 512MiB");
	return lab_parse_bytes(node->text, value, &cause) || fail_with(node, cause, error);
}

gboolean lab_yaml_duration(const LabYamlNode *node, guint64 *value, GError **error)
{
	g_autoptr(GError) cause = NULL;

	if (node->kind != LAB_YAML_SCALAR || !*node->text || !lab_yaml_is_plain(node->text))
		return lab_yaml_fail(node, error, "a duration like 30s or 50ms");
	return lab_parse_duration_ns(node->text, value, &cause) || fail_with(node, cause, error);
}

gboolean lab_yaml_bool(const LabYamlNode *node, gboolean *value, GError **error)
{
	gboolean yes = node->kind == LAB_YAML_SCALAR && !strcmp(node->text, "true");

	if (!yes && (node->kind != LAB_YAML_SCALAR || strcmp(node->text, "false")))
		return lab_yaml_fail(node, error, "true or false");
	*value = yes;
	return TRUE;
}

gboolean lab_yaml_word(const LabYamlNode *node, const char *const *words, guint *value,
		       GError **error)
{
	g_autoptr(GString) wanted = g_string_new(NULL);
	g_autofree char *found = NULL, *suggestion = NULL;

	for (guint i = 0; words[i]; i++) {
		if (node->kind == LAB_YAML_SCALAR && !strcmp(node->text, words[i])) {
			*value = i;
			return TRUE;
		}
		g_string_append_printf(wanted, "%s%s",
				       !i	      ? ""
				       : words[i + 1] ? ", "
						      : " or ",
				       words[i]);
	}
	found = lab_yaml_found(node);
	suggestion =
		node->kind == LAB_YAML_SCALAR ? lab_suggest_text(node->text, words) : g_strdup("");
	lab_error_set_at(error, &node->origin, "wanted %s, found %s%s", wanted->str, found,
			 suggestion);
	return FALSE;
}

/* ---- mappings by table ---- */

gboolean lab_yaml_texts(const LabYamlNode *node, const GPtrArray **value, GError **error)
{
	const char *unused;

	if (node->kind != LAB_YAML_LIST)
		return lab_yaml_fail(node, error, "a list");
	for (guint i = 0; i < node->children->len; i++)
		if (!lab_yaml_text(node->children->pdata[i], "a text", &unused, error))
			return FALSE;
	*value = node->children;
	return TRUE;
}

static gboolean read_field(const LabYamlNode *node, const LabYamlField *field, char *into,
			   GError **error)
{
	void *at = into + field->offset;

	switch (field->type) {
	case LAB_YAML_TEXT:
		return lab_yaml_text(node, "a text", at, error);
	case LAB_YAML_UINT:
		return lab_yaml_uint(node, field->min, field->max, at, error);
	case LAB_YAML_BYTES:
		return lab_yaml_bytes(node, at, error);
	case LAB_YAML_DURATION:
		return lab_yaml_duration(node, at, error);
	case LAB_YAML_BOOL:
		return lab_yaml_bool(node, at, error);
	case LAB_YAML_WORD:
		return lab_yaml_word(node, field->words, at, error);
	case LAB_YAML_TEXTS:
		return lab_yaml_texts(node, at, error);
	case LAB_YAML_NODES:
		if (node->kind != LAB_YAML_LIST)
			return lab_yaml_fail(node, error, "a list");
		break;
	case LAB_YAML_MEMBERS:
		if (node->kind != LAB_YAML_MAP)
			return lab_yaml_fail(node, error, "a mapping");
		break;
	case LAB_YAML_ANY:
		break;
	}
	*(const LabYamlNode **)at = node;
	return TRUE;
}

static gboolean unknown_key(const LabYamlNode *node, const char *what, const LabYamlField *fields,
			    GError **error)
{
	g_autoptr(GPtrArray) keys = g_ptr_array_new();
	g_autofree char *found = lab_yaml_quote(node->key);
	g_autofree char *list = NULL;
	const char *nearest;

	for (const LabYamlField *f = fields; f->key; f++)
		g_ptr_array_add(keys, (char *)f->key);
	g_ptr_array_add(keys, NULL);
	list = g_strjoinv(", ", (char **)keys->pdata);
	nearest = lab_suggest(node->key, (const char *const *)keys->pdata);
	if (nearest)
		lab_error_set_at(error, &node->key_origin,
				 "wanted a key of %s, found %s (did you mean '%s'?)", what, found,
				 nearest);
	else
		lab_error_set_at(error, &node->key_origin, "wanted a key of %s (%s), found %s",
				 what, list, found);
	return FALSE;
}

gboolean lab_yaml_read(const LabYamlNode *node, const char *what, const LabYamlField *fields,
		       void *into, GError **error)
{
	if (node->kind != LAB_YAML_MAP)
		return lab_yaml_fail(node, error, "%s (a mapping)", what);
	for (guint i = 0; i < node->children->len; i++) {
		const LabYamlNode *child = node->children->pdata[i];
		const LabYamlField *f = fields;

		while (f->key && strcmp(f->key, child->key))
			f++;
		if (!f->key)
			return unknown_key(child, what, fields, error);
		if (!read_field(child, f, into, error))
			return FALSE;
	}
	for (const LabYamlField *f = fields; f->key; f++) {
		if (!f->required || lab_yaml_get(node, f->key))
			continue;
		lab_error_set_at(error, &node->origin, "wanted the key '%s' of %s, found none",
				 f->key, what);
		return FALSE;
	}
	return TRUE;
}

char **lab_yaml_strv(const GPtrArray *texts)
{
	GPtrArray *strv = g_ptr_array_new();

	for (guint i = 0; texts && i < texts->len; i++)
		g_ptr_array_add(strv, g_strdup(((const LabYamlNode *)texts->pdata[i])->text));
	g_ptr_array_add(strv, NULL);
	return (char **)g_ptr_array_free(strv, FALSE);
}
