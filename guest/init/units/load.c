/* SPDX-License-Identifier: MIT */
/* Finds a system's unit files, .service files and init scripts, and has each read. */
#include "load.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lsb_unit.h"
#include "service_file.h"
#include "shared/clock.h"
#include "shared/files.h"
#include "shared/large.h"
#include "shared/print.h"
#include "socket_file.h"
#include "unit_file.h"

LARGE static char content[FILE_BYTES];

enum { N_SOCKET_FOLDERS = 2 };

struct loading {
	struct units *units;
	const struct config *config;
	const char *root;
	bool has_facilities;
	struct listing sockets[N_SOCKET_FOLDERS]; /* .socket files that are linked to be opened; NULL in the place of one that cannot be */
};

static const char *rooted(char *path, const char *root, const char *folder, const char *name)
{
	int size = print(path, PATH_MAX, "%s%s%s%s", root, folder, *name ? "/" : "", name);

	return size < PATH_MAX ? path : "";
}

/* Another time it might be read: what is wrong with the file itself is something else. */
static void note_error(struct units *units, int error)
{
	static const int PASSING[] = { EIO, ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR, ETIMEDOUT, ESTALE };

	for (size_t i = 0; i < sizeof PASSING / sizeof PASSING[0]; i++)
		units->n_unreadable += error == PASSING[i];
}

static bool is_there(struct units *units, const char *path)
{
	bool there = file_exists(path);

	if (!there)
		note_error(units, errno);
	return there;
}

/* The file's text in `content`, complained about when it cannot be read or is too long. */
static bool read_text(struct units *units, const char *path, struct slice *ret)
{
	ssize_t size = file_read(path, content, sizeof content);

	if (size == sizeof content) {
		units_complain(units, path, 0, "longer than %d bytes: it is not read", FILE_BYTES - 1);
		return false;
	}
	if (size < 0) {
		note_error(units, (int)-size);
		units_complain(units, path, 0, "%s", strerror((int)-size));
		return false;
	}
	*ret = (struct slice){ content, (size_t)size };
	return true;
}

void load_config(struct units *units, struct config *config, const char *root)
{
	char path[PATH_MAX];
	struct slice text;

	config_init(config);
	rooted(path, root, "/etc/bootlab/init.conf", "");
	if (file_exists(path) && read_text(units, path, &text))
		config_parse(config, units, arena_text(&units->arena, path, strlen(path)), text.at, text.size);
}

/* What a folder has; false when it is not there. What there is no room for is said. */
static bool list(struct loading *loading, const char *folder, struct listing *ret)
{
	char path[PATH_MAX];

	int r;

	rooted(path, loading->root, folder, "");
	r = folder_list(path, &loading->units->arena, ret);
	note_error(loading->units, -r);
	if (r)
		return false;
	if (ret->left_out > 0)
		units_complain(loading->units, path, 0, "no room for %zu of its %zu names: they are left out", ret->left_out,
			       ret->left_out + ret->n);
	return true;
}

static bool is_taken(const struct units *units, struct slice name)
{
	return units_find(units, name) != NO_UNIT;
}

/* Where files of a kind may be, the folder that counts most first. */
struct folders {
	const char *const *at;
	size_t n;
	void (*read)(const char *path, const char *text, size_t size);
};

static const char *const UNIT_FOLDERS[] = { "/etc/bootlab/units", "/run/bootlab/units", "/usr/lib/bootlab/units" };
enum { N_UNIT_FOLDERS = sizeof UNIT_FOLDERS / sizeof UNIT_FOLDERS[0] };
static const char *const SERVICE_FOLDERS[] = { "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
					       "/usr/lib/systemd/system", "/lib/systemd/system" };
enum { N_SERVICE_FOLDERS = sizeof SERVICE_FOLDERS / sizeof SERVICE_FOLDERS[0], MAX_DROP_INS = 64 };

static const struct folders OWN = { UNIT_FOLDERS, N_UNIT_FOLDERS, unit_file_read };
static const struct folders SERVICES = { SERVICE_FOLDERS, N_SERVICE_FOLDERS, service_file_read };

/* The first folder that has this unit file. */
static bool find_file(const struct loading *loading, const struct folders *folders, const char *file, char *path)
{
	for (size_t i = 0; i < folders->n; i++)
		if (is_there(loading->units, rooted(path, loading->root, folders->at[i], file)))
			return true;
	return false;
}

