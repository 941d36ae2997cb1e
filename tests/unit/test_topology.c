/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/topology.h"

#include <string.h>

#include "lab/base/digest.h"
#include "tests/unit/spec_cases.h"

#define V "kind: vnuma\n"
#define TWO V "nodes:\n  - {cpus: 0-1, memory: 512MiB}\n  - {cpus: 2-3, memory: 512MiB}\n"
#define UNIFORM V "nodes: {count: 2, cpus-per-node: 2, memory-per-node: 512MiB}\n"
#define FAKE "kind: fake\nnodes: 4\n"

static const struct spec_case errors[] = {
	{"unknown key", "kind: vnuma\nnode: []\n",
	 "t.yaml:2:1: wanted a key of a topology, found 'node' (did you mean 'nodes'?)"},
	{"unknown key, nothing near", V "colour: red\n",
	 "t.yaml:2:1: wanted a key of a topology (kind, name, about, cpu, cpus, memory, nodes, "
	 "distances), found "
	 "'colour'"},
	{"duplicate key", V "nodes: []\nkind: fake\n",
	 "t.yaml:3:1: wanted each key once, found 'kind' again (first in line 1)"},
	{"no kind", "nodes: []\n", "t.yaml:1:1: wanted the key 'kind' of a topology, found none"},
	{"unknown kind", "kind: vnumma\nnodes: []\n",
	 "t.yaml:1:7: wanted vnuma or fake, found 'vnumma' (did you mean 'vnuma'?)"},
	{"kind is nothing", "kind:\nnodes: []\n",
	 "t.yaml:1:1: wanted vnuma or fake, found nothing"},
	{"not a mapping", "- 1\n", "t.yaml:1:1: wanted a topology (a mapping), found a list"},
	{"no nodes", V, "t.yaml:1:1: wanted the key 'nodes' of a topology, found none"},
	{"bad name", UNIFORM "name: ../etc\n",
	 "t.yaml:3:7: wanted a name of letters, digits, '.', '_', '+' and '-', found '../etc'"},
	{"nodes is a number", V "nodes: 4\n",
	 "t.yaml:2:8: wanted a list of nodes, or {count, cpus-per-node, memory-per-node}, found "
	 "'4'"},
	{"no node", V "nodes: []\n", "t.yaml:2:8: wanted 1 to 64 nodes, found 0"},
	{"node is no mapping", V "nodes: [1]\n",
	 "t.yaml:2:9: wanted a node (a mapping), found '1'"},
	{"node without memory", V "nodes:\n  - {cpus: 0-1}\n",
	 "t.yaml:3:5: wanted the key 'memory' of a node, found none"},
	{"node with unknown key", V "nodes:\n  - {cpu: 0-1, memory: 1GiB}\n",
	 "t.yaml:3:6: wanted a key of a node, found 'cpu' (did you mean 'cpus'?)"},
	{"neither CPUs nor memory",
	 V "nodes:\n  - {cpus: 0, memory: 1GiB}\n  - {cpus: \"\", memory: 0B}\n",
	 "t.yaml:4:5: wanted CPUs or memory in node 1, found neither"},
	{"cpus of nothing", V "nodes:\n  - {cpus: , memory: 1GiB}\n",
	 "t.yaml:3:6: wanted a list of CPUs like 0-3,8 (\"\" for none), found nothing"},
	{"bad CPU list", V "nodes:\n  - {cpus: 3-0, memory: 1GiB}\n",
	 "t.yaml:3:12: wanted a list of CPUs like 0-3,8 (\"\" for none), found '3-0'"},
	{"bad CPU in a list", V "nodes:\n  - {cpus: [0, x], memory: 1GiB}\n",
	 "t.yaml:3:12: wanted a list of CPUs like 0-3,8 (\"\" for none), found a list"},
	{"huge CPU", V "nodes:\n  - {cpus: 99999999999999999999, memory: 1GiB}\n",
	 "t.yaml:3:12: wanted a list of CPUs like 0-3,8 (\"\" for none), found "
	 "'99999999999999999999'"},
	{"memory without unit", V "nodes:\n  - {cpus: 0, memory: 512}\n",
	 "t.yaml:3:23: wanted a size like 512MiB, found '512' (the unit is missing)"},
	{"memory in decimal units", V "nodes:\n  - {cpus: 0, memory: 4GB}\n",
	 "t.yaml:3:23: wanted a size like 512MiB, found '4GB' (did you mean '4GiB'?)"},
	{"memory is a list", V "nodes:\n  - {cpus: 0, memory: [4GiB]}\n",
	 "t.yaml:3:23: wanted a size like 512MiB, found a list"},
	{"memory no multiple of 1 MiB", V "nodes:\n  - {cpus: 0, memory: 1025KiB}\n",
	 "t.yaml:3:23: wanted a multiple of 1MiB, found '1025KiB'"},
	{"memory below Linux's least", V "nodes:\n  - {cpus: 0, memory: 3MiB}\n",
	 "t.yaml:3:23: wanted 0B or at least 4MiB (Linux ignores a smaller node), found '3MiB'"},
	{"memory too large", V "nodes:\n  - {cpus: 0, memory: 17TiB}\n",
	 "t.yaml:3:23: wanted at most 16TiB, found '17TiB'"},
	{"too little memory", V "nodes:\n  - {cpus: 0, memory: 32MiB}\n",
	 "t.yaml:3:3: wanted 64MiB to 16TiB of memory in all, found '32MiB'"},
	{"CPU in two nodes",
	 V "nodes:\n  - {cpus: 0-3, memory: 1GiB}\n  - {cpus: 3-7, memory: 1GiB}\n",
	 "t.yaml:4:12: wanted each CPU in one node, found CPU 3 in node 0 and node 1"},
	{"CPU in no node",
	 V "cpu: {sockets: 2, cores: 2}\nnodes:\n  - {cpus: 0-1, memory: 1GiB}\n"
	   "  - {cpus: 3, memory: 1GiB}\n",
	 "t.yaml:4:3: wanted CPUs 0-3 (2 sockets x 1 dies x 2 cores x 1 threads) in the nodes, "
	 "found CPU 2 in none"},
	{"gap in the CPUs, no model",
	 V "nodes:\n  - {cpus: 0-1, memory: 1GiB}\n  - {cpus: 4-5, memory: 1GiB}\n",
	 "t.yaml:3:3: wanted CPUs without a gap in the nodes, found CPU 2 in none"},
	{"no CPU at all", V "nodes:\n  - {cpus: [], memory: 1GiB}\n",
	 "t.yaml:3:3: wanted 1 to 288 CPUs in the nodes, found 0"},
	{"CPU beyond the model", V "cpu: {cores: 2}\nnodes:\n  - {cpus: 0-2, memory: 1GiB}\n",
	 "t.yaml:4:12: wanted CPUs 0-1 (1 sockets x 1 dies x 2 cores x 1 threads), found CPU 2 in "
	 "node 0"},
	{"core in two nodes",
	 V "cpu: {cores: 2, threads: 2}\nnodes:\n  - {cpus: \"0,2\", memory: 1GiB}\n"
	   "  - {cpus: [1, 3], memory: 1GiB}\n",
	 "t.yaml:5:12: wanted the threads of a core in one node, found CPU 0 in node 0 and CPU 1 "
	 "in node 1"},
	{"unequal nodes without model",
	 V "nodes:\n  - {cpus: 0-1, memory: 1GiB}\n  - {cpus: 2, memory: 1GiB}\n",
	 "t.yaml:3:3: wanted the key 'cpu' of a topology whose nodes have unequal or split lists "
	 "of CPUs, found none"},
	{"nodes that Linux would number otherwise",
	 V "cpu: {sockets: 4}\nnodes:\n  - {cpus: \"1,3\", memory: 1GiB}\n"
	   "  - {cpus: \"0,2\", memory: 1GiB}\n",
	 "t.yaml:5:12: wanted nodes in the order of their first CPUs, those without CPUs last "
	 "(Linux numbers them so), found CPU 0 in node 1"},
	{"a node without CPUs that is not the last",
	 V "nodes:\n  - {cpus: \"\", memory: 1GiB}\n  - {cpus: 0-1, memory: 1GiB}\n",
	 "t.yaml:4:12: wanted nodes in the order of their first CPUs, those without CPUs last "
	 "(Linux numbers them so), found CPU 0 in node 1"},
	{"no sockets", UNIFORM "cpu: {sockets: 0}\n",
	 "t.yaml:3:16: wanted a whole number from 1 to 288, found '0'"},
	{"too many CPUs", UNIFORM "cpu: {sockets: 17, cores: 17}\n",
	 "t.yaml:3:6: wanted at most 288 CPUs, found 289"},
	{"too many CPUs in short",
	 V "nodes: {count: 64, cpus-per-node: 5, memory-per-node: 1GiB}\n",
	 "t.yaml:2:35: wanted at most 288 CPUs, found 320 (64 nodes of 5)"},
	{"too many nodes", V "nodes: {count: 65, cpus-per-node: 1, memory-per-node: 1GiB}\n",
	 "t.yaml:2:16: wanted a whole number from 1 to 64, found '65'"},
	{"model and nodes differ in short", UNIFORM "cpu: {sockets: 2, cores: 4}\n",
	 "t.yaml:2:8: wanted CPUs 0-7 (2 sockets x 1 dies x 4 cores x 1 threads) in the nodes, "
	 "found CPU 4 in none"},
	{"sum of memory", UNIFORM "memory: 2GiB\n",
	 "t.yaml:3:9: wanted '1GiB' (the memory of all nodes), found '2GiB'"},
	{"sum of CPUs", UNIFORM "cpus: 8\n",
	 "t.yaml:3:7: wanted '4' (the CPUs of all nodes), found '8'"},
	{"distance below 10", TWO "distances:\n  - [10, 9]\n  - [20, 10]\n",
	 "t.yaml:6:10: wanted a distance from 11 to 254 of node 0 to node 1, found '9'"},
	{"remote distance 10", TWO "distances:\n  - [10, 20]\n  - [10, 10]\n",
	 "t.yaml:7:6: wanted a distance from 11 to 254 of node 1 to node 0, found '10'"},
	{"distance 255", TWO "distances: [[10, 255], [20, 10]]\n",
	 "t.yaml:5:18: wanted a distance from 11 to 254 of node 0 to node 1, found '255'"},
	{"distance to itself", TWO "distances: [[11, 20], [20, 10]]\n",
	 "t.yaml:5:14: wanted distance 10 of node 0 to itself, found '11'"},
	{"distance is a word", TWO "distances: [[10, far], [20, 10]]\n",
	 "t.yaml:5:18: wanted a distance from 11 to 254 of node 0 to node 1, found 'far'"},
	{"rows missing", TWO "distances: [[10, 20]]\n",
	 "t.yaml:5:12: wanted 2 rows of distances, one for each node, found 1"},
	{"columns missing", TWO "distances: [[10, 20], [20]]\n",
	 "t.yaml:5:23: wanted 2 distances from node 1, found 1"},
	{"row is a number", TWO "distances: [[10, 20], 20]\n",
	 "t.yaml:5:23: wanted a list of 2 distances, found '20'"},
	{"distances is a number", TWO "distances: 20\n", "t.yaml:5:12: wanted a list, found '20'"},
	{"fake with distances", FAKE "cpus: 4\nmemory: 1GiB\ndistances: [[10]]\n",
	 "t.yaml:5:12: wanted no distances with kind fake (they are all 10), found a list"},
	{"fake with a list of nodes",
	 "kind: fake\ncpus: 4\nmemory: 1GiB\nnodes: [{cpus: 0, memory: 1GiB}]\n",
	 "t.yaml:4:8: wanted a whole number from 1 to 64, found a list"},
	{"fake without CPUs", FAKE "memory: 1GiB\n",
	 "t.yaml:1:1: wanted the key 'cpus' of a fake topology, found none"},
	{"fake without memory", FAKE "cpus: 4\n",
	 "t.yaml:1:1: wanted the key 'memory' of a fake topology, found none"},
	{"fake with unequal shares", "kind: fake\nnodes: 3\ncpus: 4\nmemory: 1GiB\n",
	 "t.yaml:4:9: wanted 3 equal shares, each a multiple of 32MiB, found '1GiB'"},
	{"fake with odd shares", FAKE "cpus: 4\nmemory: 192MiB\n",
	 "t.yaml:4:9: wanted 4 equal shares, each a multiple of 32MiB, found '192MiB'"},
	{"fake, CPUs and model differ", FAKE "cpus: 4\nmemory: 1GiB\ncpu: {cores: 2}\n",
	 "t.yaml:3:7: wanted '2' (1 sockets x 1 dies x 2 cores x 1 threads), found '4'"},
};

