// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/domain_xml.h"

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <string.h>

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

char *lab_xml_find(const char *xml, const char *xpath)
{
	xmlDoc *doc = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL,
				    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	xmlXPathContext *context = doc ? xmlXPathNewContext(doc) : NULL;
	xmlXPathObject *found = context ? xmlXPathEvalExpression(BAD_CAST xpath, context) : NULL;
	char *text = NULL;

	if (found && found->nodesetval && found->nodesetval->nodeNr) {
		xmlChar *content = xmlNodeGetContent(found->nodesetval->nodeTab[0]);

		text = g_strdup((const char *)content);
		xmlFree(content);
	}
	xmlXPathFreeObject(found);
	xmlXPathFreeContext(context);
	xmlFreeDoc(doc);
	return text;
}