/* A link to /dev/null: the administrator wants that there is no such unit. */
static bool is_masked(const char *path)
{
	char target[sizeof "/dev/null"];

	return readlink(path, target, sizeof target) == sizeof target - 1 && !memcmp(target, "/dev/null", sizeof target - 1);
}

struct drop_in {
	const char *name;
	size_t folder;
};

/* They are few. */
static void sort_drop_ins(struct drop_in *found, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct drop_in one = found[i];
		size_t place = i;

		for (; place > 0 && strcmp(found[place - 1].name, one.name) > 0; place--)
			found[place] = found[place - 1];
		found[place] = one;
	}
}

/* FILE.d/NAME.conf of all folders, in the order of their names; of one name that of the folder that counts most. */
static void read_drop_ins(struct loading *loading, const struct folders *folders, const char *file)
{
	struct drop_in found[MAX_DROP_INS];
	char path[PATH_MAX], folder[PATH_MAX];
	struct listing files;
	struct slice text;
	size_t n = 0;

	for (size_t i = 0; i < folders->n; i++) {
		print(folder, sizeof folder, "%s/%s.d", folders->at[i], file);
		if (!list(loading, folder, &files))
			continue;
		for (size_t j = 0; j < files.n; j++) {
			bool is_hidden = !slice_ends(slice_of(files.names[j]), ".conf");

			for (size_t k = 0; k < n && !is_hidden; k++)
				is_hidden = !strcmp(found[k].name, files.names[j]);
			if (!is_hidden && n == MAX_DROP_INS)
				units_complain(loading->units, folder, 0, "%s: more than %d drop-ins: it is left out", files.names[j],
					       MAX_DROP_INS);
			else if (!is_hidden)
				found[n++] = (struct drop_in){ files.names[j], i };
		}
	}
	sort_drop_ins(found, n);
	for (size_t i = 0; i < n; i++) {
		print(folder, sizeof folder, "%s/%s.d", folders->at[found[i].folder], file);
		rooted(path, loading->root, folder, found[i].name);
		if (!is_masked(path) && read_text(loading->units, path, &text)) {
			const char *kept = arena_text(&loading->units->arena, path, strlen(path));

			/* Commands remember where they stand. */
			if (kept)
				folders->read(kept, text.at, text.size);
		}
	}
}

/* "getty@.unit" of "getty@tty1.unit"; false when the name is of no instance. */
static bool template_of(const char *file, const char *suffix, char *ret)
{
	const char *at = strchr(file, '@');

	return at && strcmp(at + 1, suffix) != 0 && print(ret, PATH_MAX, "%.*s@%s", (int)(at - file), file, suffix) < PATH_MAX;
}

/* The file that describes all of its kind. */
static bool find_template(const struct loading *loading, const struct folders *folders, const char *file, const char *suffix, char *path)
{
	char template[PATH_MAX];

	return template_of(file, suffix, template) && find_file(loading, folders, template, path);
}

/* Those of an instance's template come before its own. */
static void read_template_drop_ins(struct loading *loading, const struct folders *folders, const char *file, const char *suffix)
{
	char template[PATH_MAX];

	if (template_of(file, suffix, template))
		read_drop_ins(loading, folders, template);
}

static bool is_template(const char *file, const char *suffix)
{
	const char *at = strchr(file, '@');

	return at && !strcmp(at + 1, suffix);
}

/* Its file is found, or is that of its template. */
static bool find_unit(const struct loading *loading, const char *file, char *path)
{
	return find_file(loading, &OWN, file, path) || find_template(loading, &OWN, file, ".unit", path);
}

/* Of the file in `path`; `has_drop_ins`: one of the folders has any. */
static void load_unit(struct loading *loading, const char *file, const char *path, bool has_drop_ins, bool enabled)
{
	struct slice name = { file, strlen(file) - strlen(".unit") }, text;
	struct unit *unit;

	if (!read_text(loading->units, path, &text))
		return;
	unit = unit_file_begin(loading->units, name, path);
	if (!unit)
		return;
	unit->enabled = enabled;
	unit_file_read(unit->path, text.at, text.size);
	if (has_drop_ins) {
		read_template_drop_ins(loading, &OWN, file, ".unit");
		read_drop_ins(loading, &OWN, file);
	}
	unit_file_finish();
}

