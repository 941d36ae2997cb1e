/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of libfyaml -> a tree of LabYamlNode. */
#include "lab/spec/yaml.h"

#include <libfyaml.h>
#include <string.h>

struct level {
	LabYamlNode *node;
	char *key; /* MAP: the key that waits for its value */
	LabOrigin key_origin;
	char *anchor; /* of node, known to aliases when it is complete */
};

struct builder {
	const char *path; /* interned */
	LabYamlNode *root;
	GArray *levels;	     /* of struct level */
	GHashTable *anchors; /* name -> LabYamlNode, borrowed */
	LabOrigin last;	     /* of the newest value */
	guint n_nodes, n_documents;
};

static void level_clear(struct level *level)
{
	g_free(level->key);
	g_free(level->anchor);
}

static LabOrigin origin_at(const struct builder *b, const struct fy_mark *mark, int shift)
{
	LabOrigin origin = b->last;

	if (mark && mark->line >= 0 && mark->column + shift >= 0)
		origin = (LabOrigin){b->path, (guint)mark->line + 1,
				     (guint)(mark->column + shift) + 1};
	return origin;
}

static char *token_text(struct fy_token *token)
{
	size_t length = 0;
	const char *text = token ? fy_token_get_text(token, &length) : NULL;

	return text ? g_strndup(text, length) : NULL;
}

/* Every node is counted, so a few lines of aliases to aliases cannot become more than
 * LAB_YAML_MAX_NODES. */
static gboolean count(struct builder *b, const LabOrigin *origin, GError **error)
{
	if (++b->n_nodes <= LAB_YAML_MAX_NODES)
		return TRUE;
	lab_error_set_at(error, origin, "wanted at most %d values, found more", LAB_YAML_MAX_NODES);
	return FALSE;
}

/* Hang a complete scalar, or a list or mapping just begun, into the tree. Takes @node. */
static gboolean attach(struct builder *b, LabYamlNode *node, GError **error)
{
	struct level *top =
		b->levels->len ? &g_array_index(b->levels, struct level, b->levels->len - 1) : NULL;
	LabYamlNode *first;

	if (!top) {
		b->root = node;
		return TRUE;
	}
	if (top->node->kind == LAB_YAML_LIST) {
		g_ptr_array_add(top->node->children, node);
		return TRUE;
	}
	if (top->key) {
		node->key = g_steal_pointer(&top->key);
		node->key_origin = top->key_origin;
		g_ptr_array_add(top->node->children, node);
		return TRUE;
	}
	if (node->kind != LAB_YAML_SCALAR) {
		g_autofree char *found = lab_yaml_found(node);

		lab_error_set_at(error, &node->origin, "wanted a key, found %s", found);
		lab_yaml_free(node);
		return FALSE;
	}
	first = lab_yaml_get(top->node, node->text);
	if (first) {
		g_autofree char *quoted = lab_yaml_quote(node->text);

		lab_error_set_at(error, &node->origin,
				 "wanted each key once, found %s again (first in line %u)", quoted,
				 first->key_origin.line);
		lab_yaml_free(node);
		return FALSE;
	}
	if (top->node->children->len == LAB_YAML_MAX_MEMBERS) {
		lab_error_set_at(error, &node->origin,
				 "wanted at most %d keys in a mapping, found more",
				 LAB_YAML_MAX_MEMBERS);
		lab_yaml_free(node);
		return FALSE;
	}
	top->key = g_steal_pointer(&node->text);
	top->key_origin = node->origin;
	lab_yaml_free(node);
	return TRUE;
}

static gboolean is_key_next(const struct builder *b)
{
	const struct level *top;

	if (!b->levels->len)
		return FALSE;
	top = &g_array_index(b->levels, struct level, b->levels->len - 1);
	return top->node->kind == LAB_YAML_MAP && !top->key;
}

/* Where an empty value stands: at its key, else where the last value was. */
static LabOrigin empty_origin(const struct builder *b)
{
	const struct level *top;

	if (!b->levels->len)
		return b->last;
	top = &g_array_index(b->levels, struct level, b->levels->len - 1);
	return top->key ? top->key_origin : b->last;
}