static LabTopology *load_text(const char *text)
{
	g_autoptr(GError) error = NULL;
	LabTopology *topology;

	spec_write("t.yaml", text);
	topology = lab_topology_load("t.yaml", &error);
	ck_assert_msg(topology != NULL, "%s", error ? error->message : "no error set");
	return topology;
}

START_TEST(errors_are_exact)
{
	const struct spec_case *c = &errors[_i];
	g_autoptr(GError) error = NULL;
	g_autoptr(LabTopology) topology = NULL;

	spec_write("t.yaml", c->text);
	topology = lab_topology_load("t.yaml", &error);
	spec_check_error(c, topology, error);
}
END_TEST

START_TEST(uneven_machine)
{
	g_autoptr(LabTopology) t =
		load_text("about: three nodes\n"
			  "kind: vnuma\n"
			  "name: odd\n"
			  "cpu: {sockets: 1, dies: 2, cores: 2, threads: 2}\n"
			  "cpus: 8\n"
			  "memory: 1216MiB\n"
			  "nodes:\n"
			  "- cpus: [0-1, 6, 7]\n"
			  "  memory: 64MiB\n"
			  "- {cpus: '2-5', memory: 0B}\n"
			  "- {cpus: '', memory: 1152 MiB}\n"
			  "distances: [[10, 11, 254], [20, 10, 30], [40, 50, 10]]\n");
	g_autofree char *cpus = lab_cpuset_format(&t->nodes[0].cpus);

	ck_assert_str_eq(t->name, "odd");
	ck_assert_str_eq(t->about, "three nodes");
	ck_assert_int_eq(t->kind, LAB_TOPOLOGY_VNUMA);
	ck_assert_uint_eq(t->n_nodes, 3);
	ck_assert_uint_eq(t->n_cpus, 8);
	ck_assert_uint_eq(t->dies, 2);
	ck_assert_uint_eq(t->threads, 2);
	ck_assert_str_eq(cpus, "0-1,6-7");
	ck_assert_uint_eq(t->nodes[1].memory_bytes, 0);
	ck_assert_uint_eq(t->nodes[2].memory_bytes, 1152ull << 20);
	ck_assert_uint_eq(lab_cpuset_count(&t->nodes[2].cpus), 0);
	ck_assert_uint_eq(t->memory_bytes, 1216ull << 20);
	ck_assert_uint_eq(lab_topology_distance(t, 0, 2), 254);
	ck_assert_uint_eq(lab_topology_distance(t, 2, 0), 40);
	ck_assert_uint_eq(lab_topology_distance(t, 1, 2), 30);
}
END_TEST