/* A folder that counts more has it, too. */
static bool is_hidden(const struct loading *loading, size_t folder, const char *file)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < folder; i++)
		if (is_there(loading->units, rooted(path, loading->root, UNIT_FOLDERS[i], file)))
			return true;
	return false;
}

/* Of a unit that is not there nobody reads them. */
static void check_drop_ins(struct loading *loading, const char *folder, const char *name)
{
	char path[PATH_MAX], file[PATH_MAX];

	if (!slice_ends(slice_of(name), ".unit.d"))
		return;
	print(file, sizeof file, "%.*s", (int)(strlen(name) - strlen(".d")), name);
	if (find_unit(loading, file, path))
		return;
	units_complain(loading->units, rooted(path, loading->root, folder, name), 0, "there is no %s: these drop-ins are not read", file);
}

/* One that its folder lists. Without links there, which are few, nothing more has to be asked of it than to be read. */
static void load_listed(struct loading *loading, size_t folder, const char *file, bool may_be_link, bool has_drop_ins)
{
	char path[PATH_MAX];

	if (!may_be_link) {
		rooted(path, loading->root, UNIT_FOLDERS[folder], file);
	} else if (!find_unit(loading, file, path)) {
		units_complain(loading->units, file, 0, "a link that leads nowhere: it is no unit");
		return;
	} else if (is_masked(path)) {
		return;
	}
	load_unit(loading, file, path, has_drop_ins, true);
}

static void load_own(struct loading *loading)
{
	struct listing files[N_UNIT_FOLDERS] = { { .n = 0 } };
	bool has_drop_ins = false, has_templates = false;
	char file[UNIT_NAME_MAX + 16], path[PATH_MAX];

	for (size_t i = 0; i < N_UNIT_FOLDERS; i++)
		if (list(loading, UNIT_FOLDERS[i], &files[i]))
			for (size_t j = 0; j < files[i].n; j++) {
				has_drop_ins |= slice_ends(slice_of(files[i].names[j]), ".unit.d");
				has_templates |= is_template(files[i].names[j], ".unit");
			}
	for (size_t i = 0; i < N_UNIT_FOLDERS; i++)
		for (size_t j = 0; j < files[i].n; j++) {
			const char *name = files[i].names[j];

			if (slice_ends(slice_of(name), ".unit") && name[0] != '.' && !is_template(name, ".unit") && !is_hidden(loading, i, name))
				load_listed(loading, i, name, files[i].may_have_links, has_drop_ins);
		}
	for (size_t i = 0; has_drop_ins && i < N_UNIT_FOLDERS; i++)
		for (size_t j = 0; j < files[i].n; j++)
			check_drop_ins(loading, UNIT_FOLDERS[i], files[i].names[j]);
	/* Instances that others name; refs grow while this goes on. */
	for (size_t i = 0; has_templates && i < loading->units->n_refs; i++) {
		const struct ref *ref = &loading->units->refs[i];

		if (strchr(ref->name, '@') && !slice_ends(slice_of(ref->name), "@") && !is_taken(loading->units, slice_of(ref->name)) &&
		    print(file, sizeof file, "%s.unit", ref->name) < (int)sizeof file && find_unit(loading, file, path) && !is_masked(path))
			load_unit(loading, file, path, has_drop_ins, false);
	}
}

/* The service that this .socket file is of, by its file name; its text is in `content`. False when there is no such file, or it is masked. */
static bool read_socket_file(struct loading *loading, const char *socket, char *path, char *service, struct slice *text)
{
	struct slice name = { socket, strlen(socket) - strlen(".socket") }, of;

	if (!find_file(loading, &SERVICES, socket, path) || is_masked(path) || !read_text(loading->units, path, text))
		return false;
	socket_file_service(name, text->at, text->size, &of);
	return print(service, PATH_MAX, "%.*s.service", (int)of.size, of.at) < PATH_MAX;
}