static gboolean add_scalar(struct builder *b, struct fy_event *event, GError **error)
{
	struct fy_token *token = event->scalar.value;
	enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
	gboolean in_quotes = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
	const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
	g_autofree char *text = token_text(token);
	g_autofree char *anchor = token_text(event->scalar.anchor);
	LabYamlNode *node;

	/* The mark of a quoted text stands behind its quote. */
	LabOrigin origin = mark ? origin_at(b, mark, in_quotes ? -1 : 0) : empty_origin(b);

	if (!count(b, &origin, error))
		return FALSE;
	b->last = origin;
	node = lab_yaml_new(LAB_YAML_SCALAR, &origin);
	node->quoted = style != FYSS_PLAIN;
	g_free(node->text);
	node->text = text ? g_steal_pointer(&text) : g_strdup("");
	if (strlen(node->text) != (token ? fy_token_get_text_length(token) : 0)) {
		lab_error_set_at(error, &origin, "wanted text, found a NUL byte");
		lab_yaml_free(node);
		return FALSE;
	}
	if (anchor && is_key_next(b)) {
		lab_error_set_at(error, &origin, "wanted a key, found an anchor");
		lab_yaml_free(node);
		return FALSE;
	}
	if (!attach(b, node, error))
		return FALSE;
	if (anchor)
		g_hash_table_insert(b->anchors, g_steal_pointer(&anchor), node);
	return TRUE;
}

static gboolean add_collection(struct builder *b, struct fy_event *event, LabYamlKind kind,
			       GError **error)
{
	LabOrigin origin = origin_at(b, fy_event_start_mark(event), 0);
	struct level level = {0};

	if (b->levels->len == LAB_YAML_MAX_DEPTH) {
		lab_error_set_at(error, &origin, "wanted at most %d levels, found more",
				 LAB_YAML_MAX_DEPTH);
		return FALSE;
	}
	if (!count(b, &origin, error))
		return FALSE;
	b->last = origin;
	level.node = lab_yaml_new(kind, &origin);
	if (!attach(b, level.node, error))
		return FALSE;
	level.anchor = token_text(fy_event_get_anchor_token(event));
	g_array_append_val(b->levels, level);
	return TRUE;
}

static void end_collection(struct builder *b)
{
	struct level *top = &g_array_index(b->levels, struct level, b->levels->len - 1);

	if (top->anchor)
		g_hash_table_insert(b->anchors, g_steal_pointer(&top->anchor), top->node);
	g_array_set_size(b->levels, b->levels->len - 1);
}

static LabYamlNode *copy(struct builder *b, const LabYamlNode *node, GError **error)
{
	g_autoptr(LabYamlNode) result = NULL;

	if (!count(b, &b->last, error))
		return NULL;
	result = lab_yaml_new(node->kind, &node->origin);
	result->quoted = node->quoted;
	result->key = g_strdup(node->key);
	result->key_origin = node->key_origin;
	if (node->kind == LAB_YAML_SCALAR) {
		g_free(result->text);
		result->text = g_strdup(node->text);
		return g_steal_pointer(&result);
	}
	for (guint i = 0; i < node->children->len; i++) {
		LabYamlNode *child = copy(b, node->children->pdata[i], error);

		if (!child)
			return NULL;
		g_ptr_array_add(result->children, child);
	}
	return g_steal_pointer(&result);
}

static gboolean add_alias(struct builder *b, struct fy_event *event, GError **error)
{
	/* The mark of an alias stands behind its '*'. */
	LabOrigin origin = origin_at(b, fy_event_start_mark(event), -1);
	g_autofree char *name = token_text(event->alias.anchor), *shown = NULL;
	const LabYamlNode *target = name ? g_hash_table_lookup(b->anchors, name) : NULL;
	LabYamlNode *node;

	b->last = origin;
	if (!target || is_key_next(b)) {
		shown = lab_yaml_escape(name ? name : "", 60);
		lab_error_set_at(error, &origin, "wanted %s, found '*%s'",
				 target ? "a key" : "the name of an anchor above", shown);
		return FALSE;
	}
	node = copy(b, target, error);
	if (!node)
		return FALSE;
	g_clear_pointer(&node->key, g_free);
	return attach(b, node, error);
}

static gboolean add_document(struct builder *b, struct fy_event *event, GError **error)
{
	LabOrigin origin = origin_at(b, fy_event_start_mark(event), 0);

	if (b->n_documents++ == 0)
		return TRUE;
	lab_error_set_at(error, &origin, "wanted one document, found a second one");
	return FALSE;
}

static gboolean add_event(struct builder *b, struct fy_event *event, GError **error)
{
	struct fy_token *tag = fy_event_get_tag_token(event);

	if (tag) {
		LabOrigin origin = origin_at(b, fy_token_start_mark(tag), 0);
		g_autofree char *text = token_text(tag);
		g_autofree char *quoted = lab_yaml_quote(text ? text : "");

		lab_error_set_at(error, &origin, "wanted no YAML tag, found %s", quoted);
		return FALSE;
	}
	switch (event->type) {
	case FYET_DOCUMENT_START:
		return add_document(b, event, error);
	case FYET_SCALAR:
		return add_scalar(b, event, error);
	case FYET_SEQUENCE_START:
		return add_collection(b, event, LAB_YAML_LIST, error);
	case FYET_MAPPING_START:
		return add_collection(b, event, LAB_YAML_MAP, error);
	case FYET_ALIAS:
		return add_alias(b, event, error);
	case FYET_SEQUENCE_END:
	case FYET_MAPPING_END:
		end_collection(b);
		return TRUE;
	default:
		return TRUE;
	}
}

