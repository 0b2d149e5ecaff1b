/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the records of the trace, a line each, and remembers the first error. */
#include "writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

#include "trace_format.h"

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format, ...)
{
	va_list arguments;

	if (writer->error)
		return;
	va_start(arguments, format);
	if (vfprintf(writer->file, format, arguments) < 0 || fflush(writer->file))
		writer->error = errno ? -errno : -EIO;
	va_end(arguments);
}

int writer_open(const char *path, int shift, bool charged, struct writer *ret)
{
	struct writer writer = { .file = fopen(path, "we"), .charged = charged && shift >= 0 };

	if (!writer.file)
		return -errno;
	put(&writer, "bootlab-trace %d\n", TRACE_VERSION);
	if (shift < 0)
		put(&writer, "clock host\n");
	else
		put(&writer, "clock virtual %d%s\n", shift, writer.charged ? " charged" : "");
	if (writer.error) {
		fclose(writer.file);
		return writer.error;
	}
	*ret = writer;
	return 0;
}

int writer_close(struct writer *writer)
{
	if (fclose(writer->file) && !writer->error)
		writer->error = -errno;
	writer->file = NULL;
	return writer->error;
}

void writer_slide(struct writer *writer, uint64_t slide)
{
	put(writer, "slide %" PRIx64 "\n", slide);
}

/* A record that begins with the words `what`, and ends with the words `rest`. */
static void put_stamped(struct writer *writer, const char *what, struct stamp at, const char *rest)
{
	if (writer->charged)
		put(writer, "%s %" PRId64 " %" PRId64 " %" PRId64 "%s\n", what, at.t_ns, at.instructions, at.charged_ns, rest);
	else
		put(writer, "%s %" PRId64 " %" PRId64 "%s\n", what, at.t_ns, at.instructions, rest);
}

static void put_named(struct writer *writer, const char *kind, const char *name, struct stamp at, const char *rest)
{
	char what[TRACE_NAME_MAX + 16];

	snprintf(what, sizeof what, "%s %s", kind, name);
	put_stamped(writer, what, at, rest);
}

void writer_mark(struct writer *writer, const char *name, struct stamp at)
{
	put_named(writer, "mark", name, at, "");
}

void writer_guest(struct writer *writer, const char *name, struct stamp at)
{
	put_named(writer, "guest", name, at, "");
}

void writer_answered(struct writer *writer, const char *name, struct stamp at)
{
	put_named(writer, "answered", name, at, "");
}

void writer_seen(struct writer *writer, const char *name, struct stamp at, uint64_t hash)
{
	char rest[24];

	snprintf(rest, sizeof rest, " %016" PRIx64, hash);
	put_named(writer, "seen", name, at, rest);
}

void writer_typed(struct writer *writer, const char *name, struct stamp at)
{
	put_named(writer, "typed", name, at, "");
}

void writer_call(struct writer *writer, const char *name, struct stamp at, uint64_t argument)
{
	char rest[24];

	snprintf(rest, sizeof rest, " %" PRIx64, argument);
	put_named(writer, "call", name, at, rest);
}

void writer_console(struct writer *writer, struct stamp at, uint64_t size)
{
	char rest[24];

	snprintf(rest, sizeof rest, " %" PRIu64, size);
	put_stamped(writer, "console", at, rest);
}

void writer_exact(struct writer *writer, const char *feature)
{
	put(writer, "exact %s\n", feature);
}

void writer_refused(struct writer *writer, const char *feature, const char *why)
{
	put(writer, "refused %s %s\n", feature, why);
}

void writer_charged(struct writer *writer, const char *name, uint64_t count, uint64_t ns)
{
	put(writer, "charged %s %" PRIu64 " %" PRIu64 "\n", name, count, ns);
}

void writer_reads(struct writer *writer, const char *drive, uint64_t bytes, uint64_t requests)
{
	/* Less than 0: of a mark that another process was to tell, counted back from where this one went on. */
	put(writer, "reads %s %" PRId64 " %" PRId64 "\n", drive, (int64_t)bytes, (int64_t)requests);
}

void writer_settled(struct writer *writer, uint64_t count, uint64_t unsettled)
{
	put(writer, "settled %" PRIu64 " %" PRIu64 "\n", count, unsettled);
}

void writer_modelled(struct writer *writer, const char *drive, uint64_t requests, uint64_t late)
{
	put(writer, "modelled %s %" PRIu64 " %" PRIu64 "\n", drive, requests, late);
}

void writer_frames(struct writer *writer, uint64_t looks, uint64_t changes, uint64_t lost)
{
	put(writer, "frames %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", looks, changes, lost);
}

void writer_end(struct writer *writer, struct stamp at)
{
	put_stamped(writer, "end", at, "");
}
