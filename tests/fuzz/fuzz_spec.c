/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that people write: topology, image, scenario (comments "#--set KEY=VALUE" are overrides), each
 * line as the words of a kernel. Once as it is, once with values replaced by awkward ones, so that
 * what is behind the syntax is reached. Whatever comes in, an error is one line that says where, and
 * a value that is taken comes back the same from its canonical form.
 */
#include "tests/fuzz/driver.h"

#include "lab/spec/scenario_parts.h"

static void check(const void *value, GError *error)
{
	if (value) {
		g_assert_no_error(error);
		return;
	}
	g_assert_nonnull(error);
	g_assert_true(error->domain == LAB_ERROR && error->code == LAB_ERROR_USER);
	g_assert_true(g_utf8_validate(error->message, -1, NULL));
	g_assert_null(strchr(error->message, '\n'));
	g_error_free(error);
}

static void check_topology(const LabTopology *t)
{
	g_autoptr(LabTopology) again = lab_topology_from_canonical(t->canonical, NULL);
	g_autofree char *text = lab_topology_hardware_text(t), *json = lab_topology_json(t);
	LabCpuSet all = {0};
	guint64 memory_bytes = 0;

	g_assert_nonnull(again);
	g_assert_cmpstr(again->canonical, ==, t->canonical);
	g_assert_true(text && json);
	for (guint i = 0; i < t->n_nodes; i++) {
		lab_cpuset_union(&all, &t->nodes[i].cpus);
		memory_bytes += t->nodes[i].memory_bytes;
		g_assert_cmpuint(lab_topology_distance(t, i, i), ==, LAB_DISTANCE_LOCAL);
	}
	g_assert_cmpuint(lab_cpuset_count(&all), ==, t->n_cpus);
	g_assert_cmpuint(memory_bytes, ==, t->memory_bytes);
}

static void check_scenario(const LabScenario *s)
{
	g_autoptr(JsonNode) json = json_from_string(s->canonical, NULL);
	g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
	const GPtrArray *lists[] = {s->prepare, s->steps};

	g_assert_nonnull(json);
	check_topology(s->topology);
	for (guint l = 0; l < 2; l++)
		for (guint i = 0; i < lists[l]->len; i++) {
			const LabStep *step = lists[l]->pdata[i];

			g_assert_true(*step->name && step->argv &&
				      g_hash_table_add(names, step->name));
		}
	for (guint i = 0; i < s->settings->len; i++) {
		const LabSetting *setting = s->settings->pdata[i];

		for (char **path = setting->paths; *path; path++)
			g_assert_true((g_str_has_prefix(*path, "/sys/") ||
				       g_str_has_prefix(*path, "/proc/sys/")) &&
				      !strstr(*path, "/.."));
	}
	g_assert_cmpuint(s->scratch_bytes % LAB_SCRATCH_UNIT, ==, 0);
}

static void read_all(const char *text, gsize length)
{
	g_autofree char *whole = g_strndup(text, length);
	g_auto(GStrv) lines = g_strsplit(whole, "\n", 256);
	g_autoptr(GStrvBuilder) sets = g_strv_builder_new();
	g_auto(GStrv) overrides = NULL;
	GError *errors[4] = {NULL};
	g_autoptr(LabYamlNode) root = lab_yaml_parse(text, (gssize)length, "f", &errors[0]);
	g_autoptr(LabTopology) topology =
		root ? lab_topology_from_node(root, "f", &errors[1]) : NULL;
	g_autoptr(LabImageRecipe) image =
		root ? lab_image_recipe_from_node(root, "f", &errors[2]) : NULL;
	g_autoptr(LabScenario) scenario = NULL;

	for (char **line = lines; *line; line++) {
		GError *error = NULL;
		g_autoptr(LabKernelSpec) kernel = lab_kernel_spec_parse(*line, NULL, "/", &error);

		check(kernel, error);
		if (g_str_has_prefix(*line, "#--set "))
			g_strv_builder_add(sets, *line + strlen("#--set "));
	}
	overrides = g_strv_builder_end(sets);
	scenario = lab_scenario_parse(text, (gssize)length, "f", (const char *const *)overrides,
				      &errors[3]);
	check(root, errors[0]);
	if (root) {
		check(topology, errors[1]);
		check(image, errors[2]);
	}
	check(scenario, errors[3]);
	if (topology)
		check_topology(topology);
	if (scenario)
		check_scenario(scenario);
}

/* Replace up to four values ("key: VALUE", "[VALUE, VALUE]") by what tends to be forgotten. */
static char *awkward(const char *text, gsize length)
{
	static const char *const values[] = {
		"",
		"''",
		"~",
		"0",
		"-1",
		"1",
		"18446744073709551616",
		"[]",
		"{}",
		"[[]]",
		"{a: b}",
		"0B",
		"1MiB",
		"16TiB",
		"16777215TiB",
		"0s",
		"1ns",
		"5124095h",
		"1/1000000000",
		"0/0",
		"100%",
		"0.0001%",
		"..",
		"/",
		"a/../b",
		"0-1023",
		"1023",
		"0,2,4-6",
		"on",
		"false",
		"fake",
		"vnuma",
		"debian:sid",
		"dir:.",
		"64",
		"65",
		"&a [x, y]",
		"*a",
		"!t x",
		"\"\\0\"",
		"xfs",
		"vnuma-4x1p-512M",
		"umount",
		"mount",
	};
	g_autoptr(GRand) random = g_rand_new_with_seed(g_str_hash(text) ^ (guint32)length);
	g_autoptr(GString) s = g_string_new(text);

	for (int n = g_rand_int_range(random, 1, 5); n > 0 && s->len; n--) {
		gsize at = (gsize)g_rand_int_range(random, 0, (gint32)s->len);
		gsize from = at + strcspn(s->str + at, ":[,{-"), to;

		if (from >= s->len)
			continue;
		from += 1 + strspn(s->str + from + 1, " ");
		to = from + strcspn(s->str + from, ",]}\n");
		g_string_erase(s, (gssize)from, (gssize)(to - from));
		g_string_insert(s, (gssize)from,
				values[g_rand_int_range(random, 0, G_N_ELEMENTS(values))]);
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = size ? g_strndup((const char *)data, size) : g_strdup("");
	g_autofree char *changed = awkward(text, strlen(text));

	read_all(size ? (const char *)data : "", size);
	read_all(changed, strlen(changed));
	return 0;
}