/* ---- errors of the text itself ---- */

static LabOrigin position(const char *text, const char *at, const char *path)
{
	LabOrigin origin = {path, 1, 1};

	for (; text < at; text = g_utf8_next_char(text)) {
		origin.column++;
		if (*text == '\n')
			origin = (LabOrigin){path, origin.line + 1, 1};
	}
	return origin;
}

/* A tab in an indentation is refused by YAML; parsers then complain of something else near it. */
static gboolean find_tab(const char *text, guint line, LabOrigin *origin)
{
	guint n = 1;

	for (const char *p = text; p; n++) {
		gsize blank = strspn(p, " \t");
		const char *tab = memchr(p, '\t', blank);
		const char *next = strchr(p, '\n');

		if (tab && n + 1 >= line && n <= line + 1 && p[blank] && p[blank] != '\n' &&
		    p[blank] != '#') {
			*origin = position(text, tab, origin->path);
			return TRUE;
		}
		p = next ? next + 1 : NULL;
	}
	return FALSE;
}

static void syntax_error(struct fy_diag *diag, const char *text, const char *path, GError **error)
{
	void *iterator = NULL;
	struct fy_diag_error *e = fy_diag_errors_iterate(diag, &iterator);
	LabOrigin origin = {path, 1, 1};
	g_autofree char *message = lab_yaml_escape(e ? e->msg : "something else", 200);

	if (e && e->line > 0 && e->column > 0)
		origin = (LabOrigin){path, (guint)e->line, (guint)e->column};
	if (find_tab(text, origin.line, &origin))
		lab_error_set_at(error, &origin, "wanted spaces to indent a line, found a tab");
	else
		lab_error_set_at(error, &origin, "wanted valid YAML, found: %s", message);
}

static gboolean check_utf8(const char *text, gsize length, const char *path, GError **error)
{
	const char *end;
	LabOrigin origin;

	if (g_utf8_validate(text, (gssize)length, &end))
		return TRUE;
	origin = position(text, end, path);
	if (*end)
		lab_error_set_at(error, &origin, "wanted UTF-8 text, found the byte 0x%02x",
				 (guint8)*end);
	else
		lab_error_set_at(error, &origin, "wanted UTF-8 text, found a NUL byte");
	return FALSE;
}

static gboolean read_events(struct builder *b, const char *text, gsize length, GError **error)
{
	struct fy_diag_cfg diag_config;
	struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE};
	struct fy_parser *parser;
	struct fy_event *event;
	gboolean ok = TRUE;

	fy_diag_cfg_default(&diag_config);
	diag_config.fp = NULL;
	config.diag = fy_diag_create(&diag_config);
	fy_diag_set_collect_errors(config.diag, true);
	parser = fy_parser_create(&config);
	fy_parser_set_string(parser, text, length);
	while (ok && (event = fy_parser_parse(parser))) {
		ok = add_event(b, event, error);
		fy_parser_event_free(parser, event);
	}
	if (ok && (fy_parser_get_stream_error(parser) || b->levels->len)) {
		syntax_error(config.diag, text, b->path, error);
		ok = FALSE;
	}
	fy_parser_destroy(parser);
	fy_diag_destroy(config.diag);
	return ok;
}

LabYamlNode *lab_yaml_parse(const char *text, gssize length, const char *path, GError **error)
{
	struct builder b = {.path = g_intern_string(path)};
	g_autoptr(LabYamlNode) root = NULL;
	g_autofree char *copied = NULL;
	gsize bytes = length < 0 ? strlen(text) : (gsize)length;
	gboolean ok;

	b.last = (LabOrigin){b.path, 1, 1};
	if (bytes > LAB_YAML_MAX_BYTES) {
		LabOrigin whole = {b.path, 0, 0};

		lab_error_set_at(error, &whole, "wanted at most %u bytes, found more",
				 LAB_YAML_MAX_BYTES);
		return NULL;
	}
	if (!check_utf8(text, bytes, b.path, error))
		return NULL;
	copied = g_strndup(text, bytes);
	b.levels = g_array_new(FALSE, TRUE, sizeof(struct level));
	g_array_set_clear_func(b.levels, (GDestroyNotify)level_clear);
	b.anchors = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	ok = read_events(&b, copied, bytes, error);
	root = b.root;
	g_array_unref(b.levels);
	g_hash_table_unref(b.anchors);
	if (!ok)
		return NULL;
	if (!root)
		lab_error_set_at(error, &b.last, "wanted a YAML document, found nothing");
	return g_steal_pointer(&root);
}
