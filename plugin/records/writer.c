/* SPDX-License-Identifier: GPL-2.0-or-later */
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

int writer_open(const char *path, int shift, struct writer *ret)
{
	struct writer writer = { .file = fopen(path, "we") };

	if (!writer.file)
		return -errno;
	put(&writer, "bootlab-trace %d\n", TRACE_VERSION);
	if (shift < 0)
		put(&writer, "clock host\n");
	else
		put(&writer, "clock virtual %d\n", shift);
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

void writer_mark(struct writer *writer, const char *name, struct stamp at)
{
	put(writer, "mark %s %" PRId64 " %" PRId64 "\n", name, at.t_ns, at.instructions);
}

void writer_guest(struct writer *writer, const char *name, struct stamp at)
{
	put(writer, "guest %s %" PRId64 " %" PRId64 "\n", name, at.t_ns, at.instructions);
}

void writer_call(struct writer *writer, const char *name, struct stamp at, uint64_t argument)
{
	put(writer, "call %s %" PRId64 " %" PRId64 " %" PRIx64 "\n", name, at.t_ns, at.instructions, argument);
}

void writer_console(struct writer *writer, struct stamp at, uint64_t size)
{
	put(writer, "console %" PRId64 " %" PRId64 " %" PRIu64 "\n", at.t_ns, at.instructions, size);
}

void writer_end(struct writer *writer, struct stamp at)
{
	put(writer, "end %" PRId64 " %" PRId64 "\n", at.t_ns, at.instructions);
}