START_TEST(fake_machine)
{
	g_autoptr(LabTopology) t = load_text("kind: fake\nnodes: 4\ncpus: 6\nmemory: 1GiB\n");

	ck_assert_int_eq(t->kind, LAB_TOPOLOGY_FAKE);
	ck_assert_str_eq(t->name, "t");
	ck_assert_uint_eq(t->n_nodes, 4);
	for (guint i = 0; i < 4; i++) {
		ck_assert_uint_eq(lab_cpuset_count(&t->nodes[i].cpus), 6);
		ck_assert_uint_eq(t->nodes[i].memory_bytes, 256ull << 20);
		for (guint j = 0; j < 4; j++)
			ck_assert_uint_eq(lab_topology_distance(t, i, j), 10);
	}
}
END_TEST

START_TEST(largest_machine)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabTopology) t =
		load_text(V "nodes: {count: 64, cpus-per-node: 4, memory-per-node: 64MiB}\n");
	g_autoptr(LabTopology) again = lab_topology_from_canonical(t->canonical, &error);

	ck_assert_msg(again != NULL, "%s", error ? error->message : "no error set");
	ck_assert_uint_eq(t->n_cpus, 256);
	ck_assert_uint_eq(t->sockets, 64);
	ck_assert_uint_eq(lab_topology_distance(again, 63, 62), 20);
	ck_assert_str_eq(t->digest, again->digest);
}
END_TEST

