#!/bin/busybox sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
#
# bootlab-facts of an image that is asked for its devices too (coldplug.record): all facts, then those of bootlab-coldplug.
/sbin/bootlab-facts.plain
exec /sbin/bootlab-coldplug --devices
