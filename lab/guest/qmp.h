/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: what QEMU says of itself, by libvirt's connection to its monitor. Errors: LAB_ERROR_INFRA. */
#pragma once
#include <json-glib/json-glib.h>
#include <libvirt/libvirt.h>

/** lab_qmp_ask() - the member "return" of the answer to a command that is JSON. Free with json_node_unref(). */
JsonNode *lab_qmp_ask(virDomainPtr domain, const char *command, GError **error);

/** lab_qmp_cpus() - answer to query-cpus-fast: an array that is not empty. Free with json_node_unref(). */
JsonNode *lab_qmp_cpus(virDomainPtr domain, GError **error);

/** lab_qmp_first_cpu() - its path in QEMU's object tree. Free with g_free(). */
char *lab_qmp_first_cpu(virDomainPtr domain, GError **error);

/** lab_qmp_switch() - a property of an object; one that is no boolean is FALSE */
gboolean lab_qmp_switch(virDomainPtr domain, const char *object, const char *name, gboolean *value,
			GError **error);