/* The canonical form is what the caches and the records are found by: a change here is a change of
 * everything's name. */
START_TEST(canonical_form)
{
	g_autoptr(LabTopology) t = load_text(TWO);
	g_autoptr(LabTopology) reordered =
		load_text("name: other\nabout: text\n"
			  "nodes: [{memory: 512MiB, cpus: [0, 1]}, {memory: 512MiB, cpus: '2-3'}]\n"
			  "distances: [[10, 20], [20, 10]]\nmemory: 1GiB\ncpus: 4\n"
			  "cpu: {cores: 2, sockets: 2}\nkind: vnuma\n");
	g_autoptr(LabTopology) in_short = load_text(UNIFORM);
	g_autoptr(LabTopology) other = load_text(TWO "distances: [[10, 20], [21, 10]]\n");
	g_autoptr(LabTopology) again = lab_topology_from_canonical(t->canonical, NULL);
	g_autofree char *short_digest = g_strndup(t->digest, LAB_DIGEST_SHORT);

	ck_assert_str_eq(t->canonical,
			 "{\"cpu\":{\"cores\":2,\"dies\":1,\"sockets\":2,\"threads\":1},"
			 "\"distances\":[[10,20],[20,10]],"
			 "\"kind\":\"vnuma\",\"nodes\":[{\"cpus\":\"0-1\",\"memory\":\"512MiB\"},"
			 "{\"cpus\":\"2-3\",\"memory\":\"512MiB\"}]}");
	ck_assert_str_eq(t->digest,
			 "45808735bdd06fcf11b9695aa697b7a328c19ef13278b17bba0dbfde1629f5e6");
	ck_assert_str_eq(t->digest, reordered->digest);
	ck_assert_str_eq(t->digest, in_short->digest);
	ck_assert_str_ne(t->digest, other->digest);
	ck_assert_ptr_nonnull(again);
	ck_assert_str_eq(again->canonical, t->canonical);
	ck_assert_str_eq(again->name, short_digest);
}
END_TEST

