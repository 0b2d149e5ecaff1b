/* SPDX-License-Identifier: MIT */
/* What devices there are, for the host to make a plan of: facts as bootlab-facts prints them. */
#ifndef BOOTLAB_COLDPLUG_DEVICES_H
#define BOOTLAB_COLDPLUG_DEVICES_H

/*
 * One line a device that a module could be for, in the order of its path:
 *
 *   bootlab: fact device.N PATH DRIVER MODULE MODALIAS
 *
 * PATH is below /sys/devices; DRIVER and MODULE are those that it has, - for none. 0 or -errno.
 */
int devices_tell(void);

#endif