/* Of a service whose file has been read: it is up by its sockets, and its program is started when somebody connects. */
static void load_sockets(struct loading *loading, struct unit *unit, const char *file)
{
	char path[PATH_MAX], service[PATH_MAX];
	struct slice text;

	bool was_enabled = unit->enabled;

	for (size_t i = 0; i < N_SOCKET_FOLDERS; i++)
		for (size_t j = 0; j < loading->sockets[i].n; j++) {
			const char *socket = loading->sockets[i].names[j];

			if (!socket || !read_socket_file(loading, socket, path, service, &text) || strcmp(service, file) != 0 ||
			    !socket_file_read(loading->units, unit, path, text.at, text.size))
				continue;
			units_mix(unit, text.at, text.size);
			units_name(loading->units, unit, slice_of(socket), 0);
			/* What is started at boot has them from its beginning. */
			unit->on_demand = !was_enabled && unit->readiness != READY_EXIT && unit->readiness != READY_FORK;
			unit->enabled = true;
		}
}

static void load_service(struct loading *loading, const char *file, bool enabled)
{
	struct slice name = slice_of(file), text;
	struct unit *unit;
	char path[PATH_MAX];

	if (!slice_ends(name, ".service"))
		return;
	name.size -= strlen(".service");
	if (is_taken(loading->units, name)) {
		unit_id id = units_find(loading->units, name);

		if (enabled && loading->units->unit[id].origin == ORIGIN_SYSTEMD)
			loading->units->unit[id].enabled = true;
		return;
	}
	if (enabled && is_template(file, ".service")) {
		units_complain(loading->units, file, 0, "a template, without what is to stand behind its @: not started");
		return;
	}
	if (!find_file(loading, &SERVICES, file, path) && !find_template(loading, &SERVICES, file, ".service", path))
		return;
	if (is_masked(path) || !read_text(loading->units, path, &text))
		return;
	unit = service_file_begin(loading->units, name, path);
	if (!unit)
		return;
	unit->enabled = enabled;
	service_file_read(unit->path, text.at, text.size);
	read_template_drop_ins(loading, &SERVICES, file, ".service");
	read_drop_ins(loading, &SERVICES, file);
	load_sockets(loading, unit, file);
	service_file_finish();
}

/* Services that are started by their sockets alone, after those that are started anyway. */
static void load_socket_services(struct loading *loading)
{
	char path[PATH_MAX], service[PATH_MAX];
	struct slice text;

	for (size_t i = 0; i < N_SOCKET_FOLDERS; i++)
		for (size_t j = 0; j < loading->sockets[i].n; j++)
			if (loading->sockets[i].names[j] && read_socket_file(loading, loading->sockets[i].names[j], path, service, &text))
				load_service(loading, service, false);
}

/* Which .socket files there are that can be had here: what is wrong with the others is said, once. */
static void list_sockets(struct loading *loading)
{
	static const char *const FOLDERS[N_SOCKET_FOLDERS] = { "/etc/systemd/system/sockets.target.wants",
							       "/usr/lib/systemd/system/sockets.target.wants" };
	char path[PATH_MAX], service[PATH_MAX];
	struct slice text;

	for (size_t i = 0; i < N_SOCKET_FOLDERS; i++) {
		struct listing *links = &loading->sockets[i];

		list(loading, FOLDERS[i], links);
		for (size_t j = 0; j < links->n; j++) {
			const char *name = links->names[j];
			bool is_twice = false;

			for (size_t k = 0; i > 0 && k < loading->sockets[0].n; k++)
				is_twice |= loading->sockets[0].names[k] && !strcmp(loading->sockets[0].names[k], name);
			if (is_twice || !slice_ends(slice_of(name), ".socket") || !read_socket_file(loading, name, path, service, &text) ||
			    !socket_file_read(loading->units, NULL, arena_text(&loading->units->arena, path, strlen(path)), text.at, text.size))
				links->names[j] = NULL;
		}
	}
}

static void load_systemd(struct loading *loading)
{
	static const char *const WANTS[] = { "/etc/systemd/system/sysinit.target.wants",
					     "/etc/systemd/system/basic.target.wants",
					     "/etc/systemd/system/multi-user.target.wants",
					     "/etc/systemd/system/graphical.target.wants",
					     "/usr/lib/systemd/system/sysinit.target.wants",
					     "/usr/lib/systemd/system/basic.target.wants",
					     "/usr/lib/systemd/system/multi-user.target.wants",
					     "/usr/lib/systemd/system/graphical.target.wants" };
	struct listing links;
	char path[PATH_MAX];

	list_sockets(loading);
	for (size_t i = 0; i < sizeof WANTS / sizeof WANTS[0]; i++) {
		if (!list(loading, WANTS[i], &links))
			continue;
		for (size_t j = 0; j < links.n; j++)
			load_service(loading, links.names[j], true);
	}
	load_socket_services(loading);
	/* What those bring along; refs grow while this goes on. */
	for (size_t i = 0; i < loading->units->n_refs; i++) {
		const struct ref *ref = &loading->units->refs[i];

		if (loading->units->unit[ref->from].origin != ORIGIN_SYSTEMD || ref->relation != RELATION_PULLS ||
		    is_taken(loading->units, slice_of(ref->name)))
			continue;
		if (print(path, sizeof path, "%s.service", ref->name) < (int)sizeof path)
			load_service(loading, path, false);
	}
}