START_TEST(canonical_form_is_checked)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(
		lab_topology_from_canonical("{\"kind\":\"vnuma\",\"nodes\":[]}", &error));
	ck_assert_str_eq(error->message, "topology:1:25: wanted 1 to 64 nodes, found 0");
}
END_TEST

/* To the spaces at the ends of lines as numactl 2.0.16 prints it. */
START_TEST(hardware_text)
{
	g_autoptr(LabTopology) t = load_text(V "nodes:\n  - {cpus: 0-1, memory: 512MiB}\n"
					       "  - {cpus: '', memory: 1GiB}\n"
					       "distances: [[10, 100], [20, 10]]\n");
	g_autoptr(LabTopology) one =
		load_text(V "nodes: {count: 1, cpus-per-node: 1, memory-per-node: 64MiB}\n");
	g_autofree char *text = lab_topology_hardware_text(t);
	g_autofree char *text_one = lab_topology_hardware_text(one);

	ck_assert_str_eq(text, "available: 2 nodes (0-1)\n"
			       "node 0 cpus: 0 1\n"
			       "node 0 size: 512 MB\n"
			       "node 1 cpus:\n"
			       "node 1 size: 1024 MB\n"
			       "node distances:\n"
			       "node   0   1 \n"
			       "  0:  10  100 \n"
			       "  1:  20  10 \n");
	ck_assert_str_eq(text_one, "available: 1 nodes (0)\n"
				   "node 0 cpus: 0\n"
				   "node 0 size: 64 MB\n"
				   "node distances:\n"
				   "node   0 \n"
				   "  0:  10 \n");
}
END_TEST

