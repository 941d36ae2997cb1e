/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

LabYamlNode *lab_yaml_new(LabYamlKind kind, const LabOrigin *origin)
{
	LabYamlNode *node = g_new0(LabYamlNode, 1);

	node->kind = kind;
	node->origin = *origin;
	if (kind == LAB_YAML_SCALAR)
		node->text = g_strdup("");
	else
		node->children = g_ptr_array_new_with_free_func((GDestroyNotify)lab_yaml_free);
	return node;
}

void lab_yaml_free(LabYamlNode *node)
{
	if (!node)
		return;
	g_free(node->key);
	g_free(node->text);
	g_clear_pointer(&node->children, g_ptr_array_unref);
	g_free(node);
}

LabYamlNode *lab_yaml_get(const LabYamlNode *map, const char *key)
{
	if (map->kind != LAB_YAML_MAP)
		return NULL;
	for (guint i = 0; i < map->children->len; i++) {
		LabYamlNode *child = map->children->pdata[i];

		if (!strcmp(child->key, key))
			return child;
	}
	return NULL;
}

void lab_yaml_put(LabYamlNode *map, const char *key, LabYamlNode *value)
{
	g_return_if_fail(map->kind == LAB_YAML_MAP);
	g_free(value->key);
	value->key = g_strdup(key);
	value->key_origin = value->origin;
	for (guint i = 0; i < map->children->len; i++) {
		LabYamlNode *child = map->children->pdata[i];

		if (strcmp(child->key, key))
			continue;
		lab_yaml_free(child);
		map->children->pdata[i] = value;
		return;
	}
	g_ptr_array_add(map->children, value);
}

void lab_yaml_take_away(LabYamlNode *map, const char *key)
{
	g_return_if_fail(map->kind == LAB_YAML_MAP);
	for (guint i = 0; i < map->children->len; i++) {
		LabYamlNode *child = map->children->pdata[i];

		if (strcmp(child->key, key))
			continue;
		g_ptr_array_steal_index(map->children, i);
		lab_yaml_free(child);
		return;
	}
}

static const char *kind_of_file(mode_t mode)
{
	return S_ISDIR(mode)	? "a directory"
	       : S_ISFIFO(mode) ? "a pipe"
	       : S_ISSOCK(mode) ? "a socket"
				: "a device";
}

static char *read_regular(int fd, gsize *length, int *problem)
{
	g_autofree char *data = g_malloc(LAB_YAML_MAX_BYTES + 2);
	gsize n = 0;

	while (n <= LAB_YAML_MAX_BYTES) {
		gssize got = read(fd, data + n, LAB_YAML_MAX_BYTES + 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			*problem = errno;
			return NULL;
		}
		if (!got)
			break;
		n += (gsize)got;
	}
	data[n] = 0;
	*length = n;
	return g_steal_pointer(&data);
}

LabYamlNode *lab_yaml_load(const char *path, const char *what, char **text, GError **error)
{
	LabOrigin whole = {path, 0, 0};
	g_autofree char *data = NULL;
	LabYamlNode *root;
	gsize length = 0;
	struct stat st;
	int problem = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0) {
		problem = errno;
		lab_error_set_at(error, &whole, "wanted %s file, found %s", what,
				 problem == ENOENT ? "none" : g_strerror(problem));
		return NULL;
	}
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		close(fd);
		lab_error_set_at(error, &whole, "wanted %s file, found %s", what,
				 kind_of_file(st.st_mode));
		return NULL;
	}
	data = read_regular(fd, &length, &problem);
	close(fd);
	if (!data) {
		lab_error_set_at(error, &whole, "wanted %s file, found %s", what,
				 g_strerror(problem));
		return NULL;
	}
	root = lab_yaml_parse(data, (gssize)length, path, error);
	if (root && text)
		*text = g_steal_pointer(&data);
	return root;
}
