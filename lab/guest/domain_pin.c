// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/domain_pin.h"

#include "lab/guest/domain_xml.h"

/* memfd: a file of a mounted hugetlbfs would ask for one to be mounted. */
static void add_hugepages(xmlNode *domain, guint64 bytes)
{
	xmlNode *backing = lab_xml_element(domain, "memoryBacking", NULL, NULL);
	xmlNode *hugepages = lab_xml_element(backing, "hugepages", NULL, NULL);
	xmlNode *page = lab_xml_element(hugepages, "page", NULL, NULL);

	lab_xml_attribute_uint(page, "size", bytes / 1024);
	xmlNewProp(page, BAD_CAST "unit", BAD_CAST "KiB");
	lab_xml_element(backing, "source", NULL, "type", "memfd", NULL);
}

static void add_cpus(xmlNode *domain, const LabPlacement *p)
{
	g_autoptr(GArray) cpus = lab_placement_list(p->cpus);
	xmlNode *tune = lab_xml_element(domain, "cputune", NULL, NULL);

	for (guint i = 0; i < cpus->len; i++) {
		xmlNode *pin = lab_xml_element(tune, "vcpupin", NULL, NULL);

		lab_xml_attribute_uint(pin, "vcpu", i);
		lab_xml_attribute_uint(pin, "cpuset", g_array_index(cpus, guint, i));
	}
	if (p->emulator)
		lab_xml_element(tune, "emulatorpin", NULL, "cpuset", p->emulator, NULL);
}

static void add_nodes(xmlNode *domain, const LabPlacement *p)
{
	g_autoptr(GArray) nodes = lab_placement_list(p->nodes);
	xmlNode *tune = lab_xml_element(domain, "numatune", NULL, NULL);

	for (guint i = 0; i < nodes->len; i++) {
		xmlNode *node = lab_xml_element(tune, "memnode", NULL, NULL);

		lab_xml_attribute_uint(node, "cellid", i);
		xmlNewProp(node, BAD_CAST "mode", BAD_CAST "strict");
		lab_xml_attribute_uint(node, "nodeset", g_array_index(nodes, guint, i));
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