static void load_facilities(struct loading *loading)
{
	struct listing files;
	char path[PATH_MAX];
	struct slice text;

	if (loading->has_facilities)
		return;
	loading->has_facilities = true;
	rooted(path, loading->root, "/etc/insserv.conf", "");
	if (file_exists(path) && read_text(loading->units, path, &text))
		facilities_parse(loading->units, path, text.at, text.size);
	else
		facilities_default(loading->units);
	if (!list(loading, "/etc/insserv.conf.d", &files))
		return;
	for (size_t i = 0; i < files.n; i++) {
		rooted(path, loading->root, "/etc/insserv.conf.d", files.names[i]);
		if (lsb_is_script_name(slice_of(files.names[i])) && read_text(loading->units, path, &text))
			facilities_parse(loading->units, path, text.at, text.size);
	}
}

/* The header that counts: an override of the administrator, the script's own, an override that fills a gap. */
static bool read_header(struct loading *loading, const char *script, const char *script_path, char *path,
			struct slice *text)
{
	ssize_t size;

	rooted(path, loading->root, "/etc/insserv/overrides", script);
	if (file_exists(path))
		return read_text(loading->units, path, text);
	print(path, PATH_MAX, "%s", script_path);
	/* A long script's header is at its beginning. */
	size = file_read(path, content, sizeof content);
	if (size < 0) {
		units_complain(loading->units, path, 0, "%s", strerror((int)-size));
		return false;
	}
	*text = (struct slice){ content, (size_t)size };
	if (!memmem(content, (size_t)size, "BEGIN INIT INFO", strlen("BEGIN INIT INFO"))) {
		rooted(path, loading->root, "/usr/share/insserv/overrides", script);
		if (file_exists(path))
			return read_text(loading->units, path, text);
		print(path, PATH_MAX, "%s", script_path);
	}
	return true;
}

/* The names that a script would answer to are looked at before it becomes a unit: one that is taken is left out. */
static bool is_replaced(const struct units *units, struct slice script)
{
	struct slice plain = script;

	if (slice_ends(plain, ".sh"))
		plain.size -= 3;
	return is_taken(units, plain) || is_taken(units, script);
}

static void load_script(struct loading *loading, const char *script, uint8_t linked, bool has_links)
{
	char script_path[PATH_MAX], header_path[PATH_MAX], own_path[PATH_MAX];
	struct slice text;
	struct unit *unit;

	if (is_replaced(loading->units, slice_of(script)))
		return;
	rooted(script_path, loading->root, "/etc/init.d", script);
	rooted(own_path, "", "/etc/init.d", script);
	if (!read_header(loading, script, script_path, header_path, &text))
		return;
	unit = lsb_unit_parse(loading->units, &(struct lsb_source){ .script = slice_of(script),
								    .script_path = own_path,
								    .header_path = header_path,
								    .text = text.at,
								    .size = text.size });
	if (!unit)
		return;
	units_mix(unit, text.at, text.size);
	/* The administrator's links say more than the script's wish. */
	if (has_links)
		unit->levels = linked;
	unit->runlevel = unit->levels & (1u << LEVEL_S) ? 'S' : loading->config->level;
	unit->enabled = unit->levels & (1u << LEVEL_S | 1u << (loading->config->level - '0'));
}

/* Bits of the runlevels whose folder starts this script. */
static uint8_t levels_of_links(const struct listing *folders, const char *levels, const char *script)
{
	uint8_t found = 0;

	for (size_t i = 0; levels[i]; i++)
		for (size_t j = 0; j < folders[i].n; j++) {
			const char *name = folders[i].names[j];

			if (name[0] == 'S' && name[1] && name[2] && !strcmp(name + 3, script))
				found |= (uint8_t)(1u << (levels[i] == 'S' ? LEVEL_S : levels[i] - '0'));
		}
	return found;
}

