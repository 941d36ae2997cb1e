// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/domain_xml.h"

xmlNode *lab_xml_element(xmlNode *parent, const char *name, const char *text, ...)
{
	xmlNode *node = xmlNewTextChild(parent, NULL, BAD_CAST name, BAD_CAST text);
	const char *attribute;
	va_list ap;

	va_start(ap, text);
	while ((attribute = va_arg(ap, const char *)))
		xmlNewProp(node, BAD_CAST attribute, BAD_CAST va_arg(ap, const char *));
	va_end(ap);
	return node;
}

void lab_xml_attribute_uint(xmlNode *node, const char *name, guint64 value)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, value);

	xmlNewProp(node, BAD_CAST name, BAD_CAST text);
}