START_TEST(json_for_programs)
{
	g_autoptr(LabTopology) t = load_text(V "nodes: [{cpus: 0, memory: 64MiB}]\n");
	g_autofree char *text = lab_topology_json(t);
	g_autofree char *wanted = g_strdup_printf("{\n"
						  "  \"name\" : \"t\",\n"
						  "  \"kind\" : \"vnuma\",\n"
						  "  \"digest\" : \"%s\",\n"
						  "  \"cpus\" : 1,\n"
						  "  \"cpu\" : {\n"
						  "    \"sockets\" : 1,\n"
						  "    \"dies\" : 1,\n"
						  "    \"cores\" : 1,\n"
						  "    \"threads\" : 1\n"
						  "  },\n"
						  "  \"memory_bytes\" : 67108864,\n"
						  "  \"nodes\" : [\n"
						  "    {\n"
						  "      \"cpus\" : \"0\",\n"
						  "      \"id\" : 0,\n"
						  "      \"memory_bytes\" : 67108864\n"
						  "    }\n"
						  "  ],\n"
						  "  \"distances\" : [\n"
						  "    [\n"
						  "      10\n"
						  "    ]\n"
						  "  ]\n"
						  "}\n",
						  t->digest);

	ck_assert_str_eq(text, wanted);
}
END_TEST

START_TEST(found_by_name_or_path)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabTopology) by_name = lab_topology_find("vnuma-4x1p-512M", NULL, &error);
	g_autoptr(LabTopology) by_path =
		lab_topology_find(TEST_TREE "/topologies/vnuma-4x1p-512M.yaml", NULL, NULL);
	g_autoptr(LabTopology) relative =
		lab_topology_find("./vnuma-4x1p-512M.yaml", TEST_TREE "/topologies", NULL);

	ck_assert_msg(by_name != NULL, "%s", error ? error->message : "no error set");
	ck_assert_ptr_nonnull(by_path);
	ck_assert_ptr_nonnull(relative);
	ck_assert_str_eq(by_name->digest, by_path->digest);
	ck_assert_str_eq(by_name->digest, relative->digest);
	ck_assert_ptr_null(lab_topology_find("vnuma-4x1p-513M", NULL, &error));
	ck_assert_str_eq(error->message,
			 "wanted a topology of topologies/ or a path, found 'vnuma-4x1p-513M' "
			 "(did you mean 'vnuma-4x1p-512M'?)");
	g_clear_error(&error);
	ck_assert_ptr_null(lab_topology_find("x/y.yaml", NULL, &error));
	ck_assert_str_eq(error->message, "x/y.yaml: wanted a topology file, found none");
}
END_TEST

START_TEST(shipped_files_load)
{
	g_autoptr(GDir) dir = g_dir_open(TEST_TREE "/topologies", 0, NULL);
	const char *entry;
	guint n = 0;

	ck_assert_ptr_nonnull(dir);
	for (; (entry = g_dir_read_name(dir)); n++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *path = g_build_filename(TEST_TREE, "topologies", entry, NULL);
		g_autoptr(LabTopology) t = lab_topology_load(path, &error);

		ck_assert_msg(t != NULL, "%s", error ? error->message : "no error set");
		ck_assert_ptr_nonnull(t->about);
	}
	ck_assert_uint_ge(n, 12);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("topology");
	TCase *tc = tcase_create("topology");

	tcase_add_unchecked_fixture(tc, spec_setup, spec_teardown);
	tcase_add_loop_test(tc, errors_are_exact, 0, G_N_ELEMENTS(errors));
	tcase_add_test(tc, uneven_machine);
	tcase_add_test(tc, fake_machine);
	tcase_add_test(tc, largest_machine);
	tcase_add_test(tc, canonical_form);
	tcase_add_test(tc, canonical_form_is_checked);
	tcase_add_test(tc, hardware_text);
	tcase_add_test(tc, json_for_programs);
	tcase_add_test(tc, found_by_name_or_path);
	tcase_add_test(tc, shipped_files_load);
	suite_add_tcase(suite, tc);
	return spec_run(suite);
}
