/* SPDX-License-Identifier: MIT */
/* Reads the plan of a root in kept RAM. */
#include "plan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const verify_names[] = { [VERIFY_BLOCKS] = "verity", [VERIFY_ALL] = "all", [VERIFY_HEADER] = "header" };

int plan_read(const char *text, struct plan *ret)
{
	struct plan plan = { 0 };
	char verify[8] = "", end = 0;
	int n = sscanf(text,
		       "bootlab-kept 1\nregion %" SCNu64 " %" SCNu64 "\nimage %" SCNu64 "\nbytes %" SCNu64
		       "\ncopied_from %" SCNu64 "\nfilesystem %15[a-z0-9]\nverify %7[a-z]\ndax %1u\nchanges %" SCNu64 "\nstore %31[a-z0-9/-]\nroot %64[0-9a-f]\nsalt %64[0-9a-f]%c",
		       &plan.start, &plan.size, &plan.image, &plan.bytes, &plan.copied_from, plan.filesystem, verify, &plan.dax, &plan.changes, plan.store, plan.root, plan.salt, &end);
	size_t kind = 0;

	while (kind < sizeof verify_names / sizeof *verify_names && strcmp(verify, verify_names[kind]))
		kind++;
	if (n != 13 || end != '\n' || kind == sizeof verify_names / sizeof *verify_names || strlen(plan.root) != HASH_DIGITS)
		return -EBADMSG;
	plan.verify = (enum verify)kind;
	/* Device mapper's verity has no DAX: nobody would compare what is mapped past it. */
	if (plan.changes && *plan.store != '/')
		return -EBADMSG;
	if (plan.dax > 1 || (plan.dax && plan.verify == VERIFY_BLOCKS))
		return -EBADMSG;
	/* Image, tree and header lie in the region, in whole blocks. */
	if (!plan.image || plan.image % BLOCK || plan.bytes % BLOCK || plan.bytes <= plan.image || plan.size % BLOCK ||
	    plan.size < HEADER_SIZE || plan.bytes > plan.size - HEADER_SIZE ||
	    plan.copied_from % BLOCK)
		return -EBADMSG;
	*ret = plan;
	return 0;
}