static void load_lsb(struct loading *loading)
{
	static const char LEVELS[] = "S2345";
	struct listing scripts, folders[sizeof LEVELS - 1] = { { .n = 0 } };
	char name[] = "/etc/rcX.d";
	bool has_links = false;

	for (size_t i = 0; LEVELS[i]; i++) {
		name[strlen("/etc/rc")] = LEVELS[i];
		if (list(loading, name, &folders[i]))
			has_links |= folders[i].n > 0;
	}
	if (!list(loading, "/etc/init.d", &scripts))
		return;
	load_facilities(loading);
	for (size_t i = 0; i < scripts.n; i++)
		if (lsb_is_script_name(slice_of(scripts.names[i])))
			load_script(loading, scripts.names[i], levels_of_links(folders, LEVELS, scripts.names[i]), has_links);
}

void load_instance(struct units *units, const struct config *config, const char *root, struct slice name)
{
	struct loading loading = { .units = units, .config = config, .root = root };
	char file[UNIT_NAME_MAX + 16], path[PATH_MAX];

	if (!memchr(name.at, '@', name.size) || name.size > UNIT_NAME_MAX || is_taken(units, name))
		return;
	print(file, sizeof file, "%.*s.unit", (int)name.size, name.at);
	if (find_template(&loading, &OWN, file, ".unit", path)) {
		if (find_unit(&loading, file, path) && !is_masked(path))
			load_unit(&loading, file, path, true, false);
	} else if (config->systemd) {
		print(file, sizeof file, "%.*s.service", (int)name.size, name.at);
		load_service(&loading, file, false);
	}
}

static bool names_facility(const struct units *units)
{
	for (size_t i = 0; i < units->n_refs; i++)
		if (units->refs[i].name[0] == '$')
			return true;
	return false;
}

void load_units(struct units *units, const struct config *config, const char *root)
{
	struct loading loading = { .units = units, .config = config, .root = root };

	load_own(&loading);
	/* systemd's targets stand for facilities, too. */
	if (config->systemd || names_facility(units))
		load_facilities(&loading);
	if (config->systemd)
		load_systemd(&loading);
	if (config->lsb)
		load_lsb(&loading);
}

void load_check_times(struct units *units, const struct config *config)
{
	int64_t most_ns = config->shutdown_timeout_ns / 100 * SHUTDOWN_UNITS_PERCENT;

	for (size_t i = 0; i < units->n_units; i++) {
		const struct unit *unit = &units->unit[i];
		bool is_longer = unit->stop_timeout_ns == 0 || unit->stop_timeout_ns > most_ns;

		if (unit->stop_timeout_line > 0 && is_longer)
			units_complain(units, unit->path, unit->stop_timeout_line,
				       "%s may take longer to stop than units have in a shutdown: %lld.%03lld s, %d %% of "
				       "init.conf's shutdown-timeout; it is killed then",
				       unit->name, (long long)(most_ns / NS_PER_S), (long long)(most_ns % NS_PER_S / NS_PER_MS),
				       SHUTDOWN_UNITS_PERCENT);
	}
}

bool load_has_network_file_systems(const struct units *units, const char *root)
{
	static const char *const TYPES[] = { "nfs", "nfs4", "cifs", "smbfs", "smb3", "ceph", "glusterfs", "9p", "ncpfs",
					     "ocfs2", "gfs2", "sshfs", "fuse.sshfs", "afs" };
	struct slice line, device, folder, type, options;
	struct lines lines;
	char path[PATH_MAX];
	ssize_t size;

	if (units_find(units, slice_of("$remote_fs")) == NO_UNIT)
		return false;
	size = file_read(rooted(path, root, "/etc/fstab", ""), content, sizeof content);
	if (size < 0)
		return false;
	lines = lines_of(content, (size_t)size);
	while (line_next(&lines, &line)) {
		if (!word_next(&line, &device) || device.at[0] == '#' || !word_next(&line, &folder) ||
		    !word_next(&line, &type) || !word_next(&line, &options))
			continue;
		if (memmem(options.at, options.size, "_netdev", strlen("_netdev")))
			return true;
		for (size_t i = 0; i < sizeof TYPES / sizeof TYPES[0]; i++)
			if (slice_is(type, TYPES[i]))
				return true;
	}
	return false;
}
