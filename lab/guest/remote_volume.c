// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/remote_volume.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/guest/domain_xml.h"
#include "lab/guest/embed.h"

typedef struct {
	int fd;
	GCancellable *cancellable;
	int failed; /* errno of this host's file */
	guint64 written;
} Transfer;

static char *volume_xml(const char *name, guint64 bytes, const char *owner)
{
	xmlDoc *doc = xmlNewDoc(BAD_CAST "1.0");
	xmlNode *volume = xmlNewNode(NULL, BAD_CAST "volume"), *target;
	g_auto(GStrv) ids = owner ? g_strsplit(owner, ":", 2) : NULL;
	g_autofree char *size = g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
	xmlChar *text;
	char *copy;

	xmlDocSetRootElement(doc, volume);
	lab_xml_element(volume, "name", name, NULL);
	lab_xml_element(volume, "capacity", size, "unit", "bytes", NULL);
	lab_xml_element(volume, "allocation", "0", NULL);
	target = lab_xml_element(volume, "target", NULL, NULL);
	lab_xml_element(target, "format", NULL, "type", "raw", NULL);
	if (ids && ids[0] && ids[1]) {
		xmlNode *permissions = lab_xml_element(target, "permissions", NULL, NULL);

		lab_xml_element(permissions, "mode", "0600", NULL);
		lab_xml_element(permissions, "owner", ids[0], NULL);
		lab_xml_element(permissions, "group", ids[1], NULL);
	}
	xmlDocDumpMemory(doc, &text, NULL);
	copy = g_strdup((const char *)text);
	xmlFree(text);
	xmlFreeDoc(doc);
	return copy;
}

virStorageVolPtr lab_remote_volume_create(virStoragePoolPtr pool, const char *name, guint64 bytes,
					  const char *owner, GError **error)
{
	g_autofree char *xml = volume_xml(name, bytes, owner);
	virStorageVolPtr volume = virStorageVolCreateXML(pool, xml, 0);

	if (!volume)
		lab_embed_set_error(error, name);
	return volume;
}

/* libvirt takes -1 for "end the transfer", with nothing of its own to say. */
static int refuse(Transfer *transfer)
{
	transfer->failed = errno;
	return -1;
}

static int on_read(virStreamPtr stream, char *data, size_t length, void *opaque)
{
	Transfer *transfer = opaque;
	ssize_t n;

	if (g_cancellable_is_cancelled(transfer->cancellable))
		return -1;
	n = read(transfer->fd, data, length);
	return n < 0 ? refuse(transfer) : (int)n;
}

/* Where does the file go on with data, or with a hole, and for how long? */
static int on_hole_in(virStreamPtr stream, int *in_data, long long *length, void *opaque)
{
	Transfer *transfer = opaque;
	off_t here = lseek(transfer->fd, 0, SEEK_CUR), data, end;

	data = here < 0 ? -1 : lseek(transfer->fd, here, SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return refuse(transfer);
	*in_data = data == here;
	if (data == here)
		end = lseek(transfer->fd, here, SEEK_HOLE);
	else
		end = data < 0 ? lseek(transfer->fd, 0, SEEK_END) : data;
	if (end < 0 || lseek(transfer->fd, here, SEEK_SET) < 0)
		return refuse(transfer);
	/* The end of the file. */
	if (end == here)
		*in_data = 0;
	*length = end - here;
	return 0;
}

static int on_skip(virStreamPtr stream, long long length, void *opaque)
{
	Transfer *transfer = opaque;

	return lseek(transfer->fd, length, SEEK_CUR) < 0 ? refuse(transfer) : 0;
}

static int on_write(virStreamPtr stream, const char *data, size_t length, void *opaque)
{
	Transfer *transfer = opaque;

	if (g_cancellable_is_cancelled(transfer->cancellable))
		return -1;
	for (size_t done = 0; done < length;) {
		ssize_t n = write(transfer->fd, data + done, length - done);

		if (n < 0)
			return refuse(transfer);
		done += (size_t)n;
		transfer->written += (guint64)n;
	}
	return (int)length;
}

static int on_hole_out(virStreamPtr stream, long long length, void *opaque)
{
	Transfer *transfer = opaque;
	off_t end = lseek(transfer->fd, length, SEEK_CUR);

	return end < 0 || ftruncate(transfer->fd, end) < 0 ? refuse(transfer) : 0;
}

static gboolean end(Transfer *transfer, gboolean ok, const char *path, virStorageVolPtr volume,
		    GError **error)
{
	if (close(transfer->fd) < 0 && ok) {
		transfer->failed = errno;
		ok = FALSE;
	}
	if (ok)
		return TRUE;
	if (g_cancellable_is_cancelled(transfer->cancellable))
		g_set_error(error, LAB_ERROR, LAB_ERROR_INTERRUPTED, "interrupted");
	else if (transfer->failed)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: %s", path,
			    g_strerror(transfer->failed));
	else
		lab_embed_set_error(error, virStorageVolGetName(volume));
	return FALSE;
}

static gboolean open_file(Transfer *transfer, const char *path, int flags, GError **error)
{
	transfer->fd = open(path, flags | O_CLOEXEC, 0644);
	if (transfer->fd < 0)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: %s", path, g_strerror(errno));
	return transfer->fd >= 0;
}

gboolean lab_remote_volume_upload(virConnectPtr connection, virStorageVolPtr volume,
				  const char *path, GCancellable *cancellable, GError **error)
{
	Transfer transfer = {.cancellable = cancellable};
	g_autoptr(virStream) stream = virStreamNew(connection, 0);
	gboolean ok;

	if (!open_file(&transfer, path, O_RDONLY, error))
		return FALSE;
	ok = stream &&
	     virStorageVolUpload(volume, stream, 0, 0, VIR_STORAGE_VOL_UPLOAD_SPARSE_STREAM) == 0 &&
	     virStreamSparseSendAll(stream, on_read, on_hole_in, on_skip, &transfer) == 0 &&
	     virStreamFinish(stream) == 0;
	return end(&transfer, ok, path, volume, error);
}

gboolean lab_remote_volume_download(virConnectPtr connection, virStorageVolPtr volume,
				    const char *path, GCancellable *cancellable, GError **error)
{
	Transfer transfer = {.cancellable = cancellable};
	g_autoptr(virStream) stream = virStreamNew(connection, 0);
	gboolean ok;

	if (!open_file(&transfer, path, O_WRONLY | O_CREAT | O_TRUNC, error))
		return FALSE;
	ok = stream &&
	     virStorageVolDownload(volume, stream, 0, 0, VIR_STORAGE_VOL_DOWNLOAD_SPARSE_STREAM) ==
		     0 &&
	     virStreamSparseRecvAll(stream, on_write, on_hole_out, &transfer) == 0 &&
	     virStreamFinish(stream) == 0;
	return end(&transfer, ok, path, volume, error);
}

guint64 lab_remote_volume_append(virConnectPtr connection, virStorageVolPtr volume, guint64 offset,
				 const char *path)
{
	Transfer transfer = {};
	g_autoptr(virStream) stream = virStreamNew(connection, 0);

	if (!open_file(&transfer, path, O_WRONLY | O_APPEND, NULL))
		return 0;
	if (stream && virStorageVolDownload(volume, stream, offset, 0, 0) == 0 &&
	    virStreamRecvAll(stream, on_write, &transfer) == 0)
		virStreamFinish(stream);
	close(transfer.fd);
	return transfer.written;
}
