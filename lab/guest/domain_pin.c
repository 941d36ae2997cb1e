// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/domain_pin.h"

static xmlNode *child(xmlNode *parent, const char *name)
{
	return xmlNewChild(parent, NULL, BAD_CAST name, NULL);
}

static void set(xmlNode *node, const char *name, const char *value)
{
	xmlNewProp(node, BAD_CAST name, BAD_CAST value);
}

static void set_uint(xmlNode *node, const char *name, guint64 value)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, value);

	set(node, name, text);
}

/* memfd: a file of a mounted hugetlbfs would ask for one to be mounted. */
static void add_hugepages(xmlNode *domain, guint64 bytes)
{
	xmlNode *backing = child(domain, "memoryBacking");
	xmlNode *page = child(child(backing, "hugepages"), "page");

	set_uint(page, "size", bytes / 1024);
	set(page, "unit", "KiB");
	set(child(backing, "source"), "type", "memfd");
}

static void add_cpus(xmlNode *domain, const LabPlacement *p)
{
	g_autoptr(GArray) cpus = lab_placement_list(p->cpus);
	xmlNode *tune = child(domain, "cputune");

	for (guint i = 0; i < cpus->len; i++) {
		xmlNode *pin = child(tune, "vcpupin");

		set_uint(pin, "vcpu", i);
		set_uint(pin, "cpuset", g_array_index(cpus, guint, i));
	}
	if (p->emulator)
		set(child(tune, "emulatorpin"), "cpuset", p->emulator);
}

static void add_nodes(xmlNode *domain, const LabPlacement *p)
{
	g_autoptr(GArray) nodes = lab_placement_list(p->nodes);
	xmlNode *tune = child(domain, "numatune");

	for (guint i = 0; i < nodes->len; i++) {
		xmlNode *node = child(tune, "memnode");

		set_uint(node, "cellid", i);
		set(node, "mode", "strict");
		set_uint(node, "nodeset", g_array_index(nodes, guint, i));
	}
}

void lab_domain_add_pin(xmlNode *domain, const LabPlacement *placement)
{
	if (placement->hugepage_bytes)
		add_hugepages(domain, placement->hugepage_bytes);
	if (placement->cpus || placement->emulator)
		add_cpus(domain, placement);
	if (placement->nodes)
		add_nodes(domain, placement);
}
