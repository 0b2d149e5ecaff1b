/* SPDX-License-Identifier: MIT */
/* Reads limits, capabilities and signals of .service files; what would be another limit here is refused. */
#include "service_process.h"

#include <signal.h>
#include <string.h>

#include "conditions.h"
#include "confinement.h"
#include "shared/print.h"
#include "signals.h"

/* What was expected instead: without the limit that it asks for the service would run differently. */
static void expect(struct service_reading *reading, const char *expected)
{
	char text[MESSAGE_MAX];

	if (!expected)
		return;
	print(text, sizeof text, "expected %s", expected);
	service_refuse(reading, text);
}

void service_read_limit(struct service_reading *reading, struct slice value, int argument)
{
	expect(reading, confinement_limit_set(reading->units, reading->unit, value, argument));
}

void service_read_group(struct service_reading *reading, struct slice value, int argument)
{
	expect(reading, confinement_group_set(reading->units, reading->unit, value, (enum group_limit)argument));
}

void service_read_capabilities(struct service_reading *reading, struct slice value, int argument)
{
	expect(reading,
	       confinement_capabilities_merge(reading->units, reading->unit, value, (enum capability_set)argument));
}

void service_read_privileges(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	expect(reading, confinement_privileges_set(reading->units, reading->unit, value));
}

void service_read_signal(struct service_reading *reading, struct slice value, int argument)
{
	uint8_t last = SIGKILL, watchdog = SIGABRT;
	uint8_t *const places[] = { &reading->unit->stop_signal, &reading->unit->reload_signal, &last, &watchdog };

	expect(reading, signal_parse(value, places[argument]));
	if (last != SIGKILL)
		service_refuse(reading, "what does not end in time gets SIGKILL here");
	if (watchdog != SIGABRT)
		service_refuse(reading, "who does not feed its watchdog gets SIGABRT here");
}

void service_read_hang_up(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	expect(reading, unit_flag_set(&reading->unit->hangs_up, value, false));
}

void service_read_pipe(struct service_reading *reading, struct slice value, int argument)
{
	(void)argument;
	expect(reading, unit_flag_set(&reading->unit->ignores_pipe, value, false));
}

void service_read_no_kill(struct service_reading *reading, struct slice value, int argument)
{
	bool kills = true;

	(void)argument;
	expect(reading, unit_flag_set(&kills, value, false));
	if (!kills)
		service_refuse(reading, "what does not end in time gets SIGKILL here");
}

bool service_read_condition(struct service_reading *reading, struct slice key, struct slice value)
{
	struct condition how = { .line = (uint16_t)reading->line, .must = slice_starts(key, "Assert") };
	const char *expected = NULL;

	/* One of them that is empty takes back all. */
	if (value.size == 0)
		reading->unit->conditions = NULL;
	else if (!condition_add_service(reading->units, reading->unit,
					slice_from(key, strlen(how.must ? "Assert" : "Condition")), value, how, &expected))
		return false;
	reading->key = "Condition";
	expect(reading, expected);
	return true;
}

bool service_process_reset(struct service_reading *reading, service_setting_fn *read, int argument)
{
	struct confinement *confinement = reading->unit->confinement;

	if (read == service_read_capabilities)
		/* Nothing is left, which is something else than nothing said. */
		service_read_capabilities(reading, (struct slice){ "", 0 }, argument);
	else if (read == service_read_limit && confinement)
		confinement->resources[argument].given = false;
	else if (read == service_read_group && confinement)
		confinement->group[argument] = 0;
	else if (read == service_read_signal && argument == SERVICE_SIGNAL_STOP)
		reading->unit->stop_signal = 0;
	else
		return read == service_read_limit || read == service_read_group || read == service_read_privileges ||
		       read == service_read_signal || read == service_read_hang_up || read == service_read_no_kill;
	return true;
}
