/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: writing a domain's XML, and looking into what libvirt answers. */
#pragma once
#include <glib.h>
#include <libxml/tree.h>

/** lab_xml_element() - an element below @parent with attributes, given as name, value, ..., NULL. @text: (nullable) */
xmlNode *lab_xml_element(xmlNode *parent, const char *name, const char *text,
			 ...) G_GNUC_NULL_TERMINATED;

/** lab_xml_attribute_uint() - an attribute that is a number */
void lab_xml_attribute_uint(xmlNode *node, const char *name, guint64 value);

/** lab_xml_find() - text of the first node at @xpath of a document, NULL when there is none. Free with g_free(). */
char *lab_xml_find(const char *xml, const char *xpath);
